import Fieldpack
import FieldpackCore
import FoundationEssentials

extension FieldpackTool {
  static let positionsFamily = "Tracks, regions, pictures, captures and motion."

  static var trackCommand: Command {
    Command(
      "track", abstract: "Record tracks into a GeoPackage, and show them.",
      options: [CommonOptions.group],
      subcommands: [trackRecordCommand, trackShowCommand, trackExportCommand, trackLogCommand],
      family: positionsFamily)
  }

  private static var trackShowCommand: Command {
    Command(
      "show", abstract: "Show the tracks of a GeoPackage, or the points of one.",
      discussion: "The points of a track come in its order, with the times of their fixes.",
      examples: [
        "fieldpack track show field.gpkg", "fieldpack track show field.gpkg walk --json",
      ],
      arguments: [TrackArguments.file, TrackArguments.track], options: [CommonOptions.group]
    ) { invocation throws(FieldpackError) in
      try await invocation.withTracks { (store) throws(FieldpackError) in
        try await TrackShowCommand(invocation: invocation, store: store).run()
      }
    }
  }

  private static var trackLogCommand: Command {
    Command(
      "log", abstract: "Show what happened in recordings and monitoring runs.",
      discussion: """
        With --follow new entries are shown as they come, until the command is interrupted; under \
        --json each is then a document in a line of its own.
        """,
      examples: ["fieldpack track log field.gpkg --follow"],
      arguments: [TrackArguments.file],
      options: [OptionGroup(nil, [TrackArguments.followLog]), CommonOptions.group]
    ) { invocation throws(FieldpackError) in
      try await invocation.withTracks { (store) throws(FieldpackError) in
        try await TrackLogCommand(invocation: invocation, store: store).run()
      }
    }
  }
}

/// What the commands on tracks take.
enum TrackArguments {
  static let file = Argument<String>.required(
    .text("gpkg", completion: .source(["gpkg"])), help: "The GeoPackage with the tracks.")
  static let track = Argument<String?>.optional(
    .text("track"), help: "The name or the id of a track.")
  static let followLog = Option<Bool>.flag("follow", help: "Go on with what is added.")
}

extension Invocation {
  /// Opens the command's GeoPackage, runs `body` and closes it, whatever happens.
  func withTracks(
    _ body: (GeoPackageStore) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    let path = arguments[TrackArguments.file]
    return try await withGeoPackage(path, body)
  }

  func withGeoPackage(
    _ path: String, _ body: (GeoPackageStore) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    let store = try await GeoPackageStore(
      path: path, id: FileImport.storeID(of: path), profile: profile, logger: logger)
    do throws(FieldpackError) {
      let status = try await body(store)
      await store.close()
      return status
    } catch {
      await store.close()
      throw error
    }
  }

  /// The tracks that the command names, all where it names none.
  func namedTracks(in store: GeoPackageStore) async throws(FieldpackError) -> [RecordedTrack] {
    let tracks = try await store.tracks()
    guard let name = arguments[TrackArguments.track] else { return tracks }
    let named = tracks.filter { $0.name == name }
    let found = named.isEmpty ? tracks.filter { "\($0.id)" == name } : named
    guard found.isEmpty else { return found }
    let known = tracks.map { $0.name ?? "\($0.id)" }
    let list = known.isEmpty ? "it has none" : "it has: \(known.joined(separator: ", "))"
    throw FieldpackError(
      .notFound, "there is no track '\(name)' in \(arguments[TrackArguments.file]) (\(list))",
      location: .init(store: store.id, layer: FieldData.track))
  }
}

// MARK: Show

/// `fieldpack track show`.
private struct TrackShowCommand {
  let invocation: Invocation
  let store: GeoPackageStore
  private var isJSON: Bool { invocation.arguments[CommonOptions.json] }

  func run() async throws(FieldpackError) -> Int32 {
    let tracks = try await invocation.namedTracks(in: store)
    if invocation.arguments[TrackArguments.track] == nil {
      try show(tracks)
    } else {
      try await showPoints(of: tracks)
    }
    return ExitStatus.success
  }

  private func show(_ tracks: [RecordedTrack]) throws(FieldpackError) {
    if isJSON {
      return try invocation.print(["tracks": .array(tracks.map(\.document))])
    }
    guard !tracks.isEmpty else { return invocation.console.note("there are no tracks") }
    let columns = [
      TableColumn("id", isNumeric: true), TableColumn("track"), TableColumn("monitor"),
      TableColumn("points", isNumeric: true), TableColumn("length", isNumeric: true),
      TableColumn("started"), TableColumn("stopped"),
    ]
    try invocation.printTable(
      columns,
      tracks.map { track in
        [
          "\(track.id)", track.label, track.monitorText, "\(track.pointCount)",
          Metres.text(track.length), track.startedAt?.description ?? "",
          track.stoppedAt?.description ?? "",
        ]
      })
  }

  private func showPoints(of tracks: [RecordedTrack]) async throws(FieldpackError) {
    var points: [TrackPoint] = []
    for track in tracks { points += try await store.points(ofTrack: track.id) }
    if isJSON {
      return try invocation.print([
        "tracks": .array(tracks.map(\.document)), "points": .array(points.map(\.document)),
      ])
    }
    let columns = [
      TableColumn("point", isNumeric: true), TableColumn("time"),
      TableColumn("longitude", isNumeric: true), TableColumn("latitude", isNumeric: true),
      TableColumn("ele", isNumeric: true),
    ]
    try invocation.printTable(
      columns,
      points.map { point in
        [
          "\(point.sequence)", point.time?.description ?? "", "\(point.longitude)",
          "\(point.latitude)", point.elevation.map { "\($0)" } ?? "",
        ]
      })
  }
}

extension Invocation {
  fileprivate func printTable(
    _ columns: [TableColumn], _ rows: [[String]]
  ) throws(FieldpackError) {
    try print(
      TextTable.text(
        columns, rows, width: console.terminal.cutWidth,
        usesUnicode: console.terminal.usesUnicode))
  }
}

// MARK: Log

/// `fieldpack track log`.
private struct TrackLogCommand {
  let invocation: Invocation
  let store: GeoPackageStore
  private var isJSON: Bool { invocation.arguments[CommonOptions.json] }

  func run() async throws(FieldpackError) -> Int32 {
    var entries = try await store.trackLog()
    guard invocation.arguments[TrackArguments.followLog] else {
      if isJSON {
        try invocation.print(["log": .array(entries.map(\.document))])
      } else {
        for entry in entries { try invocation.print(entry.line) }
      }
      return ExitStatus.success
    }
    var last: Int64 = 0
    while true {
      for entry in entries {
        last = entry.id
        if isJSON {
          try invocation.print(entry.document)
        } else {
          try invocation.print(entry.line)
        }
      }
      try invocation.output.flush()
      do { try await Task.sleep(for: .milliseconds(250)) } catch {
        throw FieldpackError(.interrupted, "interrupted")
      }
      entries = try await store.trackLog(after: last)
    }
  }
}
