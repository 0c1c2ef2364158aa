import Fieldpack
import FieldpackCore
import FieldpackSQL

extension FieldpackTool {
  static var motionListCommand: Command {
    Command(
      "list", abstract: "List the sessions of a GeoPackage.",
      examples: ["fieldpack motion list field.gpkg"], body: MotionListCommand.self)
  }

  static var motionExportCommand: Command {
    Command(
      "export", abstract: "Write the samples of a session as CSV, or draw its channels.",
      discussion: """
        The file's name tells the format: .csv has a row for each sample, .svg the channels over \
        time.
        """,
      examples: [
        "fieldpack motion export field.gpkg --output motion.svg",
        "fieldpack motion export field.gpkg --last 10 --channel az --output shake.csv",
      ],
      body: MotionExportCommand.self)
  }
}

/// `fieldpack motion list`.
private struct MotionListCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String

    init(_ reader: inout OptionReader) { _file = reader.motionFile() }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withGeoPackage(options.file) { (store) throws(FieldpackError) in
      try show(try await store.motionSessions())
      return ExitStatus.success
    }
  }

  private func show(_ sessions: [StoredMotionSession]) throws(FieldpackError) {
    if invocation.isJSON {
      return try invocation.print(["sessions": .array(sessions.map(\.document))])
    }
    guard !sessions.isEmpty else { return invocation.console.note("there is no motion") }
    try invocation.printTable(
      [
        TableColumn("session"), TableColumn("device"), TableColumn("first"),
        TableColumn("seconds", isNumeric: true), TableColumn("rate", isNumeric: true),
        TableColumn("samples", isNumeric: true), TableColumn("state"),
      ],
      sessions.map { session in
        [
          session.session.id, session.session.device.name,
          session.first.map { Instant(nearestTo: $0).description } ?? "",
          session.seconds.map { Decimals.text($0, digits: 2) } ?? "", session.session.rateText,
          "\(session.sampleCount)", session.session.revokedAt == nil ? "open" : "revoked",
        ]
      })
  }
}

/// `fieldpack motion export`.
private struct MotionExportCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let session: String?
    let output: OutputArguments
    let last: Double?
    let channels: [MotionChannel]

    init(_ reader: inout OptionReader) {
      _file = reader.motionFile()
      session = reader.session()
      output = reader.group()
      last = reader.lastSeconds()
      channels = reader.channels()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try options.output.check(invocation)
    let isDrawing = options.output.path.lowercased().hasSuffix(".svg")
    guard isDrawing || options.output.isStandard || Format.byExtension(options.output.path) == .csv
    else {
      throw FieldpackError(
        .invalidArgument,
        "motion is written as CSV or SVG. Try: --output with a name in .csv or .svg")
    }
    return try await invocation.withGeoPackage(options.file) { (store) throws(FieldpackError) in
      let session = try await store.motionSession(named: options.session)
      let output = try options.output.open(invocation)
      let count =
        isDrawing
        ? try await draw(session, of: store, to: output)
        : try await write(session, of: store, to: output)
      guard !options.output.isStandard else { return ExitStatus.success }
      try output.finish()
      try show(session, count)
      return ExitStatus.success
    }
  }

  private func draw(
    _ session: StoredMotionSession, of store: GeoPackageStore, to output: ByteOutput
  ) async throws(FieldpackError) -> Int {
    let samples = try await store.motionSamples(ofSession: session.session.id, last: options.last)
    let device = session.session.device.name
    let plot = MotionPlot(
      title: device.isEmpty ? session.session.id : device,
      subtitle: "session \(session.session.id), \(samples.count.counting("sample")) at "
        + "\(session.session.rateText)"
        + (samples.first.map { ", from \($0.instant.description)" } ?? ""),
      samples: samples, channels: samples.channels(among: options.channels),
      gapSeconds: max(1, 3 / session.session.rate))
    output.buffer.append(contentsOf: plot.bytes())
    return samples.count
  }

  private func write(
    _ session: StoredMotionSession, of store: GeoPackageStore, to output: ByteOutput
  ) async throws(FieldpackError) -> Int {
    let channels = MotionChannel.allCases.filter {
      options.channels.isEmpty || options.channels.contains($0)
    }
    let query = MotionQuery.samples(
      ofSession: session.session.id, channels, last: options.last)
    var rows = SQLOutput(csv: output)
    var count = 0
    for try await batch in store.rows(sql: query.sql, parameters: query.parameters) {
      try rows.begin(batch.columns, sample: batch.rows)
      for row in batch.rows { try rows.add(row) }
      count += batch.rows.count
    }
    try rows.begin(["t_unix"] + channels.map(\.rawValue), sample: [])
    try rows.finish()
    return count
  }

  private func show(_ session: StoredMotionSession, _ count: Int) throws(FieldpackError) {
    let path = options.output.path
    if invocation.isJSON {
      try invocation.print([
        "output": .text(path), "session": .text(session.session.id),
        "sample_count": JSONValue(count),
      ])
    } else {
      try invocation.print("\(DisplayText.visible(path)): \(count.counting("sample"))\n")
    }
  }
}
