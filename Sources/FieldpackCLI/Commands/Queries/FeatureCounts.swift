import Fieldpack
import FieldpackCore

/// `query --count`: how many features there are.
struct FeatureCounts {
  let invocation: Invocation
  let source: OpenedSource
  let query: Query

  func print() async throws(FieldpackError) -> Int32 {
    let report = QueryReport()
    let total = try await source.workspace.count(query, report: report)
    if invocation.isJSON {
      try invocation.print(try await document(total, report.current))
    } else {
      try invocation.print("\(total)\n")
      try invocation.output.flush()
    }
    return invocation.finish(report.current, skipsErrors: query.skipsErrors)
  }

  /// The counts of layers are those without limit and offset, which hold for all together.
  private func document(
    _ total: Int, _ report: QueryReport.Contents
  ) async throws(FieldpackError) -> JSONValue {
    var layers: [JSONValue] = []
    for target in try await source.workspace.prepare(query).targets {
      let one = query.withoutLimit().in(layers: [target.layer]).in(stores: [target.store])
      let count = try await source.workspace.count(one)
      layers.append([
        "store": .text(target.store.rawValue), "layer": .text(target.layer.rawValue),
        "count": JSONValue(count),
      ])
    }
    return [
      "count": JSONValue(total), "layers": .array(layers),
      "stores": .stores(of: source.workspace, asked: query.stores, failures: report.failures),
      "skipped": JSONValue(report.skipped), "notes": JSONValue(report.notes),
    ]
  }
}
