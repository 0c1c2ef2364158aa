import Fieldpack
import FieldpackCore
import FieldpackGeometry

extension FieldpackTool {
  static var explainCommand: Command {
    Command(
      "explain", abstract: "Show how a query is answered: SQL, plan, rows, time.",
      discussion: """
        The query runs, and its rows are counted but not shown. The rows estimated are those \
        that the R-tree finds; without an R-tree, all rows of the table.
        """,
      examples: [
        "fieldpack explain field.gpkg wells --bbox 7,46,8,47 --where \"depth > 20\"",
        "fieldpack explain field.gpkg --srs EPSG:25832 --json",
      ],
      family: sqlFamily, body: ExplainCommand.self)
  }
}

/// `fieldpack explain`.
private struct ExplainCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    let onlyPlans: Bool
    let query: QueryArguments
    let opening: SourceArguments

    init(_ reader: inout OptionReader) {
      _source = reader.source()
      onlyPlans = reader.flag("no-run", help: "Do not run the query.")
      query = reader.group()
      opening = reader.group()
    }
  }

  let invocation: Invocation
  let options: Options

  /// What is told of one layer.
  private struct Told {
    var explanation: Explanation
    var estimatedRows: Int?
    var rows: Int?
    var duration: Duration?
  }

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.answer(options.source, options.opening, options.query) {
      (source, query) async throws(FieldpackError) in try await explain(query, of: source.workspace)
    }
  }

  private func explain(
    _ query: Query, of workspace: Workspace
  ) async throws(FieldpackError) -> Int32 {
    var explanations: [Told] = []
    let prepared = try await workspace.prepare(query)
    // Which layers are left out and which stores are down is known before anything is read.
    let planned = try await prepared.batches().report.current
    let whole = QueryReport()
    for note in planned.notes { whole.add(note: note) }
    for failure in planned.failures { whole.add(failure: failure) }
    var stores: Set<StoreID> = []
    for explanation in try await prepared.explain() {
      let isFirst = stores.insert(explanation.store).inserted
      explanations.append(
        try await told(explanation, query, of: workspace, isFirst: isFirst, whole))
    }
    let report = whole.current
    if invocation.isJSON {
      try invocation.print([
        "layers": .array(explanations.map(document)),
        "stores": .stores(of: workspace, asked: query.stores, failures: report.failures),
        "skipped": JSONValue(report.skipped),
        "notes": JSONValue(report.notes),
      ])
    } else {
      try invocation.print(explanations.map(text).joined(separator: "\n"))
    }
    try invocation.output.flush()
    return invocation.finish(report, skipsErrors: query.skipsErrors)
  }

  /// - Parameters:
  ///   - isFirst: whether it is the first layer of its store.
  ///   - report: takes over what reading the layer told.
  private func told(
    _ explanation: Explanation, _ query: Query, of workspace: Workspace, isFirst: Bool,
    _ report: QueryReport
  ) async throws(FieldpackError) -> Told {
    let asked = query.in(stores: [explanation.store]).in(layers: [explanation.layer])
    let store = try workspace.store(explanation.store)
    var told = Told(explanation: explanation)
    let prepared = try await store.prepare(asked)
    told.estimatedRows = try await prepared.estimatedRows()[explanation.layer]
    guard !options.onlyPlans else { return told }
    let begun = ContinuousClock.now
    let batches = try await prepared.batches()
    // What a file could not be read with, each of its layers tells before its first row.
    let known = isFirst ? nil : batches.report.current
    let iterator = batches.makeAsyncIterator()
    var rows = 0
    while let batch = try await iterator.next() { rows += batch.count }
    (told.rows, told.duration) = (rows, ContinuousClock.now - begun)
    report.merge(batches.report, beyond: known)
    return told
  }

  private static func rows(_ told: Told) -> String? {
    let estimated = told.estimatedRows.map { "\($0) estimated" }
    var read: String?
    if let rows = told.rows, let duration = told.duration {
      read = RowFigures.text(rows, duration)
    }
    let parts = [estimated, read].compactMap { $0 }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }

  private func text(_ told: Told) -> String {
    let explanation = told.explanation
    var lines = ["\(explanation.store)/\(explanation.layer)", "  SQL"]
    let width = max(40, invocation.console.terminal.width - 4)
    lines += TextWrap.lines(DisplayText.visible(explanation.sql), width: width).map { "    " + $0 }
    if !explanation.parameters.isEmpty {
      lines.append("  parameters")
      for (index, parameter) in explanation.parameters.enumerated() {
        lines.append("    \(index + 1)  \(Self.text(parameter))")
      }
    }
    lines.append("  plan")
    lines += explanation.plan.map { "    " + $0 }
    if let rows = Self.rows(told) { lines += ["  rows", "    \(rows)"] }
    if let transformation = explanation.transformation {
      lines += ["  transformation", "    \(transformation.line)"]
    }
    return lines.map { DisplayText.visible($0) + "\n" }.joined()
  }

  private static func text(_ value: Value) -> String {
    switch value {
    case .null: "NULL"
    case .boolean(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let value): "'\(value.replacing("'", with: "''"))'"
    case .blob(let bytes): "\(bytes.count) bytes of WKB"
    case .date(let value): "\(value)"
    case .dateTime(let value): "\(value)"
    }
  }

  private func document(_ told: Told) -> JSONValue {
    let explanation = told.explanation
    return [
      "store": .text(explanation.store.rawValue), "layer": .text(explanation.layer.rawValue),
      "sql": .text(explanation.sql),
      "parameters": .array(explanation.parameters.map(Self.document)),
      "plan": JSONValue(explanation.plan),
      "transformation": explanation.transformation.map { JSONValue($0) } ?? nil,
      "estimated_row_count": told.estimatedRows.map { JSONValue($0) } ?? nil,
      "row_count": told.rows.map { JSONValue($0) } ?? nil,
      "duration_ms": told.duration.map { JSONValue($0) } ?? nil,
    ]
  }

  private static func document(_ value: Value) -> JSONValue {
    switch value {
    case .null: nil
    case .boolean(let value): .boolean(value)
    case .integer(let value): .integer(value)
    case .real(let value): .real(value)
    case .text(let value): .text(value)
    case .blob(let bytes): ["size_bytes": JSONValue(bytes.count)]
    case .date(let value): .text(value.description)
    case .dateTime(let value): .text(value.description)
    }
  }
}
