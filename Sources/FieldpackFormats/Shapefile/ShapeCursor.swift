import FieldpackCore

/// Walks over the records of a `.shp`, in the order of its `.shx` where there is one.
struct ShapeCursor: ~Copyable {
  private var shapes: FileWindow
  private var index: FileWindow?
  /// The number of the last record to read; known only with an index.
  private(set) var count: Int?
  private(set) var record = 0
  /// The bytes of all records so far: records that overlap would make a small file endless.
  private var taken = 0
  private var next = ShapefileHeader.length

  /// Where the record that was read last begins in the `.shp`.
  private(set) var offset = ShapefileHeader.length

  init(_ shapes: ByteInput, index: ByteInput?) throws(FieldpackError) {
    self.shapes = FileWindow(shapes)
    guard let index else {
      self.index = nil
      count = nil
      return
    }
    let header = try ShapefileHeader(index)
    let length = header.fileLength
    guard length >= ShapefileHeader.length, length <= index.size,
      (length - ShapefileHeader.length) % 8 == 0
    else {
      throw FieldpackError(
        .invalidData,
        "the index says it has \(length) bytes, and the file has \(index.size)",
        advice: .skipErrors, position: FilePosition(file: index.name))
    }
    self.index = FileWindow(index)
    count = (length - ShapefileHeader.length) / 8
  }

  /// Leaves out all records but those of a part, which are counted from 0. There has to be an index.
  mutating func keep(_ part: Range<Int>) {
    record = part.lowerBound
    count = part.upperBound
  }

  /// What follows the header of the next record; `nil` behind the last one.
  ///
  /// - Throws: `.invalidData`. The next call then takes the record behind it, where the index tells
  ///   where that is.
  mutating func nextRecord() throws(FieldpackError) -> UnsafeRawBufferPointer? {
    if let count, record >= count { return nil }
    // Without an index the last record ends where the file does.
    if count == nil, next >= shapes.size { return nil }
    record += 1
    offset = try place()
    guard offset >= ShapefileHeader.length, let head = try shapes.bytes(at: offset, count: 8)
    else {
      next = shapes.size
      throw broken("begins outside of \(shapes.input.name)", in: index?.input ?? shapes.input)
    }
    let length = Int(head.big(4, as: UInt32.self)) * 2
    next = offset + 8 + length
    taken += 8 + length
    guard length >= 4, next <= shapes.size else {
      next = shapes.size
      throw broken("says it has \(length) bytes, and the file has not", in: shapes.input)
    }
    guard taken <= shapes.size else {
      throw broken("lies over other records", in: index?.input ?? shapes.input)
    }
    guard let content = try shapes.bytes(at: offset + 8, count: length) else {
      throw broken("ends behind the end of the file", in: shapes.input)
    }
    return content
  }

  private mutating func place() throws(FieldpackError) -> Int {
    guard index != nil else { return next }
    let entry = try index!.bytes(at: ShapefileHeader.length + 8 * (record - 1), count: 8)
    return entry.map { Int($0.big(0, as: UInt32.self)) * 2 } ?? 0
  }

  /// An error in the record that was read last, or in the geometry made of it.
  func located(_ error: FieldpackError, in layer: LayerID) -> FieldpackError {
    error.adding(
      location: .init(layer: layer),
      position: FilePosition(file: shapes.input.name, feature: record))
  }

  private func broken(_ what: String, in input: ByteInput) -> FieldpackError {
    FieldpackError(
      .invalidData, "record \(record) \(what)", position: FilePosition(file: input.name))
  }
}
