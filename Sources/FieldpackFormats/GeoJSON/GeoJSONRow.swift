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
  private let kinds: UnsafeMutableBufferPointer<ValueKind>
  /// An integer, the bits of a real, or `offset << 32 | length` of a text.
  private let cells: UnsafeMutableBufferPointer<UInt64>

  /// More text than this in one feature is refused, so that its offset and length fit a cell.
  static let maximumBytes = 1 << 30

  init(columnCount: Int) {
    kinds = .allocate(capacity: columnCount)
    cells = .allocate(capacity: columnCount)
    kinds.initialize(repeating: .null)
    cells.initialize(repeating: 0)
  }

  deinit {
    kinds.deallocate()
    cells.deallocate()
  }

  mutating func reset() {
    bytes.removeAll()
    clearColumns()
    geometry = nil
    envelope = nil
  }

  mutating func clearColumns() { kinds.update(repeating: .null) }

  // MARK: Filling

  /// Appends a text and returns its cell.
  mutating func add(_ text: UnsafeBufferPointer<UInt8>) -> UInt64 {
    let cell = UInt64(bytes.count) << 32 | UInt64(text.count)
    bytes.append(text)
    return cell
  }

  mutating func setNull(_ column: Int) { kinds[column] = .null }

  mutating func set(_ column: Int, integer: Int64) {
    kinds[column] = .integer
    cells[column] = UInt64(bitPattern: integer)
  }

  mutating func set(_ column: Int, real: Double) {
    kinds[column] = .real
    cells[column] = real.bitPattern
  }

  mutating func set(_ column: Int, text: UnsafeBufferPointer<UInt8>) {
    set(column, cell: add(text))
  }

  mutating func set(_ column: Int, cell: UInt64) {
    kinds[column] = .text
    cells[column] = cell
  }

  /// GeoPackage's form of `YYYY-MM-DDTHH:MM:SSZ` is the text itself with a fraction.
  mutating func set(_ column: Int, wholeSeconds text: UnsafeBufferPointer<UInt8>) {
    let start = bytes.count
    bytes.append(UnsafeBufferPointer(rebasing: text.dropLast()))
    for byte in ".000Z".utf8 { bytes.append(byte) }
    set(column, cell: UInt64(start) << 32 | UInt64(bytes.count - start))
  }

  /// `YYYY-MM-DDTHH:MM:SS.SSSZ`, GeoPackage's form.
  mutating func set(_ column: Int, instant: Instant) {
    let start = bytes.count
    instant.append(to: &bytes)
    set(column, cell: UInt64(start) << 32 | UInt64(bytes.count - start))
  }

  // MARK: Reading

  borrowing func kind(at column: Int) -> ValueKind { kinds[column] }

  borrowing func integer(at column: Int) -> Int64 {
    kinds[column] == .integer ? Int64(bitPattern: cells[column]) : 0
  }

  borrowing func real(at column: Int) -> Double {
    switch kinds[column] {
    case .real: Double(bitPattern: cells[column])
    case .integer: Double(Int64(bitPattern: cells[column]))
    default: .nan
    }
  }

  borrowing func withBytes<R, E: Error>(
    at column: Int, _ body: (RawSpan) throws(E) -> R
  ) throws(E) -> R {
    let cell = kinds[column] == .text ? cells[column] : 0
    let text = UnsafeRawBufferPointer(
      start: bytes.base + Int(cell >> 32), count: Int(cell & 0xFFFF_FFFF))
    return try body(text.bytes)
  }

  borrowing func append(_ columns: [Int], to target: inout RowCells) {
    for column in columns {
      let value = cells[column]
      switch kinds[column] {
      case .integer, .real: target.append(kinds[column], bits: value)
      case .text:
        target.append(
          .text,
          UnsafeRawBufferPointer(
            start: bytes.base + Int(value >> 32), count: Int(value & 0xFFFF_FFFF)))
      default: target.appendNull()
      }
    }
  }

  borrowing func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
    guard let geometry else { return nil }
    return try body(UnsafeRawBufferPointer(geometry).bytes)
  }
}

extension Instant {
  /// The first and last moments whose year has four digits.
  static let fourDigitYears: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999

  /// Appends GeoPackage's form, without a string being made.
  func append(to bytes: inout GrowingBytes) {
    let rest = Int((milliseconds % 86_400_000 + 86_400_000) % 86_400_000)
    let days = (Int(milliseconds) - rest) / 86_400_000
    let (year, month, day) = CalendarDate(dayNumber: days).components
    bytes.append(decimal: year, width: 4)
    bytes.append(UInt8(ascii: "-"))
    bytes.append(decimal: month, width: 2)
    bytes.append(UInt8(ascii: "-"))
    bytes.append(decimal: day, width: 2)
    bytes.append(UInt8(ascii: "T"))
    bytes.append(decimal: rest / 3_600_000, width: 2)
    bytes.append(UInt8(ascii: ":"))
    bytes.append(decimal: rest / 60_000 % 60, width: 2)
    bytes.append(UInt8(ascii: ":"))
    bytes.append(decimal: rest / 1000 % 60, width: 2)
    bytes.append(UInt8(ascii: "."))
    bytes.append(decimal: rest % 1000, width: 3)
    bytes.append(UInt8(ascii: "Z"))
  }
}

extension GrowingBytes {
  fileprivate mutating func append(decimal value: Int, width: Int) {
    var divisor = 1
    for _ in 1..<width { divisor *= 10 }
    while divisor > 0 {
      append(UInt8(48 + value / divisor % 10))
      divisor /= 10
    }
  }
}
