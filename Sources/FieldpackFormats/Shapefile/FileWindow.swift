import FieldpackCore

/// Lends bytes of a file from any place; those that follow the last ones are read ahead.
struct FileWindow: ~Copyable {
  let input: ByteInput
  private var buffer: UnsafeMutableRawBufferPointer
  /// Where the buffer's first byte lies in the file, and how many bytes the buffer holds.
  private var start = 0
  private var filled = 0

  /// How much is read ahead, and how much around a place far from the last.
  private static let ahead = 1 << 20
  private static let jump = 1 << 12

  init(_ input: ByteInput) {
    self.input = input
    buffer = .allocate(byteCount: input.room(upTo: Self.ahead), alignment: 16)
  }

  deinit { buffer.deallocate() }

  var size: Int { input.size }

  /// The bytes at `offset`, good until the next call; `nil` where the file ends before their end.
  @inline(__always)
  mutating func bytes(
    at offset: Int, count: Int
  ) throws(FieldpackError) -> UnsafeRawBufferPointer? {
    if offset < start || offset &- start > filled &- count {
      guard try load(offset, count) else { return nil }
    }
    let first = offset - start
    return UnsafeRawBufferPointer(rebasing: buffer[first..<first + count])
  }

  /// Makes the buffer hold the bytes at `offset`, and more where they follow those it holds.
  private mutating func load(_ offset: Int, _ count: Int) throws(FieldpackError) -> Bool {
    guard offset >= 0, count >= 0, count <= size, offset <= size - count else { return false }
    let follows = offset >= start && offset <= start + filled
    let kept = follows ? start + filled - offset : 0
    if buffer.count < count {
      let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 16)
      if kept > 0 {
        larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[filled - kept..<filled]))
      }
      buffer.deallocate()
      buffer = larger
    } else if kept > 0 {
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[filled - kept..<filled]))
    }
    (start, filled) = (offset, kept)
    let wanted = follows ? buffer.count : min(buffer.count, max(count, Self.jump))
    input.seek(to: start + filled)
    while filled < wanted {
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<wanted])
      let got = try input.read(into: room)
      if got == 0 { break }
      filled += got
    }
    return filled >= count
  }
}

extension UnsafeRawBufferPointer {
  /// The number at a byte; the caller has checked that it is there.
  @inline(__always)
  func little<T: FixedWidthInteger>(_ offset: Int, as type: T.Type) -> T {
    T(littleEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  @inline(__always)
  func big<T: FixedWidthInteger>(_ offset: Int, as type: T.Type) -> T {
    T(bigEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
  }

  @inline(__always)
  func double(_ offset: Int) -> Double {
    Double(bitPattern: little(offset, as: UInt64.self))
  }
}
