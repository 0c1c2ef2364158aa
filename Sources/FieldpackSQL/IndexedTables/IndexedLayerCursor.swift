import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackRTree
import FieldpackSQLite
import FieldpackTopology

/// Walks the rows that an ``IndexedLayerTable`` finds, by a statement on the table or by the
/// R-tree.
final class IndexedLayerCursor: VirtualCursor {
  // SQLite keeps the table while one of its cursors is open.
  private unowned let shadow: IndexedLayerTable
  private var plan: ShadowPlan?
  private var planNumber = -1
  /// Whether the statement on the table tests each condition of the plan.
  private var passed: [Bool] = []
  /// The statement of the current row: the id, the columns of the plan, and for a search by the
  /// R-tree the geometry, where it is not among those columns.
  private var row: Statement?
  /// The index in the row of each column of the table; -1 for a column that is not read.
  private var rowIndexes: [Int] = []
  private var search: Search?

  /// The ids that the R-tree found, and the state of the walk through them.
  private struct Search {
    let relation: SpatialRelation
    let geometry: PreparedGeometry
    let list: IDList
    var next = 0
    var nextMarked = 0
    var id: Int64 = 0
    /// Whether the current row has been looked up in the table.
    var isLookedUp = false
    /// Whether SQLite has asked for a column of the current row.
    var isRead = false
  }

  init(_ shadow: IndexedLayerTable) { self.shadow = shadow }

  override func begin(
    plan number: Int, _ arguments: LentArguments
  ) throws(SQLiteError) -> Bool {
    search = nil
    if number != planNumber { use(shadow.plan(number), number) }
    guard let plan else { return false }
    if let relation = plan.relation {
      try begin(relation, arguments)
    } else {
      try begin(plan, arguments)
    }
    return try advance()
  }

  private func use(_ plan: ShadowPlan, _ number: Int) {
    row = nil
    self.plan = plan
    planNumber = number
    rowIndexes = [Int](repeating: -1, count: shadow.columns.count)
    for (index, column) in plan.columns.enumerated() { rowIndexes[column] = index + 1 }
  }

  override func advance() throws(SQLiteError) -> Bool {
    search == nil ? try row?.step() == true : try advanceInSearch()
  }

  override var rowID: Int64 { search?.id ?? row?.integer(0) ?? 0 }

  override func give(column: Int, to result: ColumnResult) throws(SQLiteError) {
    if column == shadow.idColumn || column < 0 { return result.set(rowID) }
    guard let row, rowIndexes[column] >= 0 else { return }
    if let search {
      self.search?.isRead = true
      if !search.isLookedUp, try !lookUp(search.id) { throw missing(search.id) }
    }
    result.set(row, column: rowIndexes[column])
  }

  // MARK: By the table

  private func begin(_ plan: ShadowPlan, _ arguments: LentArguments) throws(SQLiteError) {
    // For a value of another kind SQLite may convert the column, which a parameter does not do.
    let passed = plan.conditions.enumerated().map { index, condition in
      let isText = condition.column >= 0 && shadow.columns[condition.column].affinity == .text
      let kind = arguments.kind(index)
      return !(isText && condition.operation.hasValue) || kind == .text || kind == .null
    }
    if row == nil || passed != self.passed {
      row = nil
      row = try shadow.file.connection.prepare(plan.statement(in: shadow, passing: passed))
      self.passed = passed
    }
    guard let row else { return }
    row.reset()
    var parameter = 0
    for (index, condition) in plan.conditions.enumerated()
    where passed[index] && condition.operation.hasValue {
      parameter += 1
      try arguments.bind(index, to: row, at: parameter)
    }
  }

  // MARK: By the R-tree

  private func begin(
    _ relation: SpatialRelation, _ arguments: LentArguments
  ) throws(SQLiteError) {
    guard arguments.kind(0) != .null, let rtree = shadow.layer.rtree else { return }
    let file = shadow.file
    let geometry: PreparedGeometry
    do {
      geometry = try self.geometry(arguments)
    } catch {
      throw SQLiteError(extendedCode: 1, message: "ST_\(relation.functionName)(): \(error)")
    }
    let list = try file.indexes.related(rtree, in: shadow.schema, relation, geometry)
    search = Search(relation: relation, geometry: geometry, list: list)
    if row == nil { row = try file.connection.prepare(lookUpSQL) }
  }

  /// The function's second argument; it must have the layer's reference system.
  private func geometry(_ arguments: LentArguments) throws -> PreparedGeometry {
    try GeometryCall.check(arguments.kind(0), at: 1)
    return try arguments.withBytes(0) { blob in
      let header = try GeometryCall.header(of: blob, at: 1)
      _ = try GeometryTools.common(shadow.systemID, header.srsID)
      return try shadow.file.relations.prepared(blob.extracting(header.bodyOffset...))
    }
  }

  private var lookUpSQL: String {
    let names = ((plan?.columns ?? []) + (readsGeometry ? [] : [shadow.geometryColumn ?? 0]))
      .map { quoted(shadow.columns[$0].name) }
    return "SELECT \(([shadow.id] + names).sqlList) FROM \(shadow.source) "
      + "WHERE \(shadow.id) = ?"
  }

  /// Whether the plan reads columns besides the id and the geometry.
  private var readsAttributes: Bool {
    plan?.columns.contains { $0 != shadow.idColumn && $0 != shadow.geometryColumn } ?? false
  }

  private var readsGeometry: Bool { shadow.geometryColumn.map { rowIndexes[$0] >= 0 } ?? false }

  /// The index of the geometry in a row that was looked up.
  private var geometryIndex: Int {
    guard readsGeometry, let column = shadow.geometryColumn else {
      return (plan?.columns.count ?? 0) + 1
    }
    return rowIndexes[column]
  }

  /// The error for a row that is gone although SQLite has been told of it.
  private func missing(_ id: Int64) -> SQLiteError {
    SQLiteError(
      extendedCode: RTreeReader.damageCode,
      message: "the R-tree \(shadow.layer.rtree ?? "") has feature \(id), which its layer has not")
  }

  /// Looks up the row of an id; returns whether there is one.
  private func lookUp(_ id: Int64) throws(SQLiteError) -> Bool {
    guard let row else { return false }
    row.reset()
    try row.bind(id, at: 1)
    search?.isLookedUp = true
    return try row.step()
  }

  private func advanceInSearch() throws(SQLiteError) -> Bool {
    guard let row, let list = search?.list else { return false }
    // An index may name rows that are gone. A statement that reads nothing but ids, such as a
    // count, trusts the index. A plan with the geometry may need it for the condition alone; the
    // geometry is read where a column of the row before was read.
    let needsRow =
      shadow.layer.lacksIndexTriggers || readsAttributes || search?.next == 0
      || search?.isRead == true
    while let index = search?.next, index < list.ids.count {
      let id = list.ids[index]
      let isMarked = noteVisit(of: id, list)
      if !isMarked, !needsRow { return true }
      guard try lookUp(id) else { continue }
      if !isMarked { return true }
      if try test(row, id) { return true }
    }
    return false
  }

  /// Goes on to the next id; returns whether the R-tree leaves open that its row satisfies the
  /// relation.
  private func noteVisit(of id: Int64, _ list: IDList) -> Bool {
    search?.id = id
    search?.next += 1
    search?.isLookedUp = false
    search?.isRead = false
    guard let next = search?.nextMarked, next < list.marked.count, list.marked[next] == id else {
      return false
    }
    search?.nextMarked = next + 1
    return true
  }

  private func test(_ row: Statement, _ id: Int64) throws(SQLiteError) -> Bool {
    let column = geometryIndex
    guard let search, row.kind(column) == .blob else { return false }
    let answer: Result<Bool?, any Error> = row.withBytes(column) { blob in
      Result { try RelationFunctions.test(search.relation, search.geometry, blob) }
    }
    switch answer {
    case .success(let holds): return holds ?? false
    case .failure(let error):
      throw SQLiteError(
        extendedCode: IndexedLayerTable.damageCode,
        message: "the geometry of feature \(id) in layer '\(shadow.layer.layer.id)' cannot be "
          + "tested: \(error)")
    }
  }
}
