import Fieldpack
import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackMaps

extension FieldpackTool {
  static var trackExportCommand: Command {
    Command(
      "export", abstract: "Write recorded tracks as GPX 1.1, GeoJSON or a map.",
      discussion: """
        The file's name tells the format. In GPX each track is a trk of one trkseg, with every \
        digit of its positions and its times in UTC. In GeoJSON each track is a line. A map, \
        .svg or .html, shows the tracks with their points, the detections that the file keeps, \
        and the --regions of a layer. Without a track all tracks of the file are written.
        """,
      examples: [
        "fieldpack track export field.gpkg walk --output walk.gpx",
        "fieldpack track export field.gpkg walk --regions zones.gpkg:zones --output walk.svg",
      ],
      body: TrackExportCommand.self)
  }
}

/// `fieldpack track export`.
private struct TrackExportCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String
    let track: String?
    let output: OutputArguments
    let regions: SourceName?

    init(_ reader: inout OptionReader) {
      _file = reader.tracksFile()
      track = reader.optionalArgument(.text("track"), help: "The name or the id of a track.")
      output = reader.group()
      regions = reader.value(
        "regions", .source(),
        help: "Draw the features of a layer as regions on a map.")
    }
  }

  let invocation: Invocation
  let options: Options
  private var path: String { options.output.path }

  func run() async throws(FieldpackError) -> Int32 {
    try options.output.check(invocation)
    return try await invocation.withGeoPackage(options.file) { (store) throws(FieldpackError) in
      try await export(from: store)
    }
  }

  private func export(from store: GeoPackageStore) async throws(FieldpackError) -> Int32 {
    let write = try writing(store)
    let tracks = try await store.tracks(named: options.track)
    let output = try options.output.open(invocation)
    try await write(tracks, store, output)
    guard !options.output.isStandard else { return ExitStatus.success }
    try output.finish()
    let points = tracks.reduce(0) { $0 + $1.pointCount }
    if invocation.isJSON {
      try invocation.print([
        "output": .text(path), "track_count": JSONValue(tracks.count),
        "point_count": JSONValue(points),
      ])
    } else {
      try invocation.print(
        "\(DisplayText.visible(path)): \(tracks.count.counting("track")), "
          + "\(points.counting("point"))\n")
    }
    return ExitStatus.success
  }

  private typealias Writing =
    ([RecordedTrack], GeoPackageStore, ByteOutput) async throws(FieldpackError) -> Void

  /// How tracks are written in each format; the first one is that of a name that tells none.
  private var formats: [(format: Format, isMap: Bool, write: Writing)] {
    [
      (.gpx, false, writeGPX), (.geoJSON, false, writeGeoJSON), (.svg, true, writeSVG),
      (.html, true, writeHTML),
    ]
  }

  private func writing(_ store: GeoPackageStore) throws(FieldpackError) -> Writing {
    let format = Format.byExtension(path) ?? formats[0].format
    guard let known = formats.first(where: { $0.format == format }) else {
      throw FieldpackError(
        .invalidArgument,
        "tracks are not written as \(format) here. Try: a name in .gpx, .geojson, .svg or .html, "
          + "or fieldpack export \(DisplayText.visible(store.shownPath)) track track_point")
    }
    guard known.isMap || options.regions == nil else {
      throw FieldpackError(
        .invalidArgument, "--regions are drawn on maps. Try: --output with a name in .svg")
    }
    return known.write
  }

  private func writeGPX(
    _ tracks: [RecordedTrack], of store: GeoPackageStore, to output: ByteOutput
  ) async throws(FieldpackError) {
    var writer = GPXWriter(output)
    try await writer.write(tracks) { (track) async throws(FieldpackError) in
      try await store.points(ofTrack: track.id)
    }
    try writer.finish()
  }

  private func writeGeoJSON(
    _ tracks: [RecordedTrack], of store: GeoPackageStore, to output: ByteOutput
  ) async throws(FieldpackError) {
    var writer = GeoJSONWriter(output)
    try writer.begin(TrackLines.schema)
    for track in tracks {
      try writer.feature(TrackLines.row(track, try await store.points(ofTrack: track.id)))
    }
    try writer.finish()
  }

  private func writeSVG(
    _ tracks: [RecordedTrack], of store: GeoPackageStore, to output: ByteOutput
  ) async throws(FieldpackError) {
    try output.write(try await drawing(of: tracks, in: store).svg())
  }

  private func writeHTML(
    _ tracks: [RecordedTrack], of store: GeoPackageStore, to output: ByteOutput
  ) async throws(FieldpackError) {
    try output.write(try await drawing(of: tracks, in: store).page())
  }

  private func drawing(
    of tracks: [RecordedTrack], in store: GeoPackageStore
  ) async throws(FieldpackError) -> TrackDrawing {
    let title =
      options.track
      ?? store.shownPath.split(separator: "/").last.map(String.init) ?? "tracks"
    var drawing = TrackDrawing(title: title)
    for track in tracks {
      drawing.add(try await store.points(ofTrack: track.id), of: track.device)
    }
    try await drawing.addDetections(of: store)
    guard let regions = options.regions else { return drawing }
    _ = try await invocation.withRegions(regions) { (store, layer) throws(FieldpackError) in
      try await drawing.addRegions(layer, of: store)
    }
    return drawing
  }
}

/// Tracks as features of lines.
private enum TrackLines {
  static let schema = Schema(
    layer: "tracks", geometry: GeometryColumn(type: .lineString, srs: .wgs84),
    columns: [
      ColumnDefinition("name", .text()), ColumnDefinition("device", .text()),
      ColumnDefinition("sampling", .text()), ColumnDefinition("threshold_m", .double),
      ColumnDefinition("length_m", .double), ColumnDefinition("point_count", .integer),
      ColumnDefinition("started_at", .dateTime), ColumnDefinition("stopped_at", .dateTime),
    ])

  /// - Parameter points: of the track; less than two are no line.
  static func row(_ track: RecordedTrack, _ points: [TrackPoint]) -> ValueRow {
    let ordinates = points.flatMap { [$0.longitude, $0.latitude] }
    let line: Geometry? =
      points.count < 2
      ? nil : .lineString(CoordinateSequence(dimensions: .xy, ordinates: ordinates))
    return ValueRow(
      id: .integer(track.id),
      [
        track.name.map(Value.text) ?? .null, track.device.map(Value.text) ?? .null,
        track.samplingName.map(Value.text) ?? .null, .real(track.threshold),
        .real(track.length), .integer(Int64(points.count)),
        track.startedAt.map(Value.dateTime) ?? .null,
        track.stoppedAt.map(Value.dateTime) ?? .null,
      ], wkb: line.map { WKB.bytes(of: $0) }, envelope: line?.envelope)
  }
}
