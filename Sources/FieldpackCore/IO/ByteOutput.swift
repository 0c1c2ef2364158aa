#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A buffered way to write bytes to a file, to standard output, or to memory.
///
/// Writers append to `buffer` and call `flushIfFull` now and then, at least once a feature.
public final class ByteOutput {
  /// Bytes that are not written yet.
  public var buffer: [UInt8] = []
  private let descriptor: Int32?
  private let receiver: Receiver?
  private let path: String
  private let file: PendingFile?
  private let capacity = 1 << 18
  /// Bytes written; `sent` counts those that the system was asked to put on the disk.
  private var written = 0
  private var sent = 0

  /// Takes bytes that are written.
  package typealias Receiver = (UnsafeRawBufferPointer) throws(FieldpackError) -> Void

  /// Keeps everything in `buffer`.
  public init() {
    descriptor = nil
    receiver = nil
    path = "memory"
    file = nil
  }

  /// Writes to an open descriptor, which stays open.
  public init(descriptor: Int32, path: String = "standard output") {
    self.descriptor = descriptor
    receiver = nil
    self.path = path
    file = nil
    buffer.reserveCapacity(capacity + 4096)
  }

  /// Hands the bytes to `receiver`, many at a time.
  package init(handingTo receiver: @escaping Receiver) {
    descriptor = nil
    self.receiver = receiver
    path = "memory"
    file = nil
  }

  /// Writes to a hidden file beside `target`, which takes the target's name when `finish` is
  /// called.
  public init(
    replacing target: String, overwrite: Bool
  ) throws(FieldpackError) {
    let pending = try PendingFile(target: target, overwrite: overwrite)
    descriptor = pending.descriptor
    receiver = nil
    path = target
    file = pending
    buffer.reserveCapacity(capacity + 4096)
  }

  @inlinable public func flushIfFull() throws(FieldpackError) {
    if buffer.count >= 1 << 18 { try flush() }
  }

  /// Appends `bytes`; 64 KiB and more are written at once, without the buffer.
  public func write(_ bytes: [UInt8]) throws(FieldpackError) {
    var failure: FieldpackError?
    bytes.withUnsafeBytes { bytes in
      do throws(FieldpackError) { try write(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  /// Appends `bytes`; 64 KiB and more are written at once, without the buffer.
  package func write(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) {
    guard !isInMemory, bytes.count >= 1 << 16 else {
      buffer.append(contentsOf: bytes)
      return try flushIfFull()
    }
    try flush()
    try send(bytes)
  }

  /// Writes the bytes in the buffer.
  public func flush() throws(FieldpackError) {
    guard !isInMemory else { return }
    var failure: FieldpackError?
    buffer.withUnsafeBytes { bytes in
      do throws(FieldpackError) { try send(bytes) } catch { failure = error }
    }
    buffer.removeAll(keepingCapacity: true)
    if let failure { throw failure }
  }

  private var isInMemory: Bool { descriptor == nil && receiver == nil }

  private func send(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) {
    written += bytes.count
    try receiver?(bytes)
    guard let descriptor else { return }
    try FileSystem.write(bytes, to: descriptor, path: path)
    // The system starts to write now, so that finishing a large file does not wait for all of it.
    if file != nil, written - sent >= 8 << 20 {
      EarlyWriting.begin(descriptor, sent..<written)
      sent = written
    }
  }

  // MARK: Taking back

  /// Whether written bytes can be taken back: in memory, and in a file that has not got its name
  /// yet.
  package var canTakeBack: Bool { isInMemory || file != nil }

  /// The offset of the next byte.
  package var position: Int { written + buffer.count }

  /// Hands all bytes from `offset` on to `body` in chunks, then removes them; the next byte is
  /// written at `offset`.
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
    try FileSystem.cut(descriptor, to: offset, path: path)
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

  /// Writes the rest of the buffer and, for a file, gives it its name.
  public func finish() throws(FieldpackError) {
    try flush()
    try file?.commit()
  }
}

/// Asks the system to start writing a part of a file to the disk, without waiting for it.
private enum EarlyWriting {
  private typealias Function = @convention(c) (Int32, off_t, off_t, UInt32) -> Int32

  // A function of Linux, which the headers declare only under _GNU_SOURCE.
  private static let function: Function? = dlsym(nil, "sync_file_range").map {
    unsafeBitCast($0, to: Function.self)
  }
  /// SYNC_FILE_RANGE_WRITE of Linux.
  private static let write: UInt32 = 2

  static func begin(_ descriptor: Int32, _ bytes: Range<Int>) {
    _ = function?(descriptor, off_t(bytes.lowerBound), off_t(bytes.count), write)
  }
}
