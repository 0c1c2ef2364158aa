import Fieldpack
import FieldpackCore
import FoundationEssentials

extension FieldpackTool {
  static let positionsFamily = "Tracks, regions, pictures, captures and motion."

  static var trackCommand: Command {
    Command(
      "track", abstract: "Record tracks into a GeoPackage, and show them.",
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
      body: TrackShowCommand.self)
  }

  private static var trackLogCommand: Command {
    Command(
      "log", abstract: "Show what happened in recordings and monitoring runs.",
      discussion: """
        With --follow new entries are shown as they come, until the command is interrupted; under \
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
  /// The tracks of that name, else of that id, all where none is named.
  func tracks(named name: String?) async throws(FieldpackError) -> [RecordedTrack] {
    let tracks = try await tracks()
    guard let name else { return tracks }
    let named = tracks.filter { $0.name == name }
    let found = named.isEmpty ? tracks.filter { "\($0.id)" == name } : named
    guard found.isEmpty else { return found }
    let known = tracks.map { $0.name ?? "\($0.id)" }
    let list = known.isEmpty ? "it has none" : "it has: \(known.joined(separator: ", "))"
    throw FieldpackError(
      .notFound, "there is no track '\(name)' in \(shownPath) (\(list))",
      location: .init(store: id, layer: FieldData.track))
  }
}

// MARK: Show

/// `fieldpack track show`.
private struct TrackShowCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let track: String?

    init(_ reader: inout OptionReader) {
      _file = reader.tracksFile()
      track = reader.optionalArgument(.text("track"), help: "The name or the id of a track.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    try await invocation.withGeoPackage(options.file) { (store) throws(FieldpackError) in
      let tracks = try await store.tracks(named: options.track)
      if options.track == nil {
        try show(tracks)
      } else {
        try await showPoints(of: tracks, in: store)
      }
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

  private func showPoints(
    of tracks: [RecordedTrack], in store: GeoPackageStore
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

// MARK: Log

/// `fieldpack track log`.
private struct TrackLogCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let follows: Bool

    init(_ reader: inout OptionReader) {
      _file = reader.tracksFile()
      follows = reader.flag("follow", help: "Go on with what is added.")
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
