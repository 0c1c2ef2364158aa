import FieldpackCore
import FieldpackField

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Uploads that go on where they were broken off, also by another process.
///
/// Each upload is a file of its bytes and a small file that describes the upload, in a folder beside
/// the GeoPackage.
final class ResumableUploads: Sendable {
  struct Limits: Sendable {
    /// The bytes of all uploads that are not whole, as they were announced.
    var total = 4 << 30
    var count = 256
    /// Uploads that nobody has written to for so many seconds are removed.
    var age = 7.0 * 86_400
  }

  /// The longest upload of a capture, whole or in pieces, in bytes.
  static let longest = 1100 << 20

  /// What is known of an upload.
  struct Record: Hashable {
    var contentType: String
    var total: Int
    /// The SHA-256 digest that the whole must have.
    var digest: String?
    /// The capture that came of it.
    var token: String?
  }

  private let folder: String
  private let limits: Limits
  private let clock: FieldClock
  private let writers = Locked(Writers())

  /// Which requests work at which upload.
  private struct Writers {
    var last = 0
    /// The number of the last writer of each upload. Earlier ones write nothing more.
    var current: [String: Int] = [:]
    /// The uploads that are read to be stored. Nobody writes to them or removes them.
    var stored: Set<String> = []
  }

  init(beside path: String, limits: Limits = Limits(), clock: FieldClock = .system) {
    folder = path + "-uploads/"
    self.limits = limits
    self.clock = clock
  }

  /// Whether a name can be that of an upload.
  static func isName(_ name: String) -> Bool {
    (1...128).contains(name.utf8.count)
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
          true
        default: false
        }
      }
  }

  func path(of name: String) -> String { "\(folder)\(name).part" }
  private func recordPath(of name: String) -> String { "\(folder)\(name).json" }

  /// How many bytes of an upload are there.
  func offset(of name: String) -> Int { FileSystem.size(path(of: name)) ?? 0 }

  // MARK: Records

  func record(of name: String) -> Record? {
    guard Self.isName(name), let json = JSONFile.read(recordPath(of: name)),
      let type = json["content_type"]?.string, case .integer(let total)? = json["length"]
    else { return nil }
    return Record(
      contentType: type, total: Int(total), digest: json["sha256"]?.string,
      token: json["token"]?.string)
  }

  func keep(_ record: Record, of name: String) throws(FieldpackError) {
    try JSONFile.write(
      .members([
        "content_type": .text(record.contentType), "length": JSONValue(record.total),
        "sha256": record.digest.map { .text($0) }, "token": record.token.map { .text($0) },
      ]), to: recordPath(of: name))
  }

  /// Removes an upload, and the folder where no other upload is left.
  func remove(_ name: String) {
    writers.withLock { writers in remove(name, &writers) }
  }

  /// Removes an upload that nobody is storing.
  ///
  /// - Throws: `.constraint` where somebody is.
  func discard(_ name: String) throws(FieldpackError) {
    try writers.withLock { (writers) throws(FieldpackError) in
      guard !writers.stored.contains(name) else { throw Self.isBeingStored }
      remove(name, &writers)
    }
  }

  private func remove(_ name: String, _ writers: inout Writers) {
    writers.current[name] = nil
    removeFiles(of: name)
    rmdir(folder)
  }

  private func removeFiles(of name: String) {
    FileSystem.remove(recordPath(of: name))
    FileSystem.remove(path(of: name))
  }

  /// Keeps the token of the capture that came of an upload, and removes the bytes of the upload.
  func complete(_ name: String, _ record: Record, as token: String) throws(FieldpackError) {
    var record = record
    record.token = token
    try keep(record, of: name)
    FileSystem.remove(path(of: name))
  }

  // MARK: Storing

  private static let isBeingStored = FieldpackError(.constraint, "the upload is being stored")

  /// Whether all bytes of an upload are there, and nobody writes them or stores them.
  func isWhole(_ name: String, _ record: Record) -> Bool {
    writers.withLock { writers in
      writers.current[name] == nil && !writers.stored.contains(name)
        && offset(of: name) == record.total
    }
  }

  /// Whether an upload is read to be stored.
  func isBeingStored(_ name: String) -> Bool {
    writers.withLock { $0.stored.contains(name) }
  }

  /// Runs `body`, which reads a whole upload, while nobody else writes to it, removes it or stores it.
  ///
  /// - Parameter writer: who wrote the last piece; `nil` for somebody who wrote nothing.
  /// - Throws: `.constraint` where another request works at the upload.
  func store<R>(
    _ name: String, _ record: Record, as writer: Int?,
    _ body: () async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try writers.withLock { (writers) throws(FieldpackError) in
      guard !writers.stored.contains(name) else { throw Self.isBeingStored }
      guard writers.current[name] == writer, offset(of: name) == record.total else {
        throw Self.isTaken
      }
      writers.stored.insert(name)
    }
    defer { writers.withLock { _ = $0.stored.remove(name) } }
    return try await body()
  }

  // MARK: Writing

  private static let isTaken = FieldpackError(
    .constraint, "another request goes on with the upload")

  /// Makes the caller the only one who writes to an upload, at the beginning of a piece.
  ///
  /// - Returns: the number of the writer and the open file.
  /// - Throws: `.constraint` where bytes before the piece are missing, the upload has another length, or
  ///   is stored or being stored; `.full` beyond the limits; `.io`.
  func begin(
    _ piece: UploadPiece, of name: String
  ) throws(FieldpackError) -> (writer: Int, descriptor: Int32) {
    try writers.withLock { (writers) throws(FieldpackError) in
      try StateFolder.make(folder)
      removeOld(but: writers)
      guard !writers.stored.contains(name) else { throw Self.isBeingStored }
      let kept = record(of: name)
      guard kept?.token == nil else {
        throw FieldpackError(.constraint, "the upload is stored already")
      }
      // Whoever begins at the first byte may have made the form anew.
      let known = piece.range.lowerBound == 0 ? nil : kept
      if let known {
        guard known.total == piece.total else {
          throw FieldpackError(.constraint, "the upload has \(known.total) bytes")
        }
        guard known.contentType == piece.contentType, piece.fits(known.digest) else {
          throw FieldpackError(.constraint, "the upload with that name is another one")
        }
      } else {
        try checkRoom(for: piece, of: name)
      }
      let offset = known == nil ? 0 : self.offset(of: name)
      guard piece.range.lowerBound <= offset else {
        throw FieldpackError(.constraint, "the upload has its first \(offset) bytes so far")
      }
      let record = Record(
        contentType: known?.contentType ?? piece.contentType, total: piece.total,
        digest: piece.wholeDigest ?? known?.digest)
      if record != known { try keep(record, of: name) }
      let descriptor = open(
        path(of: name), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode_t(0o600))
      guard descriptor >= 0 else { throw .system(errno, "create", "an upload") }
      writers.last += 1
      writers.current[name] = writers.last
      do throws(FieldpackError) {
        try FileSystem.cut(descriptor, to: piece.range.lowerBound, path: "an upload")
      } catch {
        close(descriptor)
        throw error
      }
      return (writers.last, descriptor)
    }
  }

  /// Runs `body` while nobody else begins to write to the upload.
  ///
  /// - Throws: `.constraint` where another request has begun to.
  func write(
    to name: String, as writer: Int, _ body: () throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    try writers.withLock { (writers) throws(FieldpackError) in
      guard writers.current[name] == writer else { throw Self.isTaken }
      try body()
    }
  }

  /// Notes that a writer will write nothing more.
  func end(_ writer: Int, of name: String) {
    writers.withLock { writers in
      if writers.current[name] == writer { writers.current[name] = nil }
    }
  }

  private func names() -> [String] {
    (FileSystem.names(in: folder) ?? []).filter { $0.hasSuffix(".json") }
      .map { String($0.dropLast(5)) }.filter(Self.isName)
  }

  private func checkRoom(for piece: UploadPiece, of name: String) throws(FieldpackError) {
    let others = names().filter { $0 != name }.compactMap { record(of: $0) }
      .filter { $0.token == nil }
    let announced = others.reduce(piece.total) { $0 + $1.total }
    guard others.count < limits.count, announced <= limits.total else {
      throw FieldpackError(.full, "too many uploads are not whole yet")
    }
  }

  /// Removes old uploads that nobody writes or stores.
  private func removeOld(but writers: Writers) {
    for name in names() where writers.current[name] == nil && !writers.stored.contains(name) {
      let times = [path(of: name), recordPath(of: name)].compactMap(Self.time)
      if let last = times.max(), clock.unixSeconds - last > limits.age { removeFiles(of: name) }
    }
  }

  /// When a file was written to, in seconds since 1970.
  private static func time(of path: String) -> Double? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    #if canImport(Darwin)
      return Double(status.st_mtimespec.tv_sec)
    #else
      return Double(status.st_mtim.tv_sec)
    #endif
  }
}
