import Fieldpack
import FieldpackCore

extension FieldpackTool {
  static var motionCommand: Command {
    Command(
      "motion", abstract: "Keep, post, list, show and export motion, and place it on tracks.",
      subcommands: [
        motionImportCommand, motionPostCommand, motionListCommand, motionShowCommand,
        motionExportCommand, motionJoinCommand, motionDeleteCommand,
      ],
      family: positionsFamily)
  }

  private static var motionImportCommand: Command {
    Command(
      "import", abstract: "Import recorded requests of motion devices.",
      discussion: """
        A file is one body of the DaCo protocol as JSON, or a log with one request a line: the \
        body alone, or an object that holds it as "body" beside "time" (Unix seconds), "status" \
        and "response" (of a start the session's id). Requests with another status than 200 are \
        counted and left out. Without responses a start belongs to the next new session. Batches \
        that the GeoPackage has are left out, so a second import changes nothing.
        """,
      examples: ["fieldpack motion import requests.jsonl --into field.gpkg"],
      body: MotionImportCommand.self)
  }

  private static var motionDeleteCommand: Command {
    Command(
      "delete", abstract: "Delete sessions with their samples, and what joining made of them.",
      discussion: "All of the sessions are deleted, or none is.",
      examples: ["fieldpack motion delete field.gpkg 2c963f66-afa6-4562-b3fc-2c963f66afa6"],
      body: MotionDeleteCommand.self)
  }

  private static var motionJoinCommand: Command {
    Command(
      "join", abstract: "Place samples on a track by their times.",
      discussion: """
        Each sample becomes a point of the layer motion_point, with its twelve channels and its \
        time as M, between the two positions of the track around its time. A session becomes a \
        line of motion_track. A sample without such positions, or with positions farther apart \
        in time than --max-gap, stays a row of daco_sample. Joining a session again replaces its \
        features. The track is a layer of points with times, a layer of lines whose M is Unix \
        seconds, or the points of captures.
        """,
      examples: [
        "fieldpack motion join field.gpkg walk.gpx",
        "fieldpack motion join field.gpkg field.gpkg:track_point --max-gap 30",
        "fieldpack motion join field.gpkg captures.gpkg --capture 338d2c23…358d",
      ],
      body: MotionJoinCommand.self)
  }
}

extension OptionReader {
  mutating func motionFile() -> Required<String> { geoPackage("The GeoPackage with the motion.") }

  mutating func sessions() -> [String] {
    values("session", .text("uuid"), help: "Only this session; may be repeated.")
  }
}

/// `fieldpack motion delete`.
private struct MotionDeleteCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let sessions: [String]
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _file = reader.motionFile()
      sessions = reader.arguments(.text("session"), minimum: 1, help: "The ids of sessions.")
      profile = reader.profile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withGeoPackage(options.file, options.profile, usesWAL: false) {
      (store) throws(FieldpackError) in
      var sessions: [String] = []
      for id in options.sessions where !sessions.contains(id) { sessions.append(id) }
      try invocation.print(try await store.deleteMotion(sessions: sessions))
      return ExitStatus.success
    }
  }
}

/// `fieldpack motion import`.
private struct MotionImportCommand: CommandBody {
  struct Options: OptionGroup {
    let logs: [String]
    @Required var into: String
    let rate: Double
    let skipsErrors: Bool
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      logs = reader.arguments(
        .file("file", "json", "jsonl", "ndjson"), minimum: 1, help: "The recorded requests.")
      _into = reader.required(
        "into", .target, help: "The GeoPackage to import into; made where missing.")
      rate = reader.value(
        "rate", .number("hz", atLeast: 0.001), default: MotionSession.standardRate,
        shownAs: "50", help: "Samples a second of new sessions.")
      skipsErrors = reader.skipErrors()
      profile = reader.profile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let path = options.into
    let report = try await invocation.withNewGeoPackage(path, options.profile) {
      (store) throws(FieldpackError) in
      try await store.importMotion(
        from: options.logs, rate: options.rate, skipsErrors: options.skipsErrors)
    }
    try show(report, path)
    return report.skipped > 0 ? ExitStatus.skippedFeatures : ExitStatus.success
  }

  private func show(_ report: MotionImportReport, _ path: String) throws(FieldpackError) {
    if invocation.isJSON {
      return try invocation.print(report.document(path))
    }
    try invocation.print(
      "\(DisplayText.visible(path)): \(report.sessions.counting("new session")), "
        + "\(report.batches.counting("batch", "batches")), "
        + "\(report.samples.counting("sample"))\n")
    let console = invocation.console
    if report.known > 0 {
      console.note("\(report.known.counting("batch", "batches")) passed over: the file has them")
    }
    if report.refused > 0 {
      console.note("\(report.refused.counting("request")) passed over: the server refused them")
    }
    if report.startsWithoutSession > 0 {
      console.note("\(report.startsWithoutSession.counting("start")) without a session")
    }
    for request in report.skippedRequests {
      console.note("\(request.position): skipped: \(request.reason)")
    }
  }
}

extension MotionImportReport {
  fileprivate func document(_ path: String) -> JSONValue {
    [
      "target": .text(path), "session_count": JSONValue(sessions),
      "batch_count": JSONValue(batches), "sample_count": JSONValue(samples),
      "known_count": JSONValue(known), "refused_count": JSONValue(refused),
      "starts_without_session_count": JSONValue(startsWithoutSession),
      "skipped": [
        "count": JSONValue(skipped),
        "requests": .array(
          skippedRequests.map { request in
            ["position": JSONValue(request.position), "message": .text(request.reason)]
          }),
      ],
    ]
  }
}

/// `fieldpack motion join`.
private struct MotionJoinCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    @Required var track: SourceName
    let sessions: [String]
    let captures: [String]
    let maximumGap: Double

    init(_ reader: inout OptionReader) {
      _file = reader.motionFile()
      _track = reader.argument(
        .source(),
        help: "Where the track is: a GeoPackage, a GPX, GeoJSON or CSV file. Where no layer is "
          + "named it is track_points, track_point, or the only one that can be.")
      sessions = reader.sessions()
      captures = reader.values(
        "capture", .text("token"),
        help: "Join to this capture of the track's source; may be repeated.")
      maximumGap = reader.value(
        "max-gap", .number("s", atLeast: 0), default: 10, shownAs: "10",
        help: "How many seconds the two positions around a sample may be apart.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let path = try await path()
    return try await invocation.withGeoPackage(options.file) {
      (store) throws(FieldpackError) in
      let report = try await store.joinMotion(
        to: path, sessions: options.sessions, maximumGap: options.maximumGap)
      try show(report)
      return ExitStatus.success
    }
  }

  private func path() async throws(FieldpackError) -> TimedPath {
    try await invocation.withSource(options.track.path, SourceArguments()) {
      (source) throws(FieldpackError) in
      guard let store = source.workspace.members.lazy.compactMap(\.store).first else {
        throw FieldpackError(.unavailable, "\(options.track.path) cannot be read")
      }
      return try await path(in: store)
    }
  }

  private func path(in store: any Store) async throws(FieldpackError) -> TimedPath {
    let (captures, layer) = (options.captures, options.track.layer)
    guard !captures.isEmpty else { return try await TimedPath(store, layer: layer) }
    guard layer == nil || layer == "capture_point" else {
      throw FieldpackError(
        .invalidArgument, "--capture names captures, and layer '\(layer ?? "")' has none")
    }
    return try await TimedPath(capturesOf: store, tokens: captures)
  }

  private func show(_ report: MotionJoinReport) throws(FieldpackError) {
    if invocation.isJSON {
      return try invocation.print([
        "sessions": .array(
          report.sessions.map { session in
            [
              "session": .text(session.id), "sample_count": JSONValue(session.samples),
              "placed_count": JSONValue(session.placed),
            ]
          })
      ])
    }
    for session in report.sessions {
      try invocation.print(
        "\(DisplayText.visible(session.id)): \(session.placed) of "
          + "\(session.samples.counting("sample")) on the track\n")
    }
    if report.sessions.isEmpty { invocation.console.note("there is no motion to join") }
  }
}
