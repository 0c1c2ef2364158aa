import Fieldpack
import FieldpackCore

extension FieldpackTool {
  static var monitorCommand: Command {
    Command(
      "monitor", abstract: "Replay positions and tell where regions and distances are passed.",
      discussion: """
        The features of a layer of points are replayed by time, then by feature id; of a layer of \
        lines, each vertex by its M in Unix seconds. Nothing is written without --record, which keeps \
        detections and goes on from where a run was. One of these is watched:

        --radius: a circle around the last detection. Each device's first fix is its start, and each \
        that is farther from the centre is an exit and the next centre.

        --distance, --significant: each fix that is as far from the last detection as that, or \
        farther, is moved.

        --regions: areas, and circles around points. A device enters, exits, or crosses with the \
        straight way between two fixes that lie outside; a border belongs to its region.

        A fix that is older than the last one of its device is passed over; so are those that were \
        added to a file before it when a run goes on. Distances are geodesics.
        """,
      examples: [
        "fieldpack monitor walk.gpx --radius 80",
        "fieldpack monitor fleet.gpkg fixes --device car --regions zones.gpkg:depots",
        "gpspipe -w | fieldpack monitor - --distance 100",
      ],
      arguments: [FixArguments.source, FixArguments.layer],
      options: [
        OptionGroup(
          nil,
          MonitorArguments.options + MonitorRecording.options
            + [QueryArguments.skipErrors, WriteArguments.allowTriggers]),
        ReplayArguments.group, SourceArguments.group, CommonOptions.group,
      ],
      family: positionsFamily
    ) { invocation throws(FieldpackError) in
      try await MonitorCommand(invocation: invocation).run()
    }
  }
}

/// `fieldpack monitor`.
struct MonitorCommand {
  let invocation: Invocation
  private var arguments: ParsedArguments { invocation.arguments }

  func run() async throws(FieldpackError) -> Int32 {
    let plan = try MonitorPlan(arguments)
    return try await MonitorRecording.with(invocation) { (recording) throws(FieldpackError) in
      guard let regions = plan.regions else {
        return try await watch(try plan.monitor(nil), nil, recording)
      }
      return try await invocation.withRegions(regions) { (store, name) throws(FieldpackError) in
        let layer = RegionLayer(
          name, of: recording?.store(at: regions.path) ?? store, radius: plan.radius,
          radiusColumn: arguments[MonitorArguments.column])
        let known = try await layer.regions()
        for note in known.notes { invocation.console.note("\(note) left out") }
        return try await watch(try plan.monitor(known), layer, recording)
      }
    }
  }

  private func watch(
    _ monitor: any FixMonitor, _ regions: RegionLayer?, _ recording: MonitorRecording?
  ) async throws(FieldpackError) -> Int32 {
    try await invocation.withFixes { (fixes) throws(FieldpackError) in
      try await show(monitor, fixes, regions, recording)
    }
  }

  private func show(
    _ monitor: any FixMonitor, _ fixes: OpenedFixes, _ regions: RegionLayer?,
    _ recording: MonitorRecording?
  ) async throws(FieldpackError) -> Int32 {
    let source = fixes.source
    var output = DetectionOutput(invocation, isLive: !fixes.isReplay)
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
    _ file: RegionFile, _ body: (any Store, LayerID) async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    var options = SourceOptions()
    options.logger = logger
    if arguments[SourceArguments.noCache] { options.file.cache = .private }
    let workspace = try await Workspace.open(source: file.path, options: options)
    do throws(FieldpackError) {
      let (store, layer) = try await LayerChoice.layer(
        file.layer, of: workspace, named: file.path, stores: nil, preferring: [])
      let result = try await body(store, layer)
      await workspace.close()
      return result
    } catch {
      await workspace.close()
      throw error
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
