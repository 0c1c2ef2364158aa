import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite

/// A virtual table in the place of a layer's table in a user's statement. It finds features by the
/// layer's R-tree where the statement has the condition `ST_Intersects(geom, …)` or its kin.
///
/// The virtual table passes conditions on the id and on indexed columns to a statement on the
/// layer's own table, for which SQLite chooses an index. SQLite tests all other conditions itself.
/// So the rows given are a superset of the answer, except for the spatial function, which is
/// answered exactly.
final class IndexedLayerTable: VirtualTable {
  /// The code of the error for a geometry that cannot be read: `SQLITE_MISMATCH`.
  static let damageCode: Int32 = 20

  // The session owns the connection, and the connection frees this table before the session ends.
  unowned let file: GeoPackageSession
  let layer: LayerTable
  let schema: String
  let columns: [ShadowColumn]
  let idColumn: Int?
  let geometryColumn: Int?
  /// The estimated number of rows.
  private let rowCount: Double
  private var plans: [ShadowPlan] = []

  init(
    _ layer: LayerTable, in schema: String, of file: GeoPackageSession
  ) throws(SQLiteError) {
    self.file = file
    self.layer = layer
    self.schema = schema
    let columns = try ShadowColumn.all(of: layer.table, in: schema, on: file.connection)
    self.columns = columns
    idColumn = columns.firstIndex { quoted($0.name) == layer.idSQL }
    let geometry = layer.schema.geometry.map { SQLName($0.name) }
    geometryColumn = columns.firstIndex { SQLName($0.name) == geometry }
    let id = layer.idSQL ?? "rowid"
    let span = try file.connection.prepare(
      "SELECT (SELECT max(\(id)) FROM \(Self.source(layer, schema))) - "
        + "(SELECT min(\(id)) FROM \(Self.source(layer, schema)))")
    rowCount = try span.step() ? max(1, span.real(0) + 1) : 1
  }

  private static func source(_ layer: LayerTable, _ schema: String) -> String {
    "\(quoted(schema)).\(quoted(layer.table))"
  }

  /// The `srs_id` of the layer's geometries; 0 where it is not known.
  var systemID: Int32 { layer.srsID.flatMap { Int32(exactly: $0) } ?? 0 }

  /// The layer's own table in SQL.
  var source: String { Self.source(layer, schema) }
  /// The SQL of the id in a statement on the table.
  var id: String { layer.idSQL ?? "rowid" }

  var declaration: String { "CREATE TABLE x(\(columns.map(\.sql).sqlList))" }

  func makeCursor() -> VirtualCursor { IndexedLayerCursor(self) }

  func plan(_ number: Int) -> ShadowPlan { plans[number] }

  // MARK: Functions

  func overload(function name: String, argumentCount: Int) -> FunctionOverload? {
    guard argumentCount == 2, let relation = IndexedFunctions.relation(of: name),
      let index = IndexedFunctions.relations.firstIndex(of: relation)
    else { return nil }
    return FunctionOverload(name, argumentCount: 2, index: index, on: file.connection)
  }

  // MARK: Choice

  func choose(_ request: inout IndexRequest) throws(SQLiteError) {
    var plan = ShadowPlan(
      columns: columns.indices.filter { request.reads(column: $0) })
    let conditions = request.constraints.filter { canPass($0, request) }
    let isByKey = conditions.contains { $0.operation == .equal || $0.operation == .same }
    if !isByKey, let spatial = request.constraints.first(where: isSpatial),
      case .function(let index) = spatial.operation
    {
      plan.relation = IndexedFunctions.relations[index]
      request.take(spatial, isExact: true)
      let found = max(1, rowCount / 500)
      request.estimate(cost: 20 + found * 3, rows: found)
    } else {
      plan.conditions = conditions.map { .init(column: column($0), operation: $0.operation) }
      for condition in conditions { request.take(condition, isExact: false) }
      estimate(conditions, &request)
    }
    choose(order: request.order, &plan, request)
    request.plan = number(of: plan)
    request.describe(plan.description(in: self))
  }

  private func number(of plan: ShadowPlan) -> Int {
    if let known = plans.firstIndex(of: plan) { return known }
    plans.append(plan)
    return plans.count - 1
  }

  /// The column of a constraint, -1 for the id.
  private func column(_ constraint: IndexRequest.Constraint) -> Int {
    constraint.column == idColumn ? -1 : constraint.column
  }

  private func isSpatial(_ constraint: IndexRequest.Constraint) -> Bool {
    guard case .function = constraint.operation else { return false }
    return constraint.isUsable && constraint.column == geometryColumn && layer.rtree != nil
  }

  /// Whether the statement on the table can find rows by the condition, and finds all that SQLite
  /// would.
  ///
  /// SQLite compares texts with numbers by the affinities of both sides, and a virtual table knows
  /// only its own side. For a numeric column the other side does not matter.
  private func canPass(
    _ constraint: IndexRequest.Constraint, _ request: IndexRequest
  ) -> Bool {
    guard constraint.isUsable else { return false }
    let index = column(constraint)
    let isKnown: Bool
    switch constraint.operation {
    case .equal, .same: isKnown = true
    case .less, .lessOrEqual, .greater, .greaterOrEqual:
      isKnown = index < 0 || columns[index].affinity.isNumeric
    case .isNull, .isNotNull: return index >= 0 && columns[index].isIndexed
    case .function, .other: return false
    }
    if index < 0 { return isKnown }
    let column = columns[index]
    guard column.isIndexed, isKnown, column.affinity != .none else { return false }
    return SQLName(request.collation(of: constraint)) == SQLName(column.collation)
  }

  private func estimate(
    _ conditions: [IndexRequest.Constraint], _ request: inout IndexRequest
  ) {
    var (cost, rows, isUnique) = (rowCount * 2, rowCount, false)
    for condition in conditions {
      let isEqual = condition.operation == .equal || condition.operation == .same
      let isID = column(condition) < 0
      let found = isEqual ? (isID ? 1 : min(10, rowCount)) : rowCount / 4
      if found < rows { (rows, cost) = (found, 10 + found * (isID ? 2 : 4)) }
      if isEqual, isID { isUnique = true }
    }
    request.estimate(cost: cost, rows: rows, isUnique: isUnique)
  }

  /// Tells SQLite the order of the rows where it costs nothing: that of an index, or ascending ids
  /// from the R-tree.
  private func choose(
    order: [(column: Int, isDescending: Bool)], _ plan: inout ShadowPlan, _ request: IndexRequest
  ) {
    guard order.count == 1 else { return }
    let (column, isDescending) = (order[0].column, order[0].isDescending)
    let isID = column < 0 || column == idColumn
    if plan.relation != nil {
      if isID, !isDescending { request.setOrdered() }
    } else if isID || columns[column].isIndexed {
      plan.order = .init(column: isID ? -1 : column, isDescending: isDescending)
      request.setOrdered()
    }
  }
}

/// One way of finding rows of an ``IndexedLayerTable``.
struct ShadowPlan: Hashable {
  struct Condition: Hashable {
    /// The index of the column; -1 for the id.
    var column: Int
    var operation: IndexRequest.Operation
  }

  struct Order: Hashable {
    var column: Int
    var isDescending: Bool
  }

  /// The columns that are read.
  var columns: [Int]
  /// The relation to search the R-tree by; `nil` for a search by the table.
  var relation: SpatialRelation?
  var conditions: [Condition] = []
  var order: Order?

  func description(in shadow: IndexedLayerTable) -> String {
    func name(_ column: Int) -> String { column < 0 ? "rowid" : shadow.columns[column].name }
    if let relation, let rtree = shadow.layer.rtree {
      return PlanTree.mark + "SEARCH USING R-TREE \(rtree) FOR \(relation.rawValue)"
    }
    let terms = conditions.map { name($0.column) + $0.operation.sql }
    let found = terms.isEmpty ? "SCAN" : "SEARCH USING TABLE (\(terms.joined(separator: " AND ")))"
    let sorted = order.map { " ORDER BY \(name($0.column))\($0.isDescending ? " DESC" : "")" } ?? ""
    return PlanTree.mark + found + sorted
  }

  /// The statement that finds the rows in the table: the id, then the columns.
  /// - Parameter passed: for each condition, whether the statement tests it.
  func statement(in shadow: IndexedLayerTable, passing passed: [Bool]) -> String {
    let selected = [shadow.id] + columns.map { quoted(shadow.columns[$0].name) }
    var sql = "SELECT \(selected.sqlList) FROM \(shadow.source)"
    func name(_ column: Int) -> String {
      column < 0 ? shadow.id : quoted(shadow.columns[column].name)
    }
    let terms = zip(conditions, passed).filter(\.1).map { name($0.0.column) + $0.0.operation.sql }
    if !terms.isEmpty { sql += " WHERE \(terms.joined(separator: " AND "))" }
    if let order { sql += " ORDER BY \(name(order.column))\(order.isDescending ? " DESC" : "")" }
    return sql
  }
}

extension IndexRequest.Operation {
  /// The SQL behind the column.
  fileprivate var sql: String {
    switch self {
    case .equal: " = ?"
    case .same: " IS ?"
    case .less: " < ?"
    case .lessOrEqual: " <= ?"
    case .greater: " > ?"
    case .greaterOrEqual: " >= ?"
    case .isNull: " IS NULL"
    case .isNotNull: " IS NOT NULL"
    case .function, .other: ""
    }
  }

  /// Whether the operation takes a parameter.
  var hasValue: Bool { self != .isNull && self != .isNotNull }
}
