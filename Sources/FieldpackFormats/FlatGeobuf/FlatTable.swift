import FieldpackCore

/// The bytes of one FlatBuffer. They are not trusted: each access is checked against their end.
struct FlatBytes {
  let bytes: UnsafeRawBufferPointer

  /// The table that a FlatBuffer's first four bytes lead to.
  func root() throws(FieldpackError) -> FlatTable {
    try FlatTable(self, at: Int(load(UInt32.self, at: 0)))
  }

  func load<T: FixedWidthInteger & BitwiseCopyable>(
    _ type: T.Type, at offset: Int
  ) throws(FieldpackError) -> T {
    guard offset >= 0, offset <= bytes.count - MemoryLayout<T>.size else { throw Self.damaged }
    return T(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: type))
  }

  static let damaged = FieldpackError(.invalidData, "an offset leads out of the FlatBuffer")
}

/// A table of a FlatBuffer: fields by number, of which some may be absent.
struct FlatTable {
  let flat: FlatBytes
  private let start: Int
  private let fieldOffsets: Int
  private let fieldCount: Int

  init(_ flat: FlatBytes, at start: Int) throws(FieldpackError) {
    let fields = start - Int(try flat.load(Int32.self, at: start))
    let size = Int(try flat.load(UInt16.self, at: fields))
    guard size >= 4, fields <= flat.bytes.count - size else { throw FlatBytes.damaged }
    self.flat = flat
    self.start = start
    fieldOffsets = fields + 4
    fieldCount = (size - 4) / 2
  }

  /// Where a field's value lies; `nil` where the field is absent.
  private func place(_ field: Int) throws(FieldpackError) -> Int? {
    guard field < fieldCount else { return nil }
    let offset = Int(try flat.load(UInt16.self, at: fieldOffsets + 2 * field))
    return offset == 0 ? nil : start + offset
  }

  func integer<T: FixedWidthInteger & BitwiseCopyable>(
    _ field: Int, default absent: T
  ) throws(FieldpackError) -> T {
    guard let place = try place(field) else { return absent }
    return try flat.load(T.self, at: place)
  }

  func flag(_ field: Int, default absent: Bool = false) throws(FieldpackError) -> Bool {
    try integer(field, default: UInt8(absent ? 1 : 0)) != 0
  }

  func table(_ field: Int) throws(FieldpackError) -> FlatTable? {
    guard let place = try place(field) else { return nil }
    return try FlatTable(flat, at: place + Int(flat.load(UInt32.self, at: place)))
  }

  /// A vector of elements of so many bytes each.
  func vector(_ field: Int, of size: Int) throws(FieldpackError) -> FlatVector? {
    guard let place = try place(field) else { return nil }
    let start = place + Int(try flat.load(UInt32.self, at: place))
    let count = Int(try flat.load(UInt32.self, at: start))
    guard count <= (flat.bytes.count - start - 4) / size else { throw FlatBytes.damaged }
    return FlatVector(flat: flat, start: start + 4, count: count)
  }

  func text(_ field: Int) throws(FieldpackError) -> String? {
    guard let vector = try vector(field, of: 1) else { return nil }
    let bytes = UnsafeRawBufferPointer(
      rebasing: flat.bytes[vector.start..<vector.start + vector.count])
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// A vector of a FlatBuffer, whose elements lie within the bytes.
struct FlatVector {
  let flat: FlatBytes
  let start: Int
  let count: Int

  /// The bytes of a vector of bytes.
  var bytes: UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: flat.bytes[start..<start + count])
  }

  /// - Precondition: the vector is one of tables, and has that element.
  func table(_ index: Int) throws(FieldpackError) -> FlatTable {
    let place = start + 4 * index
    return try FlatTable(flat, at: place + Int(flat.load(UInt32.self, at: place)))
  }

  /// - Precondition: the vector is one of doubles, and has that element.
  @inline(__always)
  func double(_ index: Int) -> Double {
    Double(
      bitPattern: UInt64(
        littleEndian: flat.bytes.loadUnaligned(fromByteOffset: start + 8 * index, as: UInt64.self)))
  }

  /// The bytes of groups of doubles.
  ///
  /// - Precondition: the vector is one of doubles, and has those groups.
  func doubles(_ groups: Range<Int>, each size: Int) -> UnsafeRawBufferPointer {
    let bytes = 8 * size
    return UnsafeRawBufferPointer(
      rebasing: flat.bytes[start + bytes * groups.lowerBound..<start + bytes * groups.upperBound])
  }

  /// - Precondition: the vector is one of 32-bit integers, and has that element.
  func unsigned(_ index: Int) -> Int {
    Int(
      UInt32(
        littleEndian: flat.bytes.loadUnaligned(fromByteOffset: start + 4 * index, as: UInt32.self)))
  }
}
