import FieldpackCore

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
  private let file = SpillFile()
  private let threshold: Int

  init(threshold: Int = 4 << 20) { self.threshold = threshold }

  /// Where the next byte goes.
  var end: Int { file.end + buffer.count }

  func extent(from offset: Int) -> Extent { Extent(offset: offset, length: end - offset) }

  /// Appends `bytes`.
  func write(_ bytes: UnsafeRawBufferPointer) throws(FieldpackError) {
    buffer.append(contentsOf: bytes)
    try flushIfFull()
  }

  func flushIfFull() throws(FieldpackError) {
    guard buffer.count >= threshold else { return }
    var failure: FieldpackError?
    buffer.withUnsafeBytes { bytes in
      do throws(FieldpackError) { try file.append(bytes) } catch { failure = error }
    }
    if let failure { throw failure }
    buffer.removeAll(keepingCapacity: true)
  }

  /// Appends a stretch to `output`.
  func copy(_ extent: Extent, to output: ByteOutput) throws(FieldpackError) {
    var offset = extent.offset
    while offset < min(extent.end, file.end) {
      let wanted = min(1 << 17, min(extent.end, file.end) - offset)
      let start = output.buffer.count
      output.buffer.append(contentsOf: repeatElement(0, count: wanted))
      var failure: FieldpackError?
      output.buffer.withUnsafeMutableBytes { bytes in
        do throws(FieldpackError) {
          try file.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[start...]), at: offset)
        } catch { failure = error }
      }
      if let failure { throw failure }
      offset += wanted
      try output.flushIfFull()
    }
    if offset < extent.end {
      output.buffer.append(contentsOf: buffer[offset - file.end..<extent.end - file.end])
      try output.flushIfFull()
    }
  }
}
