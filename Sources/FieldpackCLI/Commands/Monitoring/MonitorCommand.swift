import Fieldpack
import FieldpackCore

extension FieldpackTool {
  static var monitorCommand: Command {
    Command(
      "monitor", abstract: "Replay positions and tell where regions and distances are passed.",
      discussion: """
        Points of a layer are replayed by time, then by feature id. Of a layer of lines every vertex \
        is a fix, at its M in Unix seconds. Nothing is written without --record, which keeps the \
        detections; the next start with that name goes on where the run stopped. Watch one of these:

        --radius 80: a circle around the last detection. The first fix of a device is a start. A \
        fix outside the circle is an exit, and the centre of the next circle.

        --distance 100, --significant: a fix 100 m or more from the last detection is a move.

        --regions: areas, and circles around points. A device enters and exits a region; it crosses \
        one when the straight line between two fixes outside meets it. A border belongs to its region.

        A fix older than the last one of its device is left out. A resumed run also ignores fixes \
        inserted before its last one. Distances are geodesics.
        """,
      examples: [
        "fieldpack monitor walk.gpx --radius 80",
        "fieldpack monitor fleet.gpkg:fixes --device car --regions zones.gpkg:depots",
        "gpspipe -w | fieldpack monitor - --distance 100",
      ],
      family: positionsFamily, body: MonitorCommand.self)
  }
}

/// `fieldpack monitor`.
private struct MonitorCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var source: SourceName
    let watched: MonitorArguments
    let recording: RecordingArguments
    let fixes: FixArguments
    let profile: OpeningProfile
    let replay: ReplayArguments
    let opening: SourceArguments

    init(_ reader: inout OptionReader) {
      _source = reader.fixes()
      watched = reader.group()
      recording = reader.group()
      fixes = reader.group()
      profile = reader.profile()
      replay = reader.group()
      opening = reader.group()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let plan = try MonitorPlan(options.watched)
    guard options.source.path != "-" || options.watched.regions?.path != "-" else {
      throw FieldpackError(
        .invalidArgument,
        "standard input holds the fixes or the regions, not both. Try: --regions FILE:LAYER")
    }
    return try await withRecording { (recording) throws(FieldpackError) in
      guard let regions = options.watched.regions else {
        return try await watch(try plan.monitor(nil), nil, recording)
      }
      return try await invocation.withRegions(regions, usesNoCache: options.opening.usesNoCache) {
        (store, name) throws(FieldpackError) in
        let layer = RegionLayer(
          name, of: recording?.store(at: regions.path) ?? store, radius: options.watched.radius,
          radiusColumn: options.watched.radiusColumn)
        let known = try await layer.regions()
        for note in known.notes { invocation.console.note("\(note) left out") }
        return try await watch(try plan.monitor(known), layer, recording)
      }
    }
  }

  /// Runs `body` with the run that the options ask for, or with none.
  ///
  /// The GeoPackage is closed last, so that it can go back to its own journal mode.
  private func withRecording(
    _ body: (MonitorRecording?) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    guard let (name, path) = try options.recording.target(source: options.source.path) else {
      return try await body(nil)
    }
    return try await invocation.withNewGeoPackage(path, options.profile) {
      (store) throws(FieldpackError) in
      try await body(MonitorRecording(name: name, store: store))
    }
  }

  private func watch(
    _ monitor: any FixMonitor, _ regions: RegionLayer?, _ recording: MonitorRecording?
  ) async throws(FieldpackError) -> Int32 {
    let source = FixSource(
      name: options.source, arguments: options.fixes, replay: options.replay,
      source: options.opening)
    return try await invocation.withFixes(source) { (fixes) throws(FieldpackError) in
      try await show(monitor, fixes, regions, recording)
    }
  }

  private func show(
    _ monitor: any FixMonitor, _ fixes: OpenedFixes, _ regions: RegionLayer?,
    _ recording: MonitorRecording?
  ) async throws(FieldpackError) -> Int32 {
    let source = fixes.source
    var output = DetectionOutput(
      invocation, isLive: !fixes.isReplay, follows: options.recording.follows)
    try output.begin()
    do throws(FieldpackError) {
      if let recording {
        try await recording.watch(
          monitor, source, regions, origin: fixes.origin,
          isReplay: fixes.isReplay, invocation.console
        ) { (detections) throws(FieldpackError) in try output.add(detections) }
      } else {
        for try await detections in monitor.detections(of: source, watching: regions) {
          try output.add(detections)
        }
      }
    } catch {
      // What was seen before is not lost with what cannot be read.
      try? output.finish(isWhole: false)
      try? invocation.output.flush()
      throw error
    }
    try output.finish()
    return ExitStatus.success
  }
}

extension Invocation {
  /// Opens the layer of the regions, runs `body` and closes its file, whatever happens.
  func withRegions<R: Sendable>(
    _ source: SourceName, usesNoCache: Bool = false,
    _ body: (any Store, LayerID) async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try await withSource(source.path, SourceArguments(usesNoCache: usesNoCache)) {
      (opened) throws(FieldpackError) in
      let (store, layer) = try await LayerChoice.layer(
        source.layer, of: opened.workspace, named: opened.name, stores: nil, preferring: [])
      return try await body(store, layer)
    }
  }
}

extension FixMonitor {
  fileprivate func detections(
    of source: some LocationSource, watching regions: RegionLayer?
  ) -> Detections {
    guard let regions, let monitor = self as? GeofenceMonitor else { return detections(of: source) }
    return monitor.detections(of: source, watching: regions)
  }
}
