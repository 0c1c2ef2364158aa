import FieldpackCore
import FieldpackSQLite

/// Walks the rows of one layer's statement and transforms geometries on the way.
final class LayerCursor {
  let plan: LayerPlan
  private let statement: SessionStatement
  private let report: QueryReport
  private let geometry: RowGeometry
  private let values: LentValues
  private var body = SQLRow.Body.absent
  /// Whether the caller has been given a row.
  var hasGivenRows = false

  init(
    _ bound: BoundPlan, file: GeoPackageSession, skipsErrors: Bool, report: QueryReport
  ) throws(FieldpackError) {
    plan = bound.plan
    self.report = report
    // Where another cursor uses the cached statement, this one gets its own.
    statement = try file.prepare(reading: plan.table, plan.statement.text, bound.parameters)
    geometry = RowGeometry(plan, file: file, skipsErrors: skipsErrors, report: report)
    values = LentValues(count: 2 + plan.schema.columns.count)
  }

  var schema: Schema { plan.schema }

  /// The cursor's current row.
  var row: SQLRow { geometry.row(values.row, body) }

  /// Goes before the first row of a range of rowids. The plan must be one for ranges.
  func restart(_ range: ClosedRange<Int64>) throws(FieldpackError) {
    try statement.restart(range)
  }

  /// The work since the last call, in instructions of SQLite's virtual machine.
  func takeSteps() -> Int { statement.row.takeSteps() }

  /// Goes to the next row that is not skipped; `false` at the end.
  func advance() throws(FieldpackError) -> Bool {
    while try statement.step(reportingTo: report) {
      statement.row.lend(values)
      if let body = try geometry.body(of: values.row) {
        self.body = body
        return true
      }
    }
    return false
  }

  /// The sort keys of the current row.
  var keys: [SQLiteValue] {
    let first = 2 + schema.columns.count
    return (first..<first + plan.sortKeys).map { statement.row.value($0) }
  }
}
