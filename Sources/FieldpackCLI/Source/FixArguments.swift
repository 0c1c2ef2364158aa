import Fieldpack
import FieldpackCore
import FieldpackGeometry

/// How positions are read.
struct FixArguments: OptionGroup {
  /// The column that says whose a fix is.
  let device: String?
  let skipsErrors: Bool

  init(_ reader: inout OptionReader) {
    device = reader.value(
      "device", .text("column", completion: .column),
      help: "The column that names the device of a fix; by default device or device_id.")
    skipsErrors = reader.skipErrors()
  }

  init(skipsErrors: Bool) { (device, self.skipsErrors) = (nil, skipsErrors) }

  /// The layers that are taken where a source has several.
  static let preferred: [LayerID] = ["track_points", "track_point"]

  /// Whether a file is opened as a store, and not read line by line.
  ///
  /// - Parameter isPaced: only the fixes of a store come at a pace.
  static func isStore(_ path: String, isPaced: Bool) -> Bool {
    guard path != "-" else { return false }
    switch FileSystem.kind(path) {
    case .folder: return true
    case .other: return false
    case .file, nil: break
    }
    let name = path.lowercased()
    let lines = isPaced ? ["jsonl", "txt"] : ["nmea", "log", "jsonl", "txt"]
    return !lines.contains { name.hasSuffix("." + $0) } && !Format.isOwnTracks(path: path)
  }
}

extension OptionReader {
  /// Where positions are read from.
  mutating func fixes() -> Required<SourceName> {
    argument(
      .source(),
      help: "A GeoPackage, GPX, GeoJSON or CSV file, a .scfg, or lines of NMEA, gpsd or JSON in a "
        + "file, a pipe, a device or - for standard input. Of several layers track_points is "
        + "taken, or track_point, where none is named.")
  }
}

/// Positions, whether they begin again with the first when they are read again, and where they come
/// from, by the name of the file without its folder, so that a run goes on where its files are moved.
typealias OpenedFixes = (source: any LocationSource, isReplay: Bool, origin: String)

/// A source, and what it passed over; `nil` where it passes over nothing.
private typealias ReportedSource = (source: any LocationSource, report: QueryReport?)

/// Where positions come from, and how they are read.
struct FixSource {
  let name: SourceName
  let arguments: FixArguments
  let replay: ReplayArguments
  let source: SourceArguments
}

extension Invocation {
  /// Opens positions, runs `body` and closes them, whatever happens; what was passed over is told at
  /// the end, and makes a success a status of its own.
  func withFixes(
    _ fixes: FixSource, _ body: (OpenedFixes) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    guard FixArguments.isStore(fixes.name.path, isPaced: fixes.replay.isPaced) else {
      let (source, isReplay, origin) = try lines(fixes)
      return told(try await body((source, isReplay, origin)), source.report)
    }
    return try await withSource(
      fixes.name.path, fixes.source, skipsErrors: fixes.arguments.skipsErrors
    ) { (source) throws(FieldpackError) in
      let (store, layer) = try await LayerChoice.layer(
        fixes.name.layer, of: source.workspace, named: source.name, stores: fixes.source.stores,
        preferring: FixArguments.preferred)
      let (source, report) = try await self.source(fixes, layer, in: store)
      let origin =
        "\(Self.file(fixes.name.path)):\(layer)"
        + (fixes.arguments.device.map { " device=\($0)" } ?? "")
      // What is passed over when a file is read is told by each query of it.
      let reading = try await store.query(Query(layers: [layer]).limit(1)).report.current.skipped
      return told(try await body((source, isReplay: true, origin)), report, reading)
    }
  }

  private static func file(_ path: String) -> String {
    path.split(separator: "/").last.map { String($0) } ?? path
  }

  private func told(
    _ status: Int32, _ report: QueryReport?, _ reading: SkippedFeatures = .init()
  ) -> Int32 {
    var skipped = reading
    if let report { skipped.add(report.current.skipped) }
    guard skipped.count > 0 else { return status }
    self.report(skipped)
    return status == ExitStatus.success ? ExitStatus.skippedFeatures : status
  }

  /// What comes line by line, at its own pace.
  private func lines(
    _ fixes: FixSource
  ) throws(FieldpackError) -> (source: LineSource, isReplay: Bool, origin: String) {
    let name = fixes.name.path
    let label = name == "-" ? "standard input" : name
    guard fixes.name.layer == nil, fixes.arguments.device == nil else {
      throw FieldpackError(
        .invalidArgument, "\(label) gives fixes line by line and has neither layers nor columns")
    }
    guard !fixes.replay.isPaced, fixes.replay.rate == nil else {
      throw FieldpackError(
        .invalidArgument,
        "\(label) gives fixes line by line, as they come. Try: without --speed and --rate")
    }
    var options = LineSource.Options()
    options.skipsErrors = fixes.arguments.skipsErrors
    guard name != "-" else { return (LineSource(descriptor: 0, options: options), false, label) }
    let isFile = FileSystem.kind(name) == .file
    return (LineSource(path: name, options: options), isFile, Self.file(name))
  }

  private func source(
    _ fixes: FixSource, _ layer: LayerID, in store: any Store
  ) async throws(FieldpackError) -> ReportedSource {
    let device = fixes.arguments.device
    var options = ReplaySource.Options(speed: fixes.replay.speed, rate: fixes.replay.rate)
    let schemas = try await store.schemas()
    guard let schema = schemas.first(where: { $0.layer == layer }) else {
      let names = schemas.map(\.layer.rawValue)
      throw FieldpackError(
        .notFound,
        "there is no layer '\(layer)' in store '\(store.id)'"
          + NearNames.question(layer.rawValue, in: names)
          + " (it has: \(names.joined(separator: ", ")))",
        location: .init(store: store.id))
    }
    if let type = schema.geometry?.type, GeometryType.lines.contains(type) {
      guard !fixes.replay.isPaced, fixes.replay.rate == nil else {
        throw FieldpackError(
          .invalidArgument,
          "layer '\(layer)' is of lines, whose vertices come without a pace. Try: a layer of points, "
            + "or without --speed and --rate", location: .init(layer: layer))
      }
      return (VertexSource(store, layer: layer, deviceColumn: device), nil)
    }
    options.columns.device = device
    options.skipsErrors = fixes.arguments.skipsErrors
    let source = ReplaySource(store, layer: layer, options: options)
    return (source, source.report)
  }
}

extension GeometryType {
  fileprivate static let lines: Set<GeometryType> = [
    .lineString, .multiLineString, .circularString, .compoundCurve, .multiCurve, .curve,
  ]
}
