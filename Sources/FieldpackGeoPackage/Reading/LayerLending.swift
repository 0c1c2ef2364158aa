import FieldpackCore
import FieldpackSQLite

/// Gives the rows of one layer to sinks inside the statement's step, which is the fastest way to
/// scan a table.
final class LayerLending {
  private let plan: LayerPlan
  private let statement: SessionStatement
  private let geometry: RowGeometry
  private let values: LentValues
  private let report: QueryReport

  /// What one call of `fill` did.
  struct Filling {
    /// Whether the sink was given the layer and rows.
    var hasBegun = false
    /// Whether more rows may follow.
    var hasMore = true
  }

  /// - Parameter path: one for which the planner's `canLend` is true.
  init(
    _ planner: QueryPlanner, _ path: LayerPath, inRanges: Bool
  ) throws(FieldpackError) {
    let bound = try planner.plan(path, limit: nil, offset: 0, as: inRanges ? .lentRange : .lent)
    plan = bound.plan
    report = planner.report
    statement = try planner.file.prepare(
      plan.statement.text, bound.parameters, in: path.table.layer.id)
    geometry = RowGeometry(
      plan, file: planner.file, skipsErrors: planner.query.skipsErrors, report: planner.report)
    values = LentValues(count: 2 + plan.schema.columns.count)
  }

  var schema: Schema { plan.schema }

  /// Goes before the first row of a range of rowids.
  func restart(_ range: ClosedRange<Int64>) throws(FieldpackError) {
    try statement.restart(range)
  }

  /// The work since the last call, in instructions of SQLite's virtual machine.
  func takeSteps() -> Int { statement.row.takeSteps() }

  /// Gives `sink` the layer and the next rows until it is full.
  func fill<Sink: FeatureSink>(
    _ sink: inout Sink, until isFull: (inout Sink) -> Bool = { _ in false }
  ) throws(FieldpackError) -> Filling {
    var filling = Filling()
    var failure: FieldpackError?
    filling.hasMore = try statement.step(reportingTo: report, lending: values) {
      do throws(FieldpackError) {
        guard let body = try geometry.body(of: values.row) else { return true }
        if !filling.hasBegun {
          try sink.begin(plan.schema)
          filling.hasBegun = true
        }
        try sink.feature(geometry.row(values.row, body))
        return !isFull(&sink)
      } catch {
        failure = error
        return false
      }
    }
    if let failure { throw failure }
    return filling
  }
}
