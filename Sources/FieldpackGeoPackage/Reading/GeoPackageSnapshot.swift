public import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackRTree
package import FieldpackSQLite

/// One state of a GeoPackage, for the length of a `read` call: what every store answers, and what only
/// a GeoPackage holds.
///
///     let relations = try await store.read { (snapshot) throws(FieldpackError) in
///       try snapshot.relations()
///     }
public class GeoPackageSnapshot: SnapshotReading {
  let file: GeoPackageSession
  let report: QueryReport

  init(_ file: GeoPackageSession, report: QueryReport = QueryReport()) {
    self.file = file
    self.report = report
  }

  func planner(
    _ query: Query, report: QueryReport? = nil
  ) throws(FieldpackError) -> QueryPlanner {
    QueryPlanner(
      file: file, catalogue: try file.catalogue(), query: query, report: report ?? self.report)
  }

  public func layers() throws(FieldpackError) -> [Layer] { try layers(areCounted: true) }

  /// - Parameter areCounted: whether each layer tells how many features it has, for which SQLite reads a
  ///   table or an index from one end to the other.
  package func layers(areCounted: Bool) throws(FieldpackError) -> [Layer] {
    var layers: [Layer] = []
    let catalogue = try file.catalogue()
    for table in catalogue.layers {
      var layer = table.layer
      layer.srsName = catalogue.system(table.srsID)?.name
      do throws(FieldpackError) {
        try measure(table, isCounted: areCounted, into: &layer)
      } catch  where error.code == .invalidData || error.code == .corrupt {
        // One damaged table or view must not hide the others.
        let note = CatalogueReader.note(unreadable: error)
        if !layer.notes.contains(note) { layer.notes.append(note) }
      }
      layers.append(layer)
    }
    return layers
  }

  /// Fills in the count and the envelope of the features. For a view of the file the work is
  /// limited, because a view may make up rows without end.
  private func measure(
    _ table: LayerTable, isCounted: Bool, into layer: inout Layer
  ) throws(FieldpackError) {
    func measured() throws(FieldpackError) -> (Int?, Envelope?) {
      let sql = "SELECT count(*) FROM \(quoted(table.table))"
      let count = isCounted ? try file.integer(sql).map(Int.init) : nil
      return (count, try LayerExtent(file: file, table: table).current())
    }
    let mayBeEndless = layer.isView && !table.isDerived
    (layer.featureCount, layer.envelope) =
      mayBeEndless ? try file.limited("counting its rows", measured) : try measured()
  }

  public func scan(_ query: Query, into sink: inout some FeatureSink) throws(FieldpackError) {
    let planner = try planner(query)
    try scan(planner, planner.paths(), into: &sink)
  }

  func scan(
    _ planner: QueryPlanner, _ paths: [LayerPath], into sink: inout some FeatureSink
  ) throws(FieldpackError) {
    let query = planner.query
    if let (schema, ids) = try indexedIDs(planner, paths) {
      try sink.begin(schema)
      for id in ids { try sink.feature(IDRow(number: id)) }
      return
    }
    if !query.isOrdered, query.limit == nil, query.offset == 0 {
      return try LayerScan(planner: planner).give(paths, to: &sink)
    }
    if paths.count == 1, !query.mayPassOver {
      // As QueryWalk does it for one layer, without what it does for each row because of several.
      let cursor = try planner.cursor(paths[0], limit: query.limit, offset: query.offset)
      var hasRow = try cursor.advance()
      try sink.begin(cursor.schema)
      while hasRow {
        try sink.feature(cursor.row)
        hasRow = try cursor.advance()
      }
      return
    }
    let walk = try QueryWalk(planner: planner, paths: paths)
    var announced: LayerCursor?
    while let cursor = try walk.next() {
      if announced !== cursor { try sink.begin(cursor.schema) }
      announced = cursor
      try sink.feature(cursor.row)
    }
    // Layers without a match are announced too, so that a writer knows their columns.
    for schema in walk.unannounced { try sink.begin(schema) }
  }

  /// The rows of all layers in the query's order.
  func rows(_ plan: QueryPlan) throws(FieldpackError) -> QueryWalk {
    let (plan, planner) = try following(plan, inPieces: false)
    return try QueryWalk(planner: planner, paths: plan.paths)
  }

  public func count(_ query: Query) throws(FieldpackError) -> Int {
    let planner = try planner(query)
    return try count(planner, try planner.tables())
  }

  /// As ``count(_:)``; `nil` where the counting takes longer than `time`.
  package func count(
    _ query: Query, within time: Duration
  ) throws(FieldpackError) -> Int? {
    let connection = file.connection
    guard !connection.hasTimeLimit else { return try count(query) }
    connection.deadline = connection.clock.now + time
    defer { connection.deadline = nil }
    do throws(FieldpackError) {
      return try count(query)
    } catch {
      guard error.code == .interrupted, connection.isDeadlinePassed else { throw error }
      return nil
    }
  }

  func count(
    _ planner: QueryPlanner, _ tables: [LayerTable]
  ) throws(FieldpackError) -> Int {
    let query = planner.query
    if query.operations.clip != nil { return try countClipped(query) }
    var total = 0
    for table in tables {
      if let target = query.nearest {
        total += try planner.nearest(in: table, to: target, count: query.rowsNeeded).count
        continue
      }
      if let counted = try indexedCount(planner, table) {
        total += counted
        continue
      }
      total += try countedRows(planner, table)
    }
    return min(max(0, total - query.offset), query.limit ?? .max)
  }

  /// Counts rows by a statement. The number of all rows of a table is kept for the state of the file.
  private func countedRows(
    _ planner: QueryPlanner, _ table: LayerTable
  ) throws(FieldpackError) -> Int {
    let keeps =
      planner.query.filter == .all && !table.layer.isView && !table.isDerived
      && file.connection.isReadOnly
    if keeps, let known = file.rowCounts[table.table] { return known }
    let plan = try planner.countPlan(table)
    let statement = try file.prepare(reading: table, plan.text, plan.parameters)
    defer { statement.reset() }
    let count = try statement.step(reportingTo: report) ? Int(statement.row.integer(0)) : 0
    if keeps { file.rowCounts[table.table] = count }
    return count
  }

  /// Counts by clipping. A geometry that only touches the area is dropped, which only clipping
  /// shows.
  private func countClipped(_ query: Query) throws(FieldpackError) -> Int {
    var sink = CountingSink()
    try scan(query.select([]), into: &sink)
    return sink.count
  }

  /// Counts in the R-tree, and reads only the rows that its rounded bounds leave open.
  private func indexedCount(
    _ planner: QueryPlanner, _ table: LayerTable
  ) throws(FieldpackError) -> Int? {
    guard let box = try planner.indexedBox(table) else { return nil }
    let (certain, uncertain) = try file.sql(layer: table.layer.id) { () throws(SQLiteError) in
      try file.indexes.count(box.rtree, box.window)
    }
    file.reportIndexes(to: report)
    return try certain + confirmed(uncertain, box, table).count
  }

  /// The ids in a box, from the R-tree without a join, where only ids are asked for.
  private func indexedIDs(
    _ planner: QueryPlanner, _ paths: [LayerPath]
  ) throws(FieldpackError) -> (Schema, [Int64])? {
    guard paths.count == 1, planner.query.wantsIDsAsTheyCome, paths[0].table.textID == nil,
      let box = try planner.indexedBox(paths[0].table)
    else { return nil }
    let table = paths[0].table
    let (certain, uncertain) = try file.sql(layer: table.layer.id) { () throws(SQLiteError) in
      try file.indexes.candidates(box.rtree, box.window)
    }
    file.reportIndexes(to: report)
    let ids = IDList(try certain + confirmed(uncertain, box, table)).ids
    return (Schema(layer: table.layer.id, idColumn: table.schema.idColumn), ids)
  }

  /// The ids whose rows are in the box.
  private func confirmed(
    _ ids: [Int64], _ box: IndexedBox, _ table: LayerTable
  ) throws(FieldpackError) -> [Int64] {
    if ids.isEmpty { return [] }
    let recheck = try box.recheck()
    let statement = try file.prepare(recheck.text, recheck.parameters, in: table.layer.id)
    defer { statement.reset() }
    var confirmed: [Int64] = []
    for id in ids {
      try statement.bind(id, at: recheck.parameters.count + 1)
      if try statement.step(), statement.row.integer(0) == 1 { confirmed.append(id) }
      statement.reset()
    }
    return confirmed
  }

  public func feature(_ id: FeatureID, in layer: LayerID) throws(FieldpackError) -> Feature? {
    let catalogue = try file.catalogue()
    guard let table = catalogue.layer(layer) else { throw file.missingLayer(layer, in: catalogue) }
    guard let wanted = table.sqlValue(of: id), table.idSQL != nil else { return nil }
    var query = Query(layers: [table.layer.id])
    if try file.logShape(of: table) != nil { query = query.withMetadata() }
    let schema = query.shape(table.schema, hasLogs: true)
    let names = [table.publicID, table.schema.geometry.map { quoted($0.name) } ?? "NULL"]
    let selected = names + (try file.selected(schema.columns[...], of: table))
    let row: SQLFragment = """
      SELECT \(selected.sqlList) FROM \(quoted(table.table)) \
      WHERE \(table.publicID) = \(bind: wanted)
      """
    let one = LayerPlan(table: table, schema: schema, statement: row)
    let cursor = try LayerCursor(one.asMade, file: file, skipsErrors: false, report: report)
    guard try cursor.advance() else { return nil }
    var batch = FeatureBatch(store: file.store, schema: schema)
    batch.append(cursor.row)
    return try batch.feature(at: 0)
  }

  /// Estimates the rows by the R-tree's candidates, else by the span of the ids. Views get no
  /// estimate.
  func estimatedRows(
    _ planner: QueryPlanner, _ tables: [LayerTable]
  ) throws(FieldpackError) -> [LayerID: Int] {
    var rows: [LayerID: Int] = [:]
    for table in tables {
      if let found = try planner.candidateCount(table) {
        rows[table.layer.id] = found
      } else if !table.layer.isView, let id = table.idSQL {
        let name = quoted(table.table)
        let span = try file.rows(
          "SELECT (SELECT max(\(id)) FROM \(name)) - (SELECT min(\(id)) FROM \(name)) + 1.0")
        // The span is computed in floats, which do not overflow.
        rows[table.layer.id] = Int(min(max(0, span.first?[0].realValue ?? 0), 1e15))
      }
    }
    return rows
  }

  func explain(
    _ planner: QueryPlanner, _ paths: [LayerPath]
  ) throws(FieldpackError) -> [Explanation] {
    let query = planner.query
    var explanations: [Explanation] = []
    for path in paths {
      let table = path.table
      let limit = paths.count == 1 ? query.limit : query.rowsNeeded
      let bound = try planner.explainedPlan(
        path, limit: limit, offset: paths.count == 1 ? query.offset : 0)
      let plan = bound.plan
      let lines = try file.rows("EXPLAIN QUERY PLAN " + plan.statement.text, bound.parameters)
      explanations.append(
        Explanation(
          store: file.store, layer: table.layer.id, sql: plan.statement.text,
          parameters: bound.parameters.map(Value.init),
          plan: PlanTree.lines(lines).map(PlanTree.plain),
          transformation: plan.transformation?.report))
    }
    return explanations
  }
}

private struct CountingSink: FeatureSink {
  var count = 0

  mutating func begin(_ schema: Schema) {}
  mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) { count += 1 }
}

extension Query {
  /// Whether the query asks for ids alone, without order and limits.
  fileprivate var wantsIDsAsTheyCome: Bool {
    columns?.isEmpty == true && !readsGeometry && !readsMetadata
      && !isOrdered && limit == nil && offset == 0
  }
}

/// The rows of `EXPLAIN QUERY PLAN` as indented lines.
package enum PlanTree {
  /// What tells our descriptions from those of other virtual tables in a plan.
  package static let mark = "fieldpack "

  package static func lines(_ rows: [[SQLiteValue]]) -> [String] {
    var depths: [Int64: Int] = [:]
    return rows.map { row in
      let depth = (depths[row[1].integerValue ?? 0] ?? -1) + 1
      depths[row[0].integerValue ?? 0] = depth
      return String(repeating: "  ", count: depth) + (row[3].textValue ?? "")
    }
  }

  /// A line without what SQLite puts around the words of a virtual table of ours.
  package static func plain(_ line: String) -> String {
    guard let begin = line.firstRange(of: " VIRTUAL TABLE INDEX "),
      let mark = line.firstRange(of: ":\(Self.mark)"), begin.upperBound < mark.lowerBound
    else { return line }
    let words = line[mark.upperBound...]
    let head = line[..<begin.lowerBound]
    guard words.hasPrefix("SEARCH") else { return String(head + words.dropFirst("SCAN".count)) }
    let found = head.replacing("SCAN ", with: "SEARCH ", maxReplacements: 1)
    return String(found + words.dropFirst("SEARCH".count))
  }
}

extension Value {
  package init(_ value: SQLiteValue) {
    self =
      switch value {
      case .null: .null
      case .integer(let number): .integer(number)
      case .real(let number): .real(number)
      case .text(let text): .text(text)
      case .blob(let bytes): .blob(bytes)
      }
  }
}
