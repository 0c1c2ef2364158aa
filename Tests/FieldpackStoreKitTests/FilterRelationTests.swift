import FieldpackCore
import FieldpackGeometry
import FieldpackStoreKit
import FieldpackTestSupport
import Testing

/// The exact relations of the shared table, in memory with GEOS.
@Suite struct FilterRelationTests {
  static let schema = Schema(
    layer: "places", geometry: GeometryColumn(),
    columns: FilterTable.columns.map { ColumnDefinition($0.name, ColumnType(sql: $0.type)) })

  @Test(arguments: FilterTable.cases)
  func `finds the rows of the shared table`(example: FilterTable.Case) throws {
    let filter = try Filter(cql2: example.text)
    let evaluator = try FilterEvaluator(filter, schema: Self.schema)
    let found = try FilterTable.rows.filter { try evaluator.evaluate(Row($0)) == true }
    #expect(found.map(\.id) == example.ids)
  }

  /// A row that holds no envelope, so that it is computed where one is needed.
  private struct Row: FeatureRow {
    let row: FilterTable.Row
    var id: FeatureID { .integer(row.id) }
    var envelope: Envelope? { nil }

    init(_ row: FilterTable.Row) { self.row = row }

    func kind(at column: Int) -> ValueKind {
      switch row.cells[column] {
      case .null: .null
      case .integer: .integer
      case .real: .real
      case .text: .text
      case .blob: .blob
      }
    }

    func integer(at column: Int) -> Int64 {
      if case .integer(let value) = row.cells[column] { value } else { 0 }
    }

    func real(at column: Int) -> Double {
      if case .real(let value) = row.cells[column] { value } else { .nan }
    }

    func withBytes<R, E: Error>(
      at column: Int, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
      let bytes: [UInt8] =
        switch row.cells[column] {
        case .text(let text): Array(text.utf8)
        case .blob(let bytes): bytes
        default: []
        }
      return try body(bytes.span.bytes)
    }

    func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
      guard let wkb = row.shape?.wkb else { return nil }
      return try body(wkb.span.bytes)
    }
  }
}
