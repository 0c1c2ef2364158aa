import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport

/// A row of stored values.
struct TestRow: FeatureRow {
  var id: FeatureID
  var cells: [Value]
  var wkb: [UInt8]?
  var envelope: Envelope?

  init(id: FeatureID = 1, _ cells: [Value] = [], wkb: [UInt8]? = nil, envelope: Envelope? = nil) {
    self.id = id
    self.cells = cells
    self.wkb = wkb
    self.envelope = envelope
  }

  init(_ row: FilterTable.Row) {
    let values = row.cells.map { cell -> Value in
      switch cell {
      case .null: .null
      case .integer(let value): .integer(value)
      case .real(let value): .real(value)
      case .text(let value): .text(value)
      case .blob(let value): .blob(value)
      }
    }
    self.init(id: .integer(row.id), values, wkb: row.shape?.wkb)
    guard let shape = row.shape else { return }
    envelope = shape.bounds.map {
      Envelope(minX: $0.minX, minY: $0.minY, maxX: $0.maxX, maxY: $0.maxY)
    }
    if envelope == nil { envelope = .empty }
  }

  func kind(at column: Int) -> ValueKind {
    switch cells[column] {
    case .null: .null
    case .boolean, .integer: .integer
    case .real: .real
    case .text, .date, .dateTime: .text
    case .blob: .blob
    }
  }

  func integer(at column: Int) -> Int64 {
    switch cells[column] {
    case .integer(let value): value
    case .boolean(let flag): flag ? 1 : 0
    default: 0
    }
  }

  func real(at column: Int) -> Double {
    switch cells[column] {
    case .real(let value): value
    case .integer(let value): Double(value)
    default: .nan
    }
  }

  func withBytes<R, E: Error>(at column: Int, _ body: (RawSpan) throws(E) -> R) throws(E) -> R {
    let bytes: [UInt8] =
      switch cells[column] {
      case .text(let text): Array(text.utf8)
      case .blob(let bytes): bytes
      case .date(let date): Array(date.description.utf8)
      case .dateTime(let instant): Array(instant.description.utf8)
      default: []
      }
    return try body(bytes.span.bytes)
  }

  func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
    guard let wkb else { return nil }
    return try body(wkb.span.bytes)
  }
}

extension Schema {
  /// The layer of ``FilterTable``.
  static let places = Schema(
    layer: "places", geometry: GeometryColumn(),
    columns: FilterTable.columns.map { ColumnDefinition($0.name, ColumnType(sql: $0.type)) })
}
