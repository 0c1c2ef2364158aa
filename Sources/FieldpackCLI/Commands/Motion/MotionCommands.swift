import Fieldpack
import FieldpackCore
import FoundationEssentials

extension FieldpackTool {
  static var motionCommand: Command {
    Command(
      "motion", abstract: "Keep and post motion of devices, show it, place it on tracks.",
      options: [CommonOptions.group],
      subcommands: [
        motionImportCommand, motionPostCommand, motionShowCommand, motionJoinCommand,
      ],
      family: positionsFamily)
  }

  private static var motionImportCommand: Command {
    Command(
      "import", abstract: "Import recorded requests of motion devices.",
      discussion: """
        A file is one body of the DaCo protocol as JSON, or a log with one a line: the body alone, \
        or an object that holds it as "body" beside "time" (Unix seconds), "status" and "response" \
        (of a start the session's id). Requests with another status than 200 brought nothing and \
        are counted. Without responses a start belongs to the next session that is new. Batches \
        that the file has are passed over, so that a second import changes nothing.
        """,
      examples: ["fieldpack motion import requests.jsonl --into field.gpkg"],
      arguments: [MotionArguments.logs],
      options: [
        OptionGroup(
          nil,
          [
            MotionArguments.into, MotionArguments.rate, MotionArguments.skipErrors,
            WriteArguments.allowTriggers,
          ]),
        CommonOptions.group,
      ]
    ) { invocation throws(FieldpackError) in
      try await MotionImportCommand(invocation: invocation).run()
    }
  }

  private static var motionJoinCommand: Command {
    Command(
      "join", abstract: "Place samples on a track by their times.",
      discussion: """
        Each sample becomes a point of the layer motion_point, with its twelve channels and its \
        time as M, between the two positions of the track around its time; a session becomes a \
        line of motion_track. Samples that no two positions lie around, or only such that are \
        farther apart than --gap, stay rows of daco_sample. Joining a session again replaces its \
        features. The track is a layer of points with times, of lines whose M is Unix seconds, or \
        the points of captures.
        """,
      examples: [
        "fieldpack motion join field.gpkg walk.gpx",
        "fieldpack motion join field.gpkg field.gpkg track_point --gap 30",
        "fieldpack motion join field.gpkg captures.gpkg --capture 338d2c23…358d",
      ],
      arguments: [MotionArguments.file, MotionArguments.track, MotionArguments.layer],
      options: [
        OptionGroup(
          nil, [MotionArguments.sessions, MotionArguments.captures, MotionArguments.gap]),
        CommonOptions.group,
      ]
    ) { invocation throws(FieldpackError) in
      try await MotionJoinCommand(invocation: invocation).run()
    }
  }
}

/// What the commands on motion take.
enum MotionArguments {
  static let file = Argument<String>.required(
    .text("gpkg", completion: .source(["gpkg"])), help: "The GeoPackage with the motion.")
  static let logs = Argument<[String]>.list(
    .file("file", "json", "jsonl", "ndjson"), minimum: 1, help: "The recorded requests.")
  static let into = Option<String>.required(
    "into", .file("gpkg", "gpkg"), help: "The GeoPackage to import into; made where missing.")
  static let rate = Option<Double>.value(
    "rate", .number("hz", atLeast: 0.001), default: MotionSession.standardRate,
    shownAs: "50", help: "Samples a second of sessions that are new.")
  static let skipErrors = Option<Bool>.flag(
    "skip-errors", help: "Pass over requests that cannot be read, and say so (status 2).")
  static let track = Argument<String>.required(
    .text("source", completion: .source(SourceArguments.extensions)),
    help: "Where the track is: a GeoPackage, a GPX, GeoJSON or CSV file.")
  static let layer = Argument<String?>.optional(
    .text("layer", completion: .layer),
    help: "The layer of the track; track_points, track_point, or the only one that can be.")
  static let sessions = Option<[String]>.values(
    "session", .text("uuid"), help: "Only this session; may be repeated.")
  static let captures = Option<[String]>.values(
    "capture", .text("token"),
    help: "Join to this capture of the track's source; may be repeated.")
  static let gap = Option<Double>.value(
    "gap", .number("s", atLeast: 0), default: 10, shownAs: "10",
    help: "How far apart positions may be that a sample lies between.")
}

extension Int {
  /// `1 sample`, `2 samples`.
  func counting(_ noun: String, _ plural: String? = nil) -> String {
    "\(self) " + (self == 1 ? noun : plural ?? noun + "s")
  }
}

/// `fieldpack motion import`.
private struct MotionImportCommand {
  let invocation: Invocation
  private var arguments: ParsedArguments { invocation.arguments }

  func run() async throws(FieldpackError) -> Int32 {
    let path = arguments[MotionArguments.into]
    let isNew = !FileManager.default.fileExists(atPath: path)
    let report: MotionImportReport
    do throws(FieldpackError) {
      report = try await imported(into: path)
    } catch {
      if isNew { try? FileManager.default.removeItem(atPath: path) }
      throw error
    }
    try show(report, path)
    return report.skipped > 0 ? ExitStatus.skippedFeatures : ExitStatus.success
  }

  private func imported(into path: String) async throws(FieldpackError) -> MotionImportReport {
    try invocation.createGeoPackage(path)
    let found = Locked(MotionImportReport())
    _ = try await invocation.withGeoPackage(path) { (store) throws(FieldpackError) in
      let report = try await store.importMotion(
        from: arguments[MotionArguments.logs], rate: arguments[MotionArguments.rate],
        skipsErrors: arguments[MotionArguments.skipErrors])
      found.withLock { $0 = report }
      return ExitStatus.success
    }
    return found.withLock { $0 }
  }

  private func show(_ report: MotionImportReport, _ path: String) throws(FieldpackError) {
    if arguments[CommonOptions.json] {
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
private struct MotionJoinCommand {
  let invocation: Invocation
  private var arguments: ParsedArguments { invocation.arguments }

  func run() async throws(FieldpackError) -> Int32 {
    let path = try await path()
    return try await invocation.withGeoPackage(arguments[MotionArguments.file]) {
      (store) throws(FieldpackError) in
      let report = try await store.joinMotion(
        to: path, sessions: arguments[MotionArguments.sessions],
        maximumGap: arguments[MotionArguments.gap])
      try show(report)
      return ExitStatus.success
    }
  }

  private func path() async throws(FieldpackError) -> TimedPath {
    var options = SourceOptions()
    options.logger = invocation.logger
    let workspace = try await Workspace.open(
      source: arguments[MotionArguments.track], options: options)
    do throws(FieldpackError) {
      guard let store = workspace.members.lazy.compactMap(\.store).first else {
        throw FieldpackError(
          .unavailable, "\(arguments[MotionArguments.track]) cannot be read")
      }
      let path = try await path(in: store)
      await workspace.close()
      return path
    } catch {
      await workspace.close()
      throw error
    }
  }

  private func path(in store: any Store) async throws(FieldpackError) -> TimedPath {
    let captures = arguments[MotionArguments.captures]
    let layer = arguments[MotionArguments.layer].map { LayerID($0) }
    guard !captures.isEmpty else { return try await TimedPath(store, layer: layer) }
    guard layer == nil || layer == "capture_point" else {
      throw FieldpackError(
        .invalidArgument, "--capture names captures, and layer '\(layer ?? "")' has none")
    }
    return try await TimedPath(capturesOf: store, tokens: captures)
  }

  private func show(_ report: MotionJoinReport) throws(FieldpackError) {
    if arguments[CommonOptions.json] {
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
