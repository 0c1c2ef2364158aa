import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// Walks the rows of several layers: one layer after the other, or merged where the query has an
/// order.
///
/// With one layer the statement applies limit and offset itself.
final class QueryWalk {
  private let planner: QueryPlanner
  private var waiting: ArraySlice<LayerPath>
  private var cursors: [LayerCursor] = []
  private var current: LayerCursor?
  private var toSkip: Int
  private var toGive: Int
  /// The schemas of layers that have given no row.
  private(set) var unannounced: [Schema] = []

  init(planner: QueryPlanner, paths: [LayerPath]) throws(FieldpackError) {
    self.planner = planner
    let query = planner.query
    toSkip = query.offset
    toGive = query.limit ?? .max
    waiting = paths[...]
    // SQL cannot count here, because skipped rows do not count for limit and offset.
    if paths.count == 1, !query.mayPassOver {
      cursors = [try planner.cursor(paths[0], limit: query.limit, offset: query.offset)]
      (toSkip, toGive, waiting) = (0, .max, [])
      unannounced.append(cursors[0].schema)
    } else if query.isOrdered {
      let limit = query.mayPassOver ? nil : query.rowsNeeded
      for path in paths {
        let cursor = try planner.cursor(path, limit: limit, offset: 0)
        unannounced.append(cursor.schema)
        if try cursor.advance() { cursors.append(cursor) }
      }
      waiting = []
    }
    // The cursors of a merge are already on their first row.
    isMerging = query.isOrdered && (paths.count > 1 || query.mayPassOver)
    directions = query.nearest == nil ? query.order.map(\.isDescending) : [false]
  }

  private let isMerging: Bool
  /// Whether each sort key descends.
  private let directions: [Bool]

  /// The cursor on the next row; `nil` at the end.
  func next() throws(FieldpackError) -> LayerCursor? {
    while toGive > 0, let cursor = isMerging ? try nextMerged() : try nextInTurn() {
      if toSkip > 0 {
        toSkip -= 1
        continue
      }
      if toGive != .max { toGive -= 1 }
      if !cursor.hasGivenRows {
        cursor.hasGivenRows = true
        unannounced.removeAll { $0.layer == cursor.schema.layer }
      }
      return cursor
    }
    while let path = waiting.popFirst() {
      unannounced.append(planner.query.shape(path.table.schema, hasLogs: true))
    }
    return nil
  }

  private func nextInTurn() throws(FieldpackError) -> LayerCursor? {
    while true {
      if let cursor = cursors.first {
        if try cursor.advance() { return cursor }
        cursors.removeFirst()
      } else if let path = waiting.popFirst() {
        let cursor = try planner.cursor(path, limit: nil, offset: 0)
        unannounced.append(cursor.schema)
        cursors = [cursor]
      } else {
        return nil
      }
    }
  }

  private func nextMerged() throws(FieldpackError) -> LayerCursor? {
    if let last = current {
      current = nil
      if try !last.advance() { cursors.removeAll { $0 === last } }
    }
    guard var best = cursors.first else { return nil }
    for cursor in cursors.dropFirst() where precedes(cursor.keys, best.keys) { best = cursor }
    current = best
    return best
  }

  private func precedes(_ a: [SQLiteValue], _ b: [SQLiteValue]) -> Bool {
    for (index, isDescending) in directions.enumerated() {
      let (left, right) = (Value(a[index]), Value(b[index]))
      if left.sorts(before: right) { return !isDescending }
      if right.sorts(before: left) { return isDescending }
    }
    return false
  }
}

extension QueryPlanner {
  func cursor(
    _ path: LayerPath, limit: Int?, offset: Int
  ) throws(FieldpackError) -> LayerCursor {
    try LayerCursor(
      plan(path, limit: limit, offset: offset), file: file, skipsErrors: query.skipsErrors,
      report: report)
  }
}
