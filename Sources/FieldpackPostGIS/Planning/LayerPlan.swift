import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackStoreKit

/// How one layer answers a query.
struct LayerPlan: Sendable {
  /// What does not depend on values.
  let reading: LayerReading
  /// Which rows: as far as the server tests them.
  var condition: Lowered
  /// Tests rows here; `nil` where the server tests them exactly.
  let rest: FilterEvaluator?
  /// The system to transform geometries to; `nil` where they stay.
  let target: SRS?

  var layer: PostGISLayer { reading.layer }
  /// The schema of the rows in the answer.
  var shape: Schema { reading.shape }
  var fetched: [Int] { reading.fetched }
  var order: [Order] { reading.order }
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
    var sql: SQLPart = "SELECT \(selected) FROM \(layer.source)"
    if let test = condition.sql { sql += " WHERE \(test)" }
    if isSorted { sql += " ORDER BY \(sorting)" }
    if let limit { sql += " LIMIT \(bind: .integer(Int64(limit)))" }
    if offset > 0 { sql += " OFFSET \(bind: .integer(Int64(offset)))" }
    return sql.statement
  }

  /// What a row has: id, geometry, attributes, sort keys.
  private var selected: String {
    let columns =
      [layer.idExpression, reading.readsGeometry ? layer.geometrySQL : "NULL::bytea"]
      + fetched.map { layer.columns[$0].expression } + order.map { keyExpression($0) }
    return columns.joined(separator: ", ")
  }

  private var sorting: String {
    let keys = order.map { order in
      let key = orderExpression(order)
      return order.isDescending ? "\(key) DESC NULLS LAST" : "\(key) NULLS FIRST"
    }
    return (keys + [layer.idOrder]).joined(separator: ", ")
  }

  // MARK: Few rows

  /// Rows that are asked for at once, because they may be few.
  struct FewRows {
    var sql: String
    var values: [PostgresValue]
    /// ``LayerReading/form``.
    var form: Int
    /// The most rows that come.
    var limit: Int
    /// Whether so many rows are all that are wanted; otherwise there may be more, and none of them counts.
    var isWhole: Bool
  }

  /// Rows of about so many bytes are held at a time.
  private static let fewBytes = 1 << 20

  /// The statement by which all rows come at once where they are few, which takes one round trip and is
  /// planned once for all values; `nil` where nothing is known of their number.
  ///
  /// The server reads at most one row more than are few, in no order, and sorts what it has read. Where
  /// rows are not few, that is done in vain.
  func few(limit: Int?, offset: Int) -> FewRows? {
    let most = layer.rowBytes <= Self.fewBytes / 256 ? 256 : 64
    // A view may take its time before its first row; it and policies may call functions that only the
    // cursor's transaction for reading keeps from writing.
    guard layer.rowBytes <= Self.fewBytes / 64, !layer.isView, !layer.hasPolicies else {
      return nil
    }
    if limit != nil || offset > 0 {
      guard let limit, limit <= most else { return nil }
      let statement = statement(limit: limit, offset: offset)
      return FewRows(
        sql: statement.sql, values: statement.values, form: reading.form, limit: limit,
        isWhole: true)
    }
    guard let test = condition.sql, layer.shards == nil,
      case .column(let id) = layer.id
    else { return nil }
    let sql = reading.few(most + 1) {
      var names = [id.quoted]
      if reading.readsGeometry, let geometry = layer.geometry { names.append(geometry.quoted) }
      let others = fetched.map { layer.columns[$0] } + order.compactMap { layer.column($0) }
      for column in others where !names.contains(column.quoted) { names.append(column.quoted) }
      let inner: SQLPart = """
        SELECT \(names.joined(separator: ", ")) FROM \(layer.table) WHERE \(test) LIMIT \(most + 1)
        """
      return "SELECT \(selected) FROM (\(inner.statement.sql)) AS fieldpack_few ORDER BY \(sorting)"
    }
    return FewRows(
      sql: sql, values: test.values, form: reading.form, limit: most + 1, isWhole: false)
  }

  /// The statement that counts the rows; only where the server tests exactly.
  var countStatement: (sql: String, values: [PostgresValue]) {
    if let shards = layer.shards { return shards.count(condition.sql).statement }
    var sql: SQLPart = "SELECT count(*) FROM \(layer.source)"
    if let test = condition.sql { sql += " WHERE \(test)" }
    return sql.statement
  }

  /// The value of a sort key, as rows have it.
  private func keyExpression(_ order: Order) -> String {
    layer.column(order)?.expression ?? "NULL::text"
  }

  /// The sort key as the server sorts by it: texts by code point, NaN as NULL.
  private func orderExpression(_ order: Order) -> String {
    guard let column = layer.column(order) else { return "NULL::text" }
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
  var query: Query
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

  /// How many rows the server is asked for at most when a layer is read, and behind how many.
  func bounds(of layer: LayerPlan) -> (limit: Int?, offset: Int) {
    if pushesLimit { return (query.limit, query.offset) }
    return (layer.isExact && !query.skipsErrors ? query.rowsNeeded : nil, 0)
  }
}
