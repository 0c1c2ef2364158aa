#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A buffered way to write bytes to a file, to standard output, or to memory.
///
/// Writers append to `buffer` and call `flushIfFull` now and then, at least once a feature.
public final class ByteOutput {
  /// What is not written yet.
  public var buffer: [UInt8] = []
  private let descriptor: Int32?
  private let path: String
  private let file: PendingFile?
  private let capacity = 1 << 18
  /// Bytes written, and how many of them the system was asked to put on the disk.
  private var written = 0
  private var sent = 0

  /// Keeps everything in `buffer`.
  public init() {
    descriptor = nil
    path = "memory"
    file = nil
  }

  /// Writes to an open descriptor, which stays open.
  public init(descriptor: Int32, path: String = "standard output") {
    self.descriptor = descriptor
    self.path = path
    file = nil
    buffer.reserveCapacity(capacity + 4096)
  }

  /// Writes beside `target`; the file appears there when `finish` is called, and not before.
  public init(
    replacing target: String, overwrite: Bool
  ) throws(FieldpackError) {
    let pending = try PendingFile(target: target, overwrite: overwrite)
    let opened = open(pending.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard opened >= 0 else { throw .system(errno, "create", pending.path) }
    descriptor = opened
    path = target
    file = pending
    buffer.reserveCapacity(capacity + 4096)
  }

  deinit { if file != nil, let descriptor { close(descriptor) } }

  @inlinable public func flushIfFull() throws(FieldpackError) {
    if buffer.count >= 1 << 18 { try flush() }
  }

  /// Appends `bytes`; many of them go past the buffer.
  public func write(_ bytes: [UInt8]) throws(FieldpackError) {
    var failure: FieldpackError?
    bytes.withUnsafeBytes { bytes in
      do throws(FieldpackError) { try write(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Appends `bytes`; many of them go past the buffer.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) {
    guard let descriptor, bytes.count >= 1 << 16 else {
      buffer.append(contentsOf: bytes)
      return try flushIfFull()
    }
    try flush()
    try write(bytes, to: descriptor)
  }

  /// Writes the buffer out.
  public func flush() throws(FieldpackError) {
    guard let descriptor else { return }
    var failure: FieldpackError?
    buffer.withUnsafeBytes { bytes in
      do throws(FieldpackError) { try write(bytes, to: descriptor) } catch { failure = error }
    }
    buffer.removeAll(keepingCapacity: true)
    if let failure { throw failure }
  }

  private func write(
    _ bytes: UnsafeRawBufferPointer, to descriptor: Int32
  ) throws(FieldpackError) {
    try OpenFile.write(bytes, to: descriptor, path: path)
    written += bytes.count
    // Begun early, so that the end of a large file does not wait for all of it.
    if file != nil, written - sent >= 8 << 20 {
      EarlyWriting.begin(descriptor, sent..<written)
      sent = written
    }
  }

  // MARK: Taking back

  /// Whether what was written can be taken back: in memory, and in a file that is not in its place.
  package var canTakeBack: Bool { descriptor == nil || file != nil }

  /// Where the next byte goes.
  package var position: Int { written + buffer.count }

  /// Gives all bytes from `offset` on to `body`, some at a time, and goes on from there.
  ///
  /// - Precondition: ``canTakeBack``, and `offset` is not beyond ``position``.
  package func takeBack(
    from offset: Int, _ body: (UnsafeRawBufferPointer) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    precondition(canTakeBack && offset >= 0 && offset <= position)
    guard let descriptor else {
      let taken = Array(buffer[offset...])
      buffer.removeLast(taken.count)
      return try lend(taken, taken.count, to: body)
    }
    try flush()
    var chunk = [UInt8](repeating: 0, count: min(1 << 17, written - offset))
    var next = offset
    while next < written {
      let wanted = min(chunk.count, written - next)
      let count = chunk.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress!, wanted, off_t(next))
      }
      guard count > 0 || (count < 0 && errno == EINTR) else { throw .system(errno, "read", path) }
      try lend(chunk, max(count, 0), to: body)
      next += max(count, 0)
    }
    guard ftruncate(descriptor, off_t(offset)) == 0,
      lseek(descriptor, off_t(offset), SEEK_SET) >= 0
    else { throw .system(errno, "write", path) }
    (written, sent) = (offset, min(sent, offset))
  }

  private func lend(
    _ bytes: [UInt8], _ count: Int,
    to body: (UnsafeRawBufferPointer) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    var failure: FieldpackError?
    bytes.withUnsafeBytes { all in
      do throws(FieldpackError) {
        try body(UnsafeRawBufferPointer(rebasing: all[..<count]))
      } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Writes what is left and, for a file, puts it in its place.
  public func finish() throws(FieldpackError) {
    try flush()
    try file?.commit()
  }
}

/// Asks the system to put parts of a file on the disk, without waiting for it.
private enum EarlyWriting {
  private typealias Function = @convention(c) (Int32, off_t, off_t, UInt32) -> Int32

  // Linux's; the headers hide it behind _GNU_SOURCE.
  private static let function: Function? = dlsym(nil, "sync_file_range").map {
    unsafeBitCast($0, to: Function.self)
  }
  /// SYNC_FILE_RANGE_WRITE.
  private static let write: UInt32 = 2

  static func begin(_ descriptor: Int32, _ bytes: Range<Int>) {
    _ = function?(descriptor, off_t(bytes.lowerBound), off_t(bytes.count), write)
  }
}

/// A file in the making: a hidden name beside the target, renamed on success, removed otherwise.
///
/// A pending file of a process that was killed stays behind under its hidden name
/// `.NAME.fieldpack-PID-N`; the target itself is always whole. A process that is about to end at
/// once calls ``removeAll()``.
public final class PendingFile {
  public let target: String
  /// Where to write meanwhile.
  public let path: String
  private let overwrite: Bool
  private var isCommitted = false

  /// - Throws: `.cannotCreate` where the target exists and may not be overwritten, is a folder, or
  ///   its folder is missing.
  public init(target: String, overwrite: Bool) throws(FieldpackError) {
    let place = FilePosition(file: target)
    var status = stat()
    if stat(target, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFREG else {
        throw FieldpackError(
          .cannotCreate, "\(target) is not a regular file and cannot be replaced", position: place)
      }
      guard overwrite else {
        throw FieldpackError(
          .cannotCreate, "\(target) exists. Try: --overwrite, or another name", position: place)
      }
    }
    // A link is followed, so that the file it names is replaced and the link stays.
    let resolved = realpath(target, nil).map { pointer -> String in
      defer { free(pointer) }
      return String(cString: pointer)
    }
    let real = resolved ?? target
    let (folder, name) = Self.split(real)
    guard stat(folder.isEmpty ? "." : folder, &status) == 0 else {
      throw FieldpackError(
        .cannotCreate, "cannot create \(target): its folder does not exist", position: place)
    }
    self.target = real
    self.overwrite = overwrite
    let hidden = folder + Self.hiddenName(for: name)
    path = hidden
    Self.pending.withLock { _ = $0.insert(hidden) }
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return ("", path) }
    return (String(path[...slash]), String(path[path.index(after: slash)...]))
  }

  private static let serial = Locked(0)
  private static let pending = Locked<Set<String>>([])

  /// Removes the pending files of this process, finished or not, from any thread.
  public static func removeAll() {
    pending.withLock { for path in $0 { remove(path) } }
  }

  private static func remove(_ path: String) {
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(path + suffix) }
  }

  private static func hiddenName(for name: String) -> String {
    let number = serial.withLock { count in
      count += 1
      return count
    }
    let suffix = ".fieldpack-\(getpid())-\(number)"
    // File systems end names at 255 bytes.
    let kept = String(decoding: name.utf8.prefix(250 - suffix.utf8.count), as: UTF8.self)
    return ".\(kept)\(suffix)"
  }

  /// Makes the file durable and gives it the target's name.
  public func commit() throws(FieldpackError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(errno, "open", path) }
    defer { close(descriptor) }
    try OpenFile.sync(descriptor, path: target)
    if overwrite {
      guard rename(path, target) == 0 else { throw .system(errno, "create", target) }
    } else {
      // A link refuses to replace what appeared meanwhile; a rename would not.
      guard link(path, target) == 0 || Self.renameWithoutLinks(path, target) else {
        throw .system(errno, "create", target)
      }
      unlink(path)
    }
    isCommitted = true
    let path = path
    Self.pending.withLock { _ = $0.remove(path) }
    syncFolder()
  }

  /// For file systems without hard links.
  private static func renameWithoutLinks(_ path: String, _ target: String) -> Bool {
    guard errno == EPERM || errno == ENOTSUP || errno == EOPNOTSUPP || errno == ENOSYS else {
      return false
    }
    var status = stat()
    guard stat(target, &status) != 0 else {
      errno = EEXIST
      return false
    }
    return rename(path, target) == 0
  }

  private func syncFolder() {
    let (folder, _) = Self.split(target)
    OpenFile.syncFolder(folder.isEmpty ? "." : folder)
  }

  deinit {
    if !isCommitted { Self.remove(path) }
    let path = path
    Self.pending.withLock { _ = $0.remove(path) }
  }
}
