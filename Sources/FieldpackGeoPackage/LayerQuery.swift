import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite

/// A query as it runs on one layer: one statement.
struct LayerQuery {
  let table: LayerTable
  /// What the rows look like: id, geometry, then the selected columns.
  let schema: Schema
  let statement: SQLFragment
  let transformation: CoordinateTransformation?
  /// How many columns behind the attributes hold the sort keys.
  let sortKeys: Int
  let order: [Order]
}

/// Makes the statements of a query.
struct QueryPlanner {
  let file: GeoPackageFile
  let catalogue: Catalogue
  let query: Query
  let report: QueryReport

  /// The layers that the query asks, in order; one named but absent is an error.
  func tables() throws(FieldpackError) -> [LayerTable] {
    var asked: [LayerTable] = []
    if query.layers.isEmpty {
      asked = catalogue.layers
      for note in catalogue.notes { report.add(note: note) }
    } else {
      for id in query.layers {
        guard let table = catalogue.layer(id) else { throw file.missingLayer(id, in: catalogue) }
        // Named twice, or by its other name as well, a layer answers once.
        if !asked.contains(where: { $0.layer.id == table.layer.id }) { asked.append(table) }
      }
    }
    return try withFilteredColumns(asked)
  }

  /// Leaves out layers that lack a filtered column, or the geometry of a spatial condition, unless
  /// they were named or none is left.
  private func withFilteredColumns(
    _ tables: [LayerTable]
  ) throws(FieldpackError) -> [LayerTable] {
    var kept: [LayerTable] = []
    var failure: FieldpackError?
    for table in tables {
      do throws(FieldpackError) {
        _ = try lowering(table).condition(query.filter)
        kept.append(table)
      } catch {
        let error = error.adding(location: .init(store: file.store, layer: table.layer.id))
        guard error.code == .notFound, query.layers.isEmpty else { throw error }
        failure = failure ?? error
        report.add(note: "left out: \(error.message)")
      }
    }
    if kept.isEmpty, let failure { throw failure }
    try checkColumns(kept)
    return kept
  }

  /// A selected or sorted column that no layer has is an error.
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

  private func lowering(_ table: LayerTable) -> FilterLowering {
    FilterLowering(
      table: table, project: LiteralProjection(file: file, catalogue: catalogue),
      skipsErrors: query.skipsErrors)
  }

  /// The statement for one layer, with `limit` rows at most after `offset`.
  ///
  /// With `inRange` its last two parameters are the first and the last rowid.
  func plan(
    _ table: LayerTable, limit: Int?, offset: Int, inRange: Bool = false
  ) throws(FieldpackError) -> LayerQuery {
    var schema = outputSchema(table)
    var transformation: CoordinateTransformation?
    if let srs = query.srs, let geometry = schema.geometry {
      transformation = try file.transformation(from: table, to: srs, in: catalogue)
      schema.geometry = geometry.with(srs: srs)
    }
    let condition = try lowering(table).indexedCondition(query.filter)
    let geometry = schema.geometry.map { quoted($0.name) } ?? "NULL"
    let attributes = schema.columns.map { quoted($0.name) }
    let keys = query.order.map { orderExpression($0, table) }
    let selected = [table.publicID, geometry] + attributes + keys
    var sql = "SELECT \(selected.joined(separator: ", ")) FROM \(table.fromSQL)"
    var parameters: [SQLiteValue] = []
    if condition != .isTrue {
      sql += " WHERE \(inRange ? "(\(condition.text))" : condition.text)"
      parameters += condition.parameters
    }
    if inRange {
      sql += (condition == .isTrue ? " WHERE " : " AND ") + "\(table.idExpression) BETWEEN ? AND ?"
      parameters += [.integer(.min), .integer(.max)]
    }
    let directions = zip(keys, query.order).map { $0 + ($1.isDescending ? " DESC" : "") }
    sql += " ORDER BY \((directions + [table.idExpression]).joined(separator: ", "))"
    if limit != nil || offset > 0 {
      sql += " LIMIT ? OFFSET ?"
      parameters += [.integer(Int64(limit ?? -1)), .integer(Int64(offset))]
    }
    return LayerQuery(
      table: table, schema: schema, statement: SQLFragment(sql, parameters),
      transformation: transformation, sortKeys: keys.count, order: query.order)
  }

  /// The statement that counts one layer's matches.
  func countPlan(_ table: LayerTable) throws(FieldpackError) -> SQLFragment {
    let condition = try lowering(table).indexedCondition(query.filter)
    let head = "SELECT count(*) FROM \(table.fromSQL)"
    if condition == .isTrue { return SQLFragment(head) }
    return SQLFragment("\(head) WHERE \(condition.text)", condition.parameters)
  }

  private func outputSchema(_ table: LayerTable) -> Schema {
    var schema = table.schema
    if !query.readsGeometry { schema.geometry = nil }
    if let wanted = query.columns {
      schema.columns = wanted.compactMap { name in
        schema.columnIndex(name).map { schema.columns[$0] }
      }
    }
    return schema
  }

  /// Texts sort by code point and instants as instants.
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
  func isID(_ name: String) -> Bool { idColumn.map { SQLName($0) } == SQLName(name) }
}

extension GeometryColumn {
  func with(srs: SRS) -> GeometryColumn {
    var copy = self
    copy.srs = srs
    return copy
  }
}
