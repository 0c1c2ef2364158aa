import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Bytes to be read again: in memory while they are few, then in an unnamed temporary file.
final class GPXSpool {
  /// A stretch of the spool.
  struct Extent: Hashable {
    var offset: Int
    var length: Int
    var end: Int { offset + length }
  }

  /// What is appended here is part of the spool, behind what has been flushed.
  var buffer: [UInt8] = []
  private var flushed = 0
  private var descriptor: Int32 = -1
  private let threshold: Int

  init(threshold: Int = 4 << 20) { self.threshold = threshold }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Where the next byte goes.
  var end: Int { flushed + buffer.count }

  func extent(from offset: Int) -> Extent { Extent(offset: offset, length: end - offset) }

  /// Appends `bytes`.
  func write(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) {
    buffer.append(contentsOf: bytes)
    try flushIfFull()
  }

  func flushIfFull() throws(FieldpackError) {
    guard buffer.count >= threshold else { return }
    if descriptor < 0 { descriptor = try UnnamedFile.open() }
    var offset = 0
    while offset < buffer.count {
      let count = buffer.withUnsafeBytes {
        pwrite(descriptor, $0.baseAddress! + offset, $0.count - offset, off_t(flushed + offset))
      }
      if count > 0 {
        offset += count
      } else if errno != EINTR {
        throw Self.failure("write")
      }
    }
    flushed += buffer.count
    buffer.removeAll(keepingCapacity: true)
  }

  private static func failure(_ what: String) -> FieldpackError {
    let number = errno
    return FieldpackError(
      number == ENOSPC || number == EDQUOT ? .full : .io,
      "cannot \(what) a temporary file: \(String(cString: strerror(number)))")
  }

  /// Appends a stretch to `output`.
  func copy(_ extent: Extent, to output: ByteOutput) throws(FieldpackError) {
    var offset = extent.offset
    while offset < min(extent.end, flushed) {
      let wanted = min(1 << 17, min(extent.end, flushed) - offset)
      var count = 0
      let start = output.buffer.count
      output.buffer.append(contentsOf: repeatElement(0, count: wanted))
      output.buffer.withUnsafeMutableBytes {
        count = pread(descriptor, $0.baseAddress! + start, wanted, off_t(offset))
      }
      output.buffer.removeLast(wanted - max(count, 0))
      guard count > 0 || errno == EINTR else { throw Self.failure("read") }
      offset += max(count, 0)
      try output.flushIfFull()
    }
    if offset < extent.end {
      output.buffer.append(contentsOf: buffer[offset - flushed..<extent.end - flushed])
      try output.flushIfFull()
    }
  }
}
