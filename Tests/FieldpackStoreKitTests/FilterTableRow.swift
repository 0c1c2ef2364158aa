import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport

extension ValueRow {
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
}

extension Schema {
  /// The layer of ``FilterTable``.
  static let places = Schema(
    layer: "places", geometry: GeometryColumn(),
    columns: FilterTable.columns.map { ColumnDefinition($0.name, ColumnType(sql: $0.type)) })
}
