import Fieldpack
import FieldpackCore

extension FieldpackTool {
  static let positionsFamily = "Tracks, captures, motion, forms, services, servers."

  static var trackCommand: Command {
    Command(
      "track", abstract: "Record tracks into a GeoPackage; list, show, export and delete them.",
      subcommands: [
        trackRecordCommand, trackListCommand, trackShowCommand, trackExportCommand,
        trackDeleteCommand, trackLogCommand,
      ],
      family: positionsFamily)
  }

  private static var trackListCommand: Command {
    Command(
      "list", abstract: "List the tracks of a GeoPackage.",
      examples: ["fieldpack track list field.gpkg"], body: TrackListCommand.self)
  }

  private static var trackShowCommand: Command {
    Command(
      "show", abstract: "Show the points of a track.",
      discussion: "The points come in the order of the track, with the times of their fixes.",
      examples: ["fieldpack track show field.gpkg walk"], body: TrackShowCommand.self)
  }

  private static var trackDeleteCommand: Command {
    Command(
      "delete", abstract: "Delete tracks with their points and pictures.",
      discussion: """
        All of the tracks are deleted, or none is. A picture goes with the last point that has it. \
        The log of a recording goes with its last track; the next 'track record' with that --name \
        begins anew.
        """,
      examples: ["fieldpack track delete field.gpkg walk"], body: TrackDeleteCommand.self)
  }

  private static var trackLogCommand: Command {
    Command(
      "log", abstract: "Show what happened in recordings and monitoring runs.",
      discussion: """
        With --follow new entries are shown as they come, until the command is interrupted. With \
        --json each is then a document in a line of its own.
        """,
      examples: ["fieldpack track log field.gpkg --follow"],
      body: TrackLogCommand.self)
  }
}

extension OptionReader {
  mutating func tracksFile() -> Required<String> { geoPackage("The GeoPackage with the tracks.") }
}

extension GeoPackageStore {
  /// The tracks of that name, else of that id or of that name and device as lists show them; all where
  /// none is named.
  func tracks(named name: String?) async throws(FieldpackError) -> [RecordedTrack] {
    let tracks = try await tracks()
    guard let name else { return tracks }
    let named = tracks.filter { $0.name == name }
    let found =
      named.isEmpty ? tracks.filter { "\($0.id)" == name || $0.label == name } : named
    guard found.isEmpty else { return found }
    let known = tracks.map { $0.label }
    let list = known.isEmpty ? "it has none" : "it has: \(known.joined(separator: ", "))"
    throw FieldpackError(
      .notFound, "there is no track '\(name)' in \(shownPath) (\(list))",
      location: .init(store: id, layer: FieldData.track))
  }
}

/// `fieldpack track list`.
private struct TrackListCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String

    init(_ reader: inout OptionReader) { _file = reader.tracksFile() }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withGeoPackage(options.file) { (store) throws(FieldpackError) in
      try show(try await store.tracks())
      return ExitStatus.success
    }
  }

  private func show(_ tracks: [RecordedTrack]) throws(FieldpackError) {
    if invocation.isJSON {
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

}

/// `fieldpack track show`.
private struct TrackShowCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    @Required var track: String

    init(_ reader: inout OptionReader) {
      _file = reader.tracksFile()
      _track = reader.argument(.text("track"), help: "The name or the id of a track.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withGeoPackage(options.file) { (store) throws(FieldpackError) in
      try await show(try await store.tracks(named: options.track), in: store)
      return ExitStatus.success
    }
  }

  private func show(
    _ tracks: [RecordedTrack], in store: GeoPackageStore
  ) async throws(FieldpackError) {
    var points: [TrackPoint] = []
    for track in tracks { points += try await store.points(ofTrack: track.id) }
    if invocation.isJSON {
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

/// `fieldpack track delete`.
private struct TrackDeleteCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let tracks: [String]
    let profile: OpeningProfile

    init(_ reader: inout OptionReader) {
      _file = reader.tracksFile()
      tracks = reader.arguments(
        .text("track"), minimum: 1, help: "The names or the ids of tracks.")
      profile = reader.profile()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withGeoPackage(options.file, options.profile, usesWAL: false) {
      (store) throws(FieldpackError) in
      var ids: [Int64] = []
      for name in options.tracks {
        for track in try await store.tracks(named: name) where !ids.contains(track.id) {
          ids.append(track.id)
        }
      }
      try invocation.print(try await store.deleteTracks(ids))
      return ExitStatus.success
    }
  }
}

// MARK: Log

/// `fieldpack track log`.
private struct TrackLogCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let follows: Bool

    init(_ reader: inout OptionReader) {
      _file = reader.tracksFile()
      follows = reader.flag("follow", help: "Go on with new entries as they come.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withGeoPackage(options.file) { (store) throws(FieldpackError) in
      let entries = try await store.trackLog()
      if options.follows { try await follow(entries, in: store) }
      if invocation.isJSON {
        try invocation.print(["log": .array(entries.map(\.document))])
      } else {
        for entry in entries { try invocation.print(entry.line) }
      }
      return ExitStatus.success
    }
  }

  /// - Throws: `.interrupted`; there is no other end.
  private func follow(
    _ entries: [TrackLogEntry], in store: GeoPackageStore
  ) async throws(FieldpackError) -> Never {
    var entries = entries
    var last: Int64 = 0
    while true {
      for entry in entries {
        last = entry.id
        if invocation.isJSON {
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
