#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Writes log lines to a file that begins anew each day (UTC); seven files are kept.
///
/// The file at the given path is always today's. At the first line of a day the old file is renamed
/// with its day, `fieldpack.log.2026-01-31`, and the oldest files beyond the seven are removed.
/// Several processes may write to one file: lines are appended whole, and a lock guards the
/// renaming.
public final class FileLogHandler: LogHandler {
  private struct State {
    var descriptor: Int32
    var day: Int
  }

  /// The number of files kept, including today's.
  public static let keptFiles = 7

  private let path: String
  private let format: LogFormat
  private let now: @Sendable () -> Instant
  private let state: Locked<State>

  /// Opens the file for appending; a file of an earlier day is put aside first.
  ///
  /// - Throws: `.cannotCreate` where its folder is missing, `.permission`, `.full` or `.io`.
  public init(
    path: String, format: LogFormat = .text,
    now: @escaping @Sendable () -> Instant = { .now }
  ) throws(FieldpackError) {
    self.path = path
    self.format = format
    self.now = now
    let day = Self.day(now())
    state = Locked(State(descriptor: try Self.open(path, day), day: day))
  }

  deinit { state.withLock { _ = close($0.descriptor) } }

  public func log(_ entry: LogEntry) {
    let time = now()
    let line = format.line(entry, at: time)
    state.withLock { state in
      let day = Self.day(time)
      // Where no new file can be opened, as on a full disk, the old one is still written to.
      if day > state.day, let fresh = try? Self.open(path, day) {
        close(state.descriptor)
        state = State(descriptor: fresh, day: day)
      }
      line.withUnsafeBytes { try? FileSystem.write($0, to: state.descriptor, path: path) }
    }
  }

  private static func day(_ time: Instant) -> Int {
    Int(floorDivide(time.milliseconds, 86_400_000))
  }

  /// The descriptor of the file for `day`; a file of an earlier day is put aside first.
  private static func open(_ path: String, _ day: Int) throws(FieldpackError) -> Int32 {
    while true {
      let descriptor = openAppending(path)
      guard descriptor >= 0 else { throw cannotOpen(errno, path) }
      var status = stat()
      guard fstat(descriptor, &status) == 0 else {
        let number = errno
        close(descriptor)
        throw cannotOpen(number, path)
      }
      // A pipe or a device, such as /dev/stderr, is never put aside.
      guard status.st_mode & S_IFMT == S_IFREG else { return descriptor }
      flock(descriptor, LOCK_EX)
      defer { flock(descriptor, LOCK_UN) }
      guard isCurrent(status, path) else {
        // Another process has renamed the file meanwhile.
        close(descriptor)
        continue
      }
      let written = Int(floorDivide(Int64(modificationTime(status)), 86_400))
      guard status.st_size > 0, written < day, putAside(path, written) else { return descriptor }
      close(descriptor)
      removeOldest(path)
    }
  }

  private static func cannotOpen(_ number: Int32, _ path: String) -> FieldpackError {
    let error = FieldpackError.system(number, "open the log file", path)
    guard error.code == .notFound || number == EISDIR else { return error }
    return FieldpackError(
      .cannotCreate, error.message, advice: error.advice, position: error.position,
      underlying: error.underlying)
  }

  private static func modificationTime(_ status: stat) -> Int {
    #if canImport(Glibc)
      status.st_mtim.tv_sec
    #else
      status.st_mtimespec.tv_sec
    #endif
  }

  private static func isCurrent(_ opened: stat, _ path: String) -> Bool {
    var named = stat()
    return stat(path, &named) == 0 && named.st_ino == opened.st_ino && named.st_dev == opened.st_dev
  }

  /// Renames the file to its day, with a number where that name exists.
  private static func putAside(_ path: String, _ day: Int) -> Bool {
    let name = "\(path).\(CalendarDate(dayNumber: day))"
    for number in 1...99 {
      let target = number == 1 ? name : "\(name).\(number)"
      if access(target, F_OK) != 0 { return rename(path, target) == 0 }
    }
    return false
  }

  /// Removes the oldest files put aside, so that seven are left including today's.
  private static func removeOldest(_ path: String) {
    let cut = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let folder = cut.map { String(path[...$0]) } ?? "./"
    let prefix = (cut.map { String(path[path.utf8.index(after: $0)...]) } ?? path) + "."
    let names = FileSystem.names(in: folder) ?? []
    let kept = names.filter { isPutAside($0, prefix) }.sorted(by: >)
    for name in kept.dropFirst(keptFiles - 1) { unlink(folder + name) }
  }

  /// Whether `putAside` gives such names; files with other names are not ours to remove.
  private static func isPutAside(_ name: String, _ prefix: String) -> Bool {
    guard name.hasPrefix(prefix) else { return false }
    let rest = name.dropFirst(prefix.count)
    let number = rest.dropFirst(10)
    return CalendarDate(String(rest.prefix(10))) != nil
      && (number.isEmpty || (number.first == "." && Int(number.dropFirst()) != nil))
  }
}

/// Calls `open(2)`, whose name a method of this class hides.
private func openAppending(_ path: String) -> Int32 {
  open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o644)
}
