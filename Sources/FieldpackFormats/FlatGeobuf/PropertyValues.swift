import FieldpackCore

/// The values of a feature, one behind the other: the number of the column, and what its type asks for.
struct PropertyValues {
  private let flat: FlatBytes
  private(set) var offset = 0

  init(_ bytes: UnsafeRawBufferPointer) { flat = FlatBytes(bytes: bytes) }

  /// The column of the next value; `nil` behind the last one, where some writers leave a byte.
  mutating func nextColumn() throws(FieldpackError) -> Int? {
    offset >= flat.bytes.count - 1 ? nil : Int(try next(UInt16.self))
  }

  mutating func next<T: FixedWidthInteger & BitwiseCopyable>(
    _ type: T.Type
  ) throws(FieldpackError) -> T {
    guard offset <= flat.bytes.count - MemoryLayout<T>.size else { throw Self.cut }
    defer { offset += MemoryLayout<T>.size }
    return try flat.load(type, at: offset)
  }

  /// The bytes of the values that were read since `start`.
  func bytes(from start: Int) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: flat.bytes[start..<offset])
  }

  mutating func nextBytes() throws(FieldpackError) -> UnsafeBufferPointer<UInt8> {
    let count = Int(try next(UInt32.self))
    guard count <= flat.bytes.count - offset else { throw Self.cut }
    defer { offset += count }
    return UnsafeRawBufferPointer(rebasing: flat.bytes[offset..<offset + count])
      .assumingMemoryBound(to: UInt8.self)
  }

  mutating func nextText() throws(FieldpackError) -> UnsafeBufferPointer<UInt8> {
    let text = try nextBytes()
    guard text.allSatisfy({ $0 < 0x80 }) || String(validating: text, as: UTF8.self) != nil else {
      throw FieldpackError(.invalidData, "a text is not UTF-8")
    }
    return text
  }

  private static let cut = FieldpackError(
    .invalidData, "the values of the feature end within a value")
}
