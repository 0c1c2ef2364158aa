import FieldpackCore
import FieldpackSQLite

/// Gives the rows of layers, one after the other, to one sink.
struct LayerScan {
  let planner: QueryPlanner

  /// Layers without a match are announced last, so that a writer knows their columns.
  func give(
    _ paths: [LayerPath], to sink: inout some FeatureSink
  ) throws(FieldpackError) {
    var unannounced: [Schema] = []
    for path in paths {
      let schema =
        if planner.canLend(path) {
          try lend(path, to: &sink)
        } else {
          try step(through: path, to: &sink)
        }
      if let schema { unannounced.append(schema) }
    }
    for schema in unannounced { try sink.begin(schema) }
  }

  /// Gives the layer's rows to the sink. Returns the schema where there was no row.
  private func lend(
    _ path: LayerPath, to sink: inout some FeatureSink
  ) throws(FieldpackError) -> Schema? {
    let lending = try LayerLending(planner, path, inRanges: false)
    let filling = try planner.file.connection.withFewPages { () throws(FieldpackError) in
      try lending.fill(&sink)
    }
    return filling.hasBegun ? nil : lending.schema
  }

  private func step(
    through path: LayerPath, to sink: inout some FeatureSink
  ) throws(FieldpackError) -> Schema? {
    let plan = try planner.plan(path, limit: nil, offset: 0)
    guard path.search.part != nil else { return try step(through: plan, to: &sink) }
    // The rows are looked up in the order of their ids.
    return try planner.file.connection.withFewPages { () throws(FieldpackError) in
      try step(through: plan, to: &sink)
    }
  }

  private func step(
    through plan: BoundPlan, to sink: inout some FeatureSink
  ) throws(FieldpackError) -> Schema? {
    let cursor = try LayerCursor(
      plan, file: planner.file, skipsErrors: planner.query.skipsErrors, report: planner.report)
    guard try cursor.advance() else { return cursor.schema }
    try sink.begin(cursor.schema)
    repeat { try sink.feature(cursor.row) } while try cursor.advance()
    return nil
  }
}
