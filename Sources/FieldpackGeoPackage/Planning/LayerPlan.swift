import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackRTree
import FieldpackSQLite

/// A query on one layer as one statement. Queries that differ only in their values share the plan.
final class LayerPlan {
  let table: LayerTable
  /// The columns of the rows: id, geometry, then the selected attributes.
  let schema: Schema
  let statement: SQLFragment
  let transformation: CoordinateTransformation?
  /// The query's other operations on geometries.
  let steps: GeometrySteps?
  /// How many sort keys follow the attributes in a row.
  let sortKeys: Int
  /// Whether the statement's first four parameters are a box to look up in the R-tree and the next
  /// four the same box, for rows that the R-tree is not sure of.
  let looksForBox: Bool
  /// Where the number that the query compares ids with stands among the parameters.
  fileprivate(set) var numberIndex: Int?

  init(
    table: LayerTable, schema: Schema, statement: SQLFragment,
    transformation: CoordinateTransformation? = nil, steps: GeometrySteps? = nil,
    sortKeys: Int = 0, looksForBox: Bool = false
  ) {
    (self.table, self.schema, self.statement) = (table, schema, statement)
    (self.transformation, self.steps) = (transformation, steps)
    (self.sortKeys, self.looksForBox) = (sortKeys, looksForBox)
  }

  /// The plan with the values that it was made for.
  var asMade: BoundPlan { BoundPlan(plan: self, parameters: statement.parameters) }

  /// The plan for another number.
  func with(number: Int64) -> BoundPlan? {
    guard let numberIndex else { return nil }
    var bound = asMade
    bound.parameters[numberIndex] = .integer(number)
    return bound
  }

  /// The plan for another box.
  func with(box: Envelope) -> BoundPlan {
    var bound = asMade
    for (index, side) in box.parameters.enumerated() {
      bound.parameters[index] = side
      bound.parameters[index + 4] = side
    }
    return bound
  }
}

/// A plan with the values of one query.
struct BoundPlan {
  let plan: LayerPlan
  fileprivate(set) var parameters: [SQLiteValue]
}

/// A box to look up in an R-tree.
struct IndexedBox {
  let rtree: String
  let window: RTreeWindow
  fileprivate let lowering: FilterLowering
  fileprivate let filter: Filter
  fileprivate let id: String

  /// The statement that tests whether a row is in the box; its last parameter is the row's id.
  func recheck() throws(FieldpackError) -> SQLFragment {
    let exact = try lowering.condition(filter)
    return "SELECT \(exact) FROM \(quoted(lowering.table.table)) WHERE \(id) = ?"
  }
}

/// Plans a query for one state of the file, and makes its statements.
final class QueryPlanner {
  let file: GeoPackageSession
  let catalogue: Catalogue
  let query: Query
  /// Receives the notes of planning and reading.
  let report: QueryReport
  let boxed: BoxedQuery?
  let numbered: NumberQuery?
  /// What is known of queries that differ from this one in their box or number alone.
  let known: PlanCache.Known?

  init(file: GeoPackageSession, catalogue: Catalogue, query: Query, report: QueryReport) {
    (self.file, self.catalogue, self.query, self.report) = (file, catalogue, query, report)
    numbered = NumberQuery(query)
    boxed = numbered == nil ? BoxedQuery(query) : nil
    known = (numbered?.shape ?? boxed?.shape).map { file.planCache.known($0) }
  }

  /// The layers that the query asks, in order. A named layer that does not exist is an error.
  func tables() throws(FieldpackError) -> [LayerTable] {
    if let kept = known?.tables { return kept }
    let tables = try askedTables()
    // Named layers are never dropped, so nothing needs reporting, and the cache may answer.
    if !query.layers.isEmpty, asksForRowIDs(of: tables) { known?.tables = tables }
    return tables
  }

  /// Whether the query compares no number, or one with the rowids of the layers.
  func asksForRowIDs(of tables: [LayerTable]) -> Bool {
    guard let numbered else { return true }
    return tables.allSatisfy(numbered.asksForRowIDs(of:))
  }

  private func askedTables() throws(FieldpackError) -> [LayerTable] {
    var asked: [LayerTable] = []
    if query.layers.isEmpty {
      asked = catalogue.layers
      for note in catalogue.notes { report.add(note: Note(note)) }
    } else {
      for id in query.layers {
        guard let table = catalogue.layer(id) else { throw file.missingLayer(id, in: catalogue) }
        // A layer named twice, or also by its other name, answers once.
        if !asked.contains(where: { $0.layer.id == table.layer.id }) { asked.append(table) }
      }
    }
    return try withFilteredColumns(asked)
  }

  /// Drops layers that lack a filtered column, or the geometry of a spatial condition. It throws
  /// instead where the layers were named or none is left.
  private func withFilteredColumns(
    _ tables: [LayerTable]
  ) throws(FieldpackError) -> [LayerTable] {
    var kept: [LayerTable] = []
    var failure: FieldpackError?
    for table in tables {
      do throws(FieldpackError) {
        _ = try lowering(table).condition(filter(table))
        if let target = query.nearest { try check(table, for: target) }
        kept.append(table)
      } catch {
        let error = error.adding(location: .init(store: file.store, layer: table.layer.id))
        guard error.code == .notFound, query.layers.isEmpty else { throw error }
        failure = failure ?? error
        report.add(note: "left out: \(error.message)")
      }
    }
    if kept.isEmpty, let failure { throw failure }
    if query.nearest != nil, !query.order.isEmpty {
      throw FieldpackError(
        .invalidArgument, "features that come by their distance take no other order")
    }
    try checkColumns(kept)
    return kept
  }

  /// Throws for a selected or sorted column that no layer has.
  private func checkColumns(_ tables: [LayerTable]) throws(FieldpackError) {
    guard !tables.isEmpty else { return }
    for name in (query.columns ?? []) + query.order.map(\.column) {
      let isKnown = tables.contains {
        $0.schema.columnIndex(name) != nil || $0.schema.isID(name)
      }
      if isKnown { continue }
      let known = tables[0].schema.columns.map(\.name).joined(separator: ", ")
      throw FieldpackError(
        .notFound, "no layer asked has a column '\(name)' ('\(tables[0].layer.id)' has: \(known))",
        location: .init(store: file.store))
    }
  }

  func lowering(_ table: LayerTable) -> FilterLowering {
    FilterLowering(
      table: table, project: LiteralProjection(file: file, catalogue: catalogue),
      skipsErrors: query.skipsErrors)
  }

  /// How a statement gives its rows.
  enum RowForm {
    /// One step per row.
    case rows
    /// One step per row, for rows between two rowids (the last two parameters).
    case range
    /// All rows in one step, lent by `fieldpack_row`.
    case lent
    /// The rows between two rowids (the last two parameters) in one step, lent by `fieldpack_row`.
    case lentRange

    fileprivate var isLent: Bool { self == .lent || self == .lentRange }
    fileprivate var isRange: Bool { self == .range || self == .lentRange }
  }

  /// The statement for one layer, with at most `limit` rows after `offset`.
  func plan(
    _ path: LayerPath, limit: Int?, offset: Int, as form: RowForm = .rows
  ) throws(FieldpackError) -> BoundPlan {
    let table = path.table
    if let target = query.nearest {
      return try nearestPlan(table, target, limit: limit, offset: offset).asMade
    }
    let key = PlanCache.Key(table: table.table, limit: limit, offset: offset, form: form)
    if let numbered, numbered.asksForRowIDs(of: table) {
      return try plan(path, key, numbered)
    }
    guard let boxed, let known,
      let box = try lowering(table).project.oneBox(boxed.box, from: boxed.srs, to: table)
    else { return try newPlan(path, limit: limit, offset: offset, as: form).asMade }
    if let kept = known.plan(key) { return kept.with(box: box) }
    let plan = try newPlan(path, limit: limit, offset: offset, as: form)
    known.keep(plan, key)
    return plan.asMade
  }

  private func plan(
    _ path: LayerPath, _ key: PlanCache.Key, _ numbered: NumberQuery
  ) throws(FieldpackError) -> BoundPlan {
    if let kept = known?.plan(key)?.with(number: numbered.number) { return kept }
    let plan = try newPlan(path, limit: key.limit, offset: key.offset, as: key.form)
    let places = plan.statement.parameters.indices.filter {
      plan.statement.parameters[$0] == .integer(numbered.number)
    }
    // Where the limit is the same number, nobody can tell which of the two it is.
    if places.count == 1 { plan.numberIndex = places[0] }
    known?.keep(plan, key)
    return plan.asMade
  }

  /// The transformation of the rows' geometries to the query's SRS; `nil` where none is needed.
  func transformation(
    of table: LayerTable, _ schema: Schema
  ) throws(FieldpackError) -> CoordinateTransformation? {
    guard let srs = query.srs, schema.geometry != nil else { return nil }
    return try file.transformation(from: table, to: srs, in: catalogue)
  }

  private func newPlan(
    _ path: LayerPath, limit: Int?, offset: Int, as form: RowForm
  ) throws(FieldpackError) -> LayerPlan {
    let table = path.table
    let part = form == .rows && limit == nil && offset == 0 ? path.search.part : nil
    let schema = query.shape(table.schema, hasLogs: true)
    let transformation = try transformation(of: table, schema)
    var access = try lowering(table).access(filter(table))
    if let part {
      let found = try lowering(table).condition(part)
      let listed: SQLFragment =
        "\(access.id) IN (SELECT \(access.id) FROM \(access.source) WHERE \(found))"
      access.condition = part == filter(table) ? listed : .and([listed, access.condition])
    } else if path.search == .throughTable, form != .rows, !table.indexes.isEmpty {
      // Lent rows and ranges must come in the order of the table, so SQLite may not use an index.
      access.source += " NOT INDEXED"
    }
    let keys = query.order.map { orderExpression($0, table) }
    var statement = try selection(access, table, schema, keys, as: form)
    let directions = zip(keys, query.order).map { $0 + ($1.isDescending ? " DESC" : "") }
    let order = directions + (table.isDerived && keys.isEmpty ? [] : [access.id])
    if !order.isEmpty { statement += " ORDER BY \(order.sqlList)" }
    if limit != nil || offset > 0 {
      statement += " LIMIT \(bind: .integer(Int64(limit ?? -1)))"
      statement += " OFFSET \(bind: .integer(Int64(offset)))"
    }
    return LayerPlan(
      table: table, schema: schema, statement: statement, transformation: transformation,
      steps: try steps(table, schema), sortKeys: keys.count, looksForBox: access.looksForBox)
  }

  /// Selects the query's columns. Ids alone are read from the candidates, without their rows.
  private func selection(
    _ access: LayerAccess, _ table: LayerTable, _ schema: Schema, _ keys: [String],
    as form: RowForm
  ) throws(FieldpackError) -> SQLFragment {
    let range: SQLFragment =
      form.isRange
      ? "\(access.id) BETWEEN \(bind: .integer(.min)) AND \(bind: .integer(.max))" : .isTrue
    let attributes = try selected(schema.columns[...], of: table)
    let geometry = geometryRead(table, schema)
    if let ids = access.idsOnly, keys.isEmpty, attributes.isEmpty, geometry == nil,
      table.textID == nil, !form.isLent
    {
      return Self.select(
        [access.id, "NULL"], from: ids.source, where: .and([ids.condition, range]))
    }
    let selected = [table.publicID, geometry ?? "NULL"] + attributes + keys
    guard form.isLent else {
      return Self.select(
        selected, from: access.source, where: .and([access.condition, range]))
    }
    let lent = "\(Connection.rowFunctionName)(\(selected.sqlList))"
    // Only CASE guarantees that the condition is evaluated first.
    let given: SQLFragment =
      access.condition == .isTrue
      ? "\(lent)" : "CASE WHEN \(access.condition) THEN \(lent) ELSE 0 END"
    return Self.select(["1"], from: access.source, where: .and([given, range]))
  }

  /// The statement that counts one layer's matches.
  func countPlan(_ table: LayerTable) throws(FieldpackError) -> SQLFragment {
    let access = try lowering(table).access(filter(table))
    return Self.select(
      ["count(*)"], from: access.idsOnly?.source ?? access.source,
      where: access.idsOnly?.condition ?? access.condition)
  }

  private static func select(
    _ columns: [String], from source: SQLFragment, where condition: SQLFragment
  ) -> SQLFragment {
    let head: SQLFragment = "SELECT \(columns.sqlList) FROM \(source)"
    return condition == .isTrue ? head : "\(head) WHERE \(condition)"
  }

  /// How many ids the R-tree gives for the query; `nil` where the R-tree is not used.
  func candidateCount(_ table: LayerTable) throws(FieldpackError) -> Int? {
    guard let candidates = try lowering(table).access(filter(table)).candidates else { return nil }
    do throws(FieldpackError) {
      return try file.integer(
        "SELECT count(*) FROM \(candidates.text)", candidates.parameters
      ).map(Int.init)
    } catch {
      throw error.adding(location: .init(store: file.store, layer: table.layer.id))
    }
  }

  /// The box that the R-tree alone can answer; `nil` where the filter is more than a box.
  func indexedBox(_ table: LayerTable) throws(FieldpackError) -> IndexedBox? {
    let (lowering, filter) = (lowering(table), filter(table))
    guard let rtree = table.rtree, !table.lacksIndexTriggers, let id = table.idSQL,
      let (relation, box) = try lowering.onlyBox(filter)
    else { return nil }
    return IndexedBox(
      rtree: rtree, window: RTreeWindow(relation, box), lowering: lowering, filter: filter, id: id)
  }

  /// The SQL of a sort key. Texts sort by code point and instants as moments.
  private func orderExpression(_ order: Order, _ table: LayerTable) -> String {
    guard let index = table.schema.columnIndex(order.column) else {
      return table.schema.isID(order.column) ? table.publicID : "NULL"
    }
    let column = table.schema.columns[index]
    let name = quoted(column.name)
    switch column.type {
    case .dateTime: return "coalesce(fieldpack_instant(\(name)), \(name))"
    case .text, .json, .date, .other: return "\(name) COLLATE \(table.textCollation)"
    default: return name
    }
  }
}

extension Schema {
  func isID(_ name: String) -> Bool {
    guard let idColumn else { return false }
    // Most callers write the name as the layer does, and names of SQL take long to compare.
    return idColumn.hasSameBytes(as: name) || SQLName(idColumn) == SQLName(name)
  }
}
