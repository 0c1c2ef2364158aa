import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackStoreKit

/// How one layer answers a query.
struct LayerPlan: Sendable {
  let layer: PostGISLayer
  /// The schema of the rows in the answer.
  let shape: Schema
  /// Which rows: as far as the server tests them.
  let condition: Lowered
  /// Tests rows here; `nil` where the server tests them exactly.
  let rest: FilterEvaluator?
  /// The columns of the layer that are asked for, by their indexes.
  let fetched: [Int]
  /// The columns of the answer, by their places in ``fetched``.
  let answered: [Int]
  let readsGeometry: Bool
  /// The system to transform geometries to; `nil` where they stay.
  let target: SRS?
  let order: [Order]

  var name: LayerID { layer.layer }
  var isExact: Bool { rest == nil }

  /// How many columns of a row stand before the attributes: id and geometry.
  static let leading = 2

  /// The statement that gives the rows: id, geometry, attributes, sort keys.
  ///
  /// - Parameters:
  ///   - limit: how many rows to give after `offset`; only where the server tests exactly.
  ///   - isSorted: whether the rows come in the order of the query and by their ids.
  func statement(
    limit: Int? = nil, offset: Int = 0, isSorted: Bool = true
  ) -> (sql: String, values: [PostgresValue]) {
    var columns = [layer.idExpression, readsGeometry ? layer.geometrySQL : "NULL::bytea"]
    columns += fetched.map { layer.columns[$0].expression }
    columns += order.map { keyExpression($0) }
    var sql: SQLPart = "SELECT \(columns.joined(separator: ", ")) FROM \(layer.source)"
    if let test = condition.sql { sql += " WHERE \(test)" }
    if isSorted {
      let keys = order.map { order in
        let key = orderExpression(order)
        return order.isDescending ? "\(key) DESC NULLS LAST" : "\(key) NULLS FIRST"
      }
      sql += " ORDER BY \((keys + [layer.idOrder]).joined(separator: ", "))"
    }
    if let limit { sql += " LIMIT \(bind: .integer(Int64(limit)))" }
    if offset > 0 { sql += " OFFSET \(bind: .integer(Int64(offset)))" }
    return sql.statement
  }

  /// The statement that counts the rows; only where the server tests exactly.
  var countStatement: (sql: String, values: [PostgresValue]) {
    if let shards = layer.shards { return shards.count(condition.sql).statement }
    var sql: SQLPart = "SELECT count(*) FROM \(layer.source)"
    if let test = condition.sql { sql += " WHERE \(test)" }
    return sql.statement
  }

  /// The column of a sort key; `nil` where the layer lacks it, and for the number of a row.
  func column(_ order: Order) -> PostGISColumn? {
    if let index = layer.schema.columnIndex(order.column) { return layer.columns[index] }
    guard layer.schema.role(of: order.column) == .id, case .column(let id) = layer.id else {
      return nil
    }
    return id
  }

  /// The value of a sort key, as rows have it.
  private func keyExpression(_ order: Order) -> String { column(order)?.expression ?? "NULL::text" }

  /// The sort key as the server sorts by it: texts by code point, NaN as NULL.
  private func orderExpression(_ order: Order) -> String {
    guard let column = column(order) else { return "NULL::text" }
    switch column.kind {
    case .text: return FilterLowering.collated(column)
    case .real: return "nullif(\(column.expression), 'NaN')"
    case .instant where column.modifier < 0 || column.modifier > 3:
      // Conditions compare instants to the millisecond, so that features of the same one come by their ids.
      return "date_trunc('milliseconds', \(column.expression))"
    case .integer, .boolean, .blob, .date, .instant: return column.expression
    }
  }
}

/// How a query is answered.
struct PostGISPlan: Sendable {
  let query: Query
  var layers: [LayerPlan]
  var notes: [Note]

  /// Why the features are gathered in a file before they are given; `nil` where they come as they are.
  var gathering: String? {
    if query.nearest != nil { return "features are sorted by distance here" }
    if !query.operations.isEmpty { return "geometries are worked on here" }
    return nil
  }

  /// Whether the server can count for limit and offset.
  var pushesLimit: Bool {
    layers.count == 1 && layers[0].isExact && !query.skipsErrors
  }
}
