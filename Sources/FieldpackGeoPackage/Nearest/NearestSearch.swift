import FieldpackCore
import FieldpackGeometry
import FieldpackRTree
import FieldpackSQLite

/// A feature and its distance. The nearer one sorts first, then the smaller id.
struct MeasuredFeature: Comparable, HeapElement {
  var id: Int64
  var distance: Double

  static func < (a: MeasuredFeature, b: MeasuredFeature) -> Bool {
    a.distance == b.distance ? a.id < b.id : a.distance < b.distance
  }

  /// Puts the farthest feature first in a heap, so that a nearer one can replace it.
  func precedes(_ other: MeasuredFeature) -> Bool { self > other }
}

/// Finds the features of one layer that match a query's filter and are nearest to a geometry.
struct NearestSearch {
  let planner: QueryPlanner
  let table: LayerTable
  let measure: DistanceMeasure
  /// The number of features to find; `nil` for all.
  let count: Int?
  let maximum: Double
  private var found = Heap<MeasuredFeature>()
  private var file: GeoPackageSession { planner.file }

  init(
    _ planner: QueryPlanner, _ table: LayerTable, _ measure: DistanceMeasure, count: Int?,
    maximum: Double?
  ) {
    self.planner = planner
    self.table = table
    self.measure = measure
    self.count = count
    self.maximum = maximum ?? .infinity
  }

  /// How many rows are looked up one by one while the filter rejects most of them. After that the
  /// whole layer is scanned instead.
  private static let patience = 10_000

  mutating func run() throws(FieldpackError) -> [MeasuredFeature] {
    guard count != 0, maximum >= 0 else { return [] }
    let isDone = try walkIndex()
    if !isDone { try goThrough() }
    return found.elements.sorted()
  }

  /// The distance beyond which no feature is wanted.
  private var limit: Double {
    guard let count, found.count >= count, let worst = found.first else { return maximum }
    return min(maximum, worst.distance)
  }

  private mutating func take(_ feature: MeasuredFeature) {
    guard feature.distance <= maximum else { return }
    if let count, found.count >= count {
      guard let worst = found.first, feature < worst else { return }
      found.replaceFirst(feature)
    } else {
      found.insert(feature)
    }
  }

  // MARK: R-tree

  /// Searches by the R-tree. Returns `false` where there is none, or where the filter rejects too
  /// many features.
  private mutating func walkIndex() throws(FieldpackError) -> Bool {
    guard let rtree = table.rtree, let id = table.idSQL, !table.layer.isView,
      let geometry = table.schema.geometry
    else { return false }
    if count == nil, maximum == .infinity { return false }
    let condition = try planner.lowering(table).condition(planner.filter(table))
    let sql =
      "SELECT \(quoted(geometry.name)) FROM \(quoted(table.table)) WHERE \(id) = ? "
      + "AND \(condition.text)"
    let isBelieved = try file.sql(layer: table.layer.id) { () throws(SQLiteError) in
      try file.indexes.isBelieved(rtree)
    }
    guard isBelieved else {
      file.reportIndexes(to: planner.report)
      return false
    }
    do throws(FieldpackError) {
      return try walk(rtree, sql, condition)
    } catch  where error.isRTreeDamage {
      file.indexes.disbelieve(rtree)
      file.reportIndexes(to: planner.report)
      found = Heap()
      return false
    }
  }

  private mutating func walk(
    _ rtree: String, _ sql: String, _ condition: SQLFragment
  ) throws(FieldpackError) -> Bool {
    let measure = measure
    var search = try file.sql(layer: table.layer.id) { () throws(SQLiteError) in
      try RTreeSearch(file.indexes.reader(rtree), boundsEntries: !measure.transforms) {
        measure.leastDistance(to: $0)
      }
    }
    var examined = 0
    while let id = try next(&search) {
      examined += 1
      if condition != .isTrue, examined > Self.patience,
        examined > 10 * found.count
      {
        found = Heap()
        return false
      }
      let distance = try look(up: sql, [.integer(id)] + condition.parameters, id)
      if let distance { take(MeasuredFeature(id: id, distance: distance)) }
    }
    return true
  }

  private func next(_ search: inout RTreeSearch) throws(FieldpackError) -> Int64? {
    try file.sql(layer: table.layer.id) { () throws(SQLiteError) in
      try search.next(within: limit)
    }
  }

  /// The distance of one feature; `nil` where it does not exist, has no geometry, or does not match
  /// the filter.
  private func look(
    up sql: String, _ values: [SQLiteValue], _ id: Int64
  ) throws(FieldpackError) -> Double? {
    let statement = try file.prepare(sql, values, in: table.layer.id)
    defer { statement.reset() }
    guard try statement.step(reportingTo: planner.report) else { return nil }
    return try distance(statement.row, 0, id)
  }

  // MARK: Rows

  /// Measures all features that match the filter, except those that are surely too far away.
  private mutating func goThrough() throws(FieldpackError) {
    guard let geometry = table.schema.geometry else { return }
    let access = try planner.lowering(table).access(planner.filter(table))
    let rows: SQLFragment = """
      SELECT \(access.id), \(quoted(geometry.name)) FROM \(access.source) \
      WHERE \(access.condition)
      """
    let statement = try file.prepare(reading: table, rows.text, rows.parameters)
    defer { statement.reset() }
    while try statement.step(reportingTo: planner.report) {
      let id = statement.row.integer(0)
      if let distance = try distance(statement.row, 1, id) {
        take(MeasuredFeature(id: id, distance: distance))
      }
    }
  }

  private func distance(
    _ statement: Statement, _ column: Int, _ id: Int64
  ) throws(FieldpackError) -> Double? {
    guard statement.kind(column) != .null else { return nil }
    do {
      return try statement.withBytes(column) { blob throws -> Double? in
        let header = try GeoPackageBinary(blob)
        if header.isFlaggedEmpty || header.isExtended { return nil }
        if let envelope = header.envelope, !measure.transforms,
          measure.leastDistance(to: envelope) > limit
        {
          return nil
        }
        return try measure.distance(to: blob.extracting(header.bodyOffset...))
      }
    } catch {
      let error = file.damaged("\(error)", .integer(id), in: table.layer.id)
      guard planner.query.skipsErrors else { throw error }
      planner.report.add(
        skipped: SkippedFeature(error))
      return nil
    }
  }
}
