import FieldpackCore
import FieldpackGeometry

/// Rows of one layer, gathered by a parser and lent to a sink one after the other.
///
/// One row is open at a time; `commit` closes it. Storage is kept from one use to the next. As a
/// ``FieldpackCore/FeatureRow`` the buffer is the closed row that ``select(_:)`` named.
struct RowBuffer: ~Copyable, FeatureRow {
  private struct Head {
    var id: Int64
    var envelope: Envelope?
    var geometry: Range<Int>
  }

  /// Larger storage is given back.
  private static let keptCapacity = 1 << 24

  let columnCount: Int
  private var heads: [Head] = []
  /// Row by row; the open row is the last.
  private var cells: [RowCells.Cell] = []
  private var bytes = GrowingBytes(capacity: 1 << 12)
  private var scratch: [UInt8] = []
  private var openCell = 0
  private var openByte = 0
  private var selected = 0

  init(columnCount: Int) {
    self.columnCount = columnCount
    open()
  }

  /// Closed rows.
  var count: Int { heads.count }

  /// Whether there are enough closed rows to give.
  var isFull: Bool { count >= 64 || bytes.count >= 1 << 20 }

  // MARK: The open row

  private mutating func open() {
    openCell = cells.count
    openByte = bytes.count
    for _ in 0..<columnCount { cells.append(RowCells.Cell()) }
  }

  func isNull(_ column: Int) -> Bool { cells[openCell + column].kind == .null }

  mutating func setNull(_ column: Int) { cells[openCell + column] = RowCells.Cell() }

  mutating func set(_ column: Int, _ value: Int64) {
    cells[openCell + column] = RowCells.Cell(
      .integer, bits: UInt64(bitPattern: value))
  }

  mutating func set(_ column: Int, _ value: Double) {
    cells[openCell + column] = RowCells.Cell(.real, bits: value.bitPattern)
  }

  mutating func set(_ column: Int, _ text: UnsafeBufferPointer<UInt8>) {
    setText(column) { $0.append(text) }
  }

  mutating func set(_ column: Int, blob: UnsafeBufferPointer<UInt8>) {
    set(column, blob)
    cells[openCell + column].kind = .blob
  }

  /// Sets a column to the text that `write` appends.
  @inline(__always)
  mutating func setText(_ column: Int, _ write: (inout GrowingBytes) -> Void) {
    let offset = bytes.count
    write(&bytes)
    cells[openCell + column] = RowCells.Cell(
      .text, bits: UInt64(offset), length: UInt32(clamping: bytes.count - offset))
  }

  /// Gives the rows to `sink` and forgets them.
  mutating func give(to sink: inout some FeatureSink) throws(FieldpackError) {
    for index in 0..<count {
      select(index)
      try sink.feature(self)
    }
    removeRows()
  }

  /// Gives up the open row.
  mutating func clear() {
    for column in 0..<columnCount { cells[openCell + column] = RowCells.Cell() }
    bytes.truncate(to: openByte)
  }

  /// Closes the open row with the WKB that `geometry` appends; nothing appended is no geometry, and
  /// `envelope` is then left out.
  mutating func commit(id: Int64, envelope: Envelope?, geometry: (inout [UInt8]) -> Void) {
    scratch.removeAll(keepingCapacity: scratch.capacity < Self.keptCapacity)
    geometry(&scratch)
    let start = bytes.count
    scratch.withUnsafeBufferPointer { bytes.append($0) }
    close(id, scratch.isEmpty ? nil : envelope, start)
  }

  /// Does the same without a copy of the geometry.
  mutating func commitInPlace(
    id: Int64, envelope: Envelope?, geometry: (inout GrowingBytes) -> Void
  ) {
    let start = bytes.count
    geometry(&bytes)
    close(id, bytes.count == start ? nil : envelope, start)
  }

  /// Closes the open row with a point; ordinates that `dimensions` does not have are left out.
  mutating func commit(
    id: Int64, point x: Double, _ y: Double, _ z: Double, _ m: Double, _ dimensions: Dimensions
  ) {
    var box = Envelope(minX: x, minY: y, maxX: x, maxY: y)
    let start = bytes.count
    bytes.append(ByteOrder.little.rawValue)
    let code = GeometryType.point.rawValue + 1000 * UInt32(dimensions.rawValue)
    bytes.append(raw: code.littleEndian)
    bytes.append(raw: x.bitPattern.littleEndian)
    bytes.append(raw: y.bitPattern.littleEndian)
    if dimensions.hasZ {
      bytes.append(raw: z.bitPattern.littleEndian)
      // A position may lack its z or m, which is then no number, and no range holds that.
      box.z = z.isNaN ? nil : z...z
    }
    if dimensions.hasM {
      bytes.append(raw: m.bitPattern.littleEndian)
      box.m = m.isNaN ? nil : m...m
    }
    close(id, box, start)
  }

  private mutating func close(_ id: Int64, _ envelope: Envelope?, _ start: Int) {
    heads.append(Head(id: id, envelope: envelope, geometry: start..<bytes.count))
    open()
  }

  // MARK: The closed rows

  /// Makes the closed row at `index` the one that is read.
  mutating func select(_ index: Int) {
    precondition(index >= 0 && index < count)
    selected = index
  }

  /// Forgets the closed rows and keeps the open one.
  mutating func removeRows() {
    heads.removeAll(keepingCapacity: true)
    cells.removeSubrange(..<openCell)
    for column in cells.indices where cells[column].kind == .text || cells[column].kind == .blob {
      cells[column].bits -= UInt64(openByte)
    }
    scratch.removeAll(keepingCapacity: scratch.capacity < Self.keptCapacity)
    scratch.append(contentsOf: UnsafeBufferPointer(rebasing: bytes.bytes[openByte...]))
    if bytes.count < Self.keptCapacity {
      bytes.removeAll()
    } else {
      bytes = GrowingBytes(capacity: 1 << 12)
    }
    scratch.withUnsafeBufferPointer { bytes.append($0) }
    (openCell, openByte) = (0, 0)
  }

  var id: FeatureID { .integer(heads[selected].id) }
  var envelope: Envelope? { heads[selected].envelope }

  private func cell(_ column: Int) -> RowCells.Cell { cells[selected * columnCount + column] }

  func kind(at column: Int) -> ValueKind { cell(column).kind }

  func integer(at column: Int) -> Int64 { cell(column).integer }

  func real(at column: Int) -> Double { cell(column).real }

  func withBytes<R, E: Error>(at column: Int, _ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    try lend(cell(column).range, body)
  }

  func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
    let range = heads[selected].geometry
    return range.isEmpty ? nil : try lend(range, body)
  }

  private func lend<R, E: Error>(
    _ range: Range<Int>, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes.bytes)[range]).bytes)
  }
}
