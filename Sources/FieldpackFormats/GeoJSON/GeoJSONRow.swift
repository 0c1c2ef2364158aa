import FieldpackCore
import FieldpackGeometry

/// A feature of a GeoJSON file, lent to sinks; its storage is used again for the next.
struct GeoJSONRow: ~Copyable, FeatureRow {
  var id = FeatureID.integer(0)
  /// The WKB, where there is a geometry that the layer can hold.
  var geometry: UnsafeBufferPointer<UInt8>?
  var envelope: Envelope?
  /// The texts of the feature.
  var bytes = GrowingBytes(capacity: 1 << 12)
  private let cells: UnsafeMutableBufferPointer<RowCells.Cell>

  /// More text than this in one feature is refused, so that lengths fit a cell.
  static let maximumBytes = 1 << 30

  init(columnCount: Int) {
    cells = .allocate(capacity: columnCount)
    cells.initialize(repeating: RowCells.Cell())
  }

  deinit { cells.deallocate() }

  mutating func reset() {
    bytes.removeAll()
    clearColumns()
    geometry = nil
    envelope = nil
  }

  mutating func clearColumns() {
    for column in cells.indices { setNull(column) }
  }

  // MARK: Filling

  /// Appends a text and returns its cell.
  mutating func add(_ text: UnsafeBufferPointer<UInt8>) -> RowCells.Cell {
    let start = bytes.count
    bytes.append(text)
    return textCell(from: start)
  }

  /// The cell of the text from `start` to the end of the bytes.
  private func textCell(from start: Int) -> RowCells.Cell {
    RowCells.Cell(
      .text, bits: UInt64(start), length: UInt32(truncatingIfNeeded: bytes.count - start))
  }

  mutating func setNull(_ column: Int) { cells[column].kind = .null }

  mutating func set(_ column: Int, integer: Int64) {
    cells[column] = RowCells.Cell(.integer, bits: UInt64(bitPattern: integer))
  }

  mutating func set(_ column: Int, real: Double) {
    cells[column] = RowCells.Cell(.real, bits: real.bitPattern)
  }

  mutating func set(_ column: Int, text: UnsafeBufferPointer<UInt8>) {
    set(column, add(text))
  }

  mutating func set(_ column: Int, _ cell: RowCells.Cell) { cells[column] = cell }

  /// GeoPackage's form of `YYYY-MM-DDTHH:MM:SSZ` is the text itself with a fraction.
  mutating func set(_ column: Int, wholeSeconds text: UnsafeBufferPointer<UInt8>) {
    let start = bytes.count
    bytes.append(UnsafeBufferPointer(rebasing: text.dropLast()))
    for byte in ".000Z".utf8 { bytes.append(byte) }
    set(column, textCell(from: start))
  }

  /// `YYYY-MM-DDTHH:MM:SS.SSSZ`, GeoPackage's form.
  mutating func set(_ column: Int, instant: Instant) {
    let start = bytes.count
    InstantText.append(instant, to: &bytes)
    set(column, textCell(from: start))
  }

  // MARK: Reading

  borrowing func kind(at column: Int) -> ValueKind { cells[column].kind }

  borrowing func integer(at column: Int) -> Int64 { cells[column].integer }

  borrowing func real(at column: Int) -> Double { cells[column].real }

  borrowing func withBytes<R, E: Error>(
    at column: Int, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    let text = UnsafeRawBufferPointer(
      start: bytes.base + cells[column].range.lowerBound, count: cells[column].range.count)
    return try body(text.bytes)
  }

  borrowing func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
    guard let geometry else { return nil }
    return try body(UnsafeRawBufferPointer(geometry).bytes)
  }
}
