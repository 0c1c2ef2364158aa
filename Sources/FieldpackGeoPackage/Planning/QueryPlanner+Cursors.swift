import FieldpackCore
import FieldpackSQLite

extension QueryPlanner {
  /// The cursor of the query's only layer. Where an earlier query of the same shape has left one, it is used
  /// again: to make one takes longer than to find a row by its id.
  func cursor(_ path: LayerPath) throws(FieldpackError) -> LayerCursor {
    let plan = try plan(path, limit: query.limit, offset: query.offset)
    if let cursor = known?.takeCursor(key(path.table)),
      cursor.plan.statement.text == plan.statement.text
    {
      try cursor.restart(plan, report: report)
      return cursor
    }
    return try LayerCursor(plan, file: file, skipsErrors: query.skipsErrors, report: report)
  }

  /// Takes a cursor of ``cursor(_:)`` back, which nobody uses any more.
  func giveBack(_ cursor: LayerCursor) {
    guard let known, cursor.plan.looksForBox || cursor.plan.numberIndex != nil else { return }
    cursor.rest()
    known.giveBack(cursor, key(cursor.plan.table))
  }

  private func key(_ table: LayerTable) -> PlanCache.Key {
    PlanCache.Key(table: table.table, limit: query.limit, offset: query.offset, form: .rows)
  }
}
