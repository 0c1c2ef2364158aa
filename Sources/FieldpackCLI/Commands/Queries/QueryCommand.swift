import Fieldpack
import FieldpackCore
import FieldpackGeometry

extension FieldpackTool {
  static var queryCommand: Command {
    Command(
      "query", abstract: "Show the features of a source that meet conditions.",
      discussion: """
        Prints a table; on a terminal the first 100 rows. GeoJSON and GPX are in longitude and \
        latitude unless --srs says otherwise; tables and CSV keep the SRS of each layer. With \
        --json one document holds the features of all layers with their key tuples.
        """,
      examples: [
        "fieldpack query field.gpkg wells --where \"depth > 20 AND name LIKE 'N%'\"",
        "fieldpack query survey.scfg --bbox 7,46,8,47 --sort -depth --limit 10",
        "fieldpack query walk.gpx track_points --format geojson > points.geojson",
      ],
      body: QueryCommand.self)
  }
}

/// `fieldpack query`.
private struct QueryCommand: CommandBody {
  enum OutputFormat: String, CaseIterable {
    case table, geojson, geojsonl, csv, gpx
  }

  struct Options: OptionGroup {
    @Required var source: SourceName
    let format: OutputFormat?
    let onlyCounts: Bool
    let writesKeys: Bool
    let query: QueryArguments
    let opening: SourceArguments

    init(_ reader: inout OptionReader) {
      _source = reader.source()
      format = reader.value(
        "format", .choice("format"), help: "What to print; a table by default.")
      onlyCounts = reader.flag(
        "count", help: "Print only the number of features, of all layers together.")
      writesKeys = reader.keys()
      query = reader.group()
      opening = reader.group()
    }
  }

  /// The rows that a terminal shows where no limit is given.
  static let terminalRows = 100

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try check()
    return try await invocation.answer(options.source, options.opening, options.query) {
      (source, query) async throws(FieldpackError) in try await answer(query, from: source)
    }
  }

  private func check() throws(FieldpackError) {
    let given = options.format.map { "--format \($0.rawValue)" }
    let counts = options.onlyCounts ? "--count" : nil
    let json = invocation.isJSON ? "--json" : nil
    let pair: (String, String)? =
      if let given, let json { (given, json) } else if let given, let counts {
        (given, counts)
      } else { nil }
    guard let pair else { return }
    throw FieldpackError(
      .invalidArgument, "\(pair.0) and \(pair.1) cannot be given together")
  }

  private func answer(
    _ query: Query, from source: OpenedSource
  ) async throws(FieldpackError) -> Int32 {
    if options.onlyCounts {
      return try await FeatureCounts(invocation: invocation, source: source, query: query).print()
    }
    if invocation.isJSON {
      return try await QueryDocument(invocation: invocation, source: source, query: query).print()
    }
    let format = options.format ?? .table
    guard let written = Format.named(format.rawValue) else {
      return try await printTable(query, from: source.workspace)
    }
    var writing = ExportOptions()
    writing.logger = invocation.logger
    writing.writesKeys = options.writesKeys
    writing.skipsErrors = query.skipsErrors
    return try await invocation.write(query, from: source, as: written, writing)
  }

  // MARK: Tables

  private func printTable(
    _ query: Query, from workspace: Workspace
  ) async throws(FieldpackError) -> Int32 {
    let cuts = invocation.console.terminal.isOutputTerminal && query.limit == nil
    let shown = cuts ? query.limit(Self.terminalRows + 1, offset: query.offset) : query
    let prepared = try await workspace.prepare(shown)
    var table = FeatureTable(prepared.targets, style: style(query, prepared.targets))
    let batches = try await prepared.batches()
    let iterator = batches.makeAsyncIterator()
    let output = invocation.output
    var count = 0
    while let batch = try await iterator.next() {
      let rows = cuts ? batch.first(Self.terminalRows - count) : batch
      count += batch.count
      if !rows.isEmpty { table.add(rows, to: &output.buffer) }
      try output.flushIfFull()
    }
    table.finish(to: &output.buffer)
    if cuts, count > Self.terminalRows { try await printRest(query, workspace) }
    try output.flush()
    if table.hiddenColumns > 0 {
      invocation.console.note(
        "\(table.hiddenColumns) columns are not shown. Try: --select, or a wider terminal")
    }
    for transformed in prepared.moved { invocation.note(transformed) }
    return invocation.finish(batches.report.current, skipsErrors: query.skipsErrors)
  }

  private func style(_ query: Query, _ targets: [ExportTarget]) -> FeatureTable.Style {
    let terminal = invocation.console.terminal
    return FeatureTable.Style(
      writesKeys: options.writesKeys,
      isMerged: query.isOrdered && targets.count > 1, width: terminal.cutWidth,
      usesUnicode: terminal.usesUnicode || !terminal.isOutputTerminal)
  }

  private func printRest(_ query: Query, _ workspace: Workspace) async throws(FieldpackError) {
    let rest = try await workspace.count(query) - Self.terminalRows
    guard rest > 0 else { return }
    try invocation.print(
      "\(rest) more. Try: --limit \(Self.terminalRows + rest), or a narrower query\n")
  }
}

extension Invocation {
  /// Tells what a query had to say, and gives the command's status.
  func finish(_ contents: QueryReport.Contents, skipsErrors: Bool) -> Int32 {
    for note in contents.notes { console.note(note) }
    report(contents.skipped)
    report(contents.failures)
    return status(
      failures: contents.failures, skippedCount: contents.skipped.count, skipsErrors: skipsErrors)
  }

  func note(_ transformed: ExportReport.Transformed) {
    console.note("layer '\(transformed.layer)': \(transformed.report.line)")
  }
}

extension FeatureBatch {
  /// The first rows.
  fileprivate func first(_ limit: Int) -> FeatureBatch {
    if limit >= count { return self }
    var batch = FeatureBatch(store: store, schema: schema)
    for index in 0..<max(0, limit) { batch.append(self[index]) }
    return batch
  }
}
