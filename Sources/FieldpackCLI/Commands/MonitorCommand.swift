import Fieldpack
import FieldpackCore
import FieldpackGeometry
import FoundationEssentials

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

        A fix that is older than the last one of its device is passed over. Distances are geodesics.
        """,
      examples: [
        "fieldpack monitor walk.gpx --radius 80",
        "fieldpack monitor fleet.gpkg fixes --device car --regions zones.gpkg:depots",
        "gpspipe -w | fieldpack monitor - --distance 100",
      ],
      arguments: [MonitorArguments.source, MonitorArguments.layer],
      options: [
        OptionGroup(nil, MonitorArguments.options + MonitorRecording.options),
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
      return try await withRegions(regions, plan, recording) { (layer) throws(FieldpackError) in
        let known = try await layer.regions()
        for note in known.notes { invocation.console.note("\(note) left out") }
        return try await watch(try plan.monitor(known), layer, recording)
      }
    }
  }

  /// Runs `body` with the layer of the regions and closes its file, whatever happens.
  private func withRegions(
    _ place: RegionPlace, _ plan: MonitorPlan, _ recording: MonitorRecording?,
    _ body: (RegionLayer) async throws(FieldpackError) -> Int32
  ) async throws(FieldpackError) -> Int32 {
    var options = SourceOptions()
    options.logger = invocation.logger
    if arguments[SourceArguments.noCache] { options.file.cache = .private }
    let workspace = try await Workspace.open(source: place.path, options: options)
    do throws(FieldpackError) {
      let (store, layer) = try await LayerChoice.layer(
        place.layer, of: workspace, named: place.path, stores: nil, preferring: nil)
      let status = try await body(
        RegionLayer(
          layer, of: recording?.store(at: place.path) ?? store, radius: plan.radius,
          radiusColumn: arguments[MonitorArguments.column]))
      await workspace.close()
      return status
    } catch {
      await workspace.close()
      throw error
    }
  }

  private func watch(
    _ monitor: any FixMonitor, _ regions: RegionLayer?, _ recording: MonitorRecording?
  ) async throws(FieldpackError) -> Int32 {
    let name = arguments[MonitorArguments.source]
    let device = arguments[MonitorArguments.device]
    guard name != "-", MonitorArguments.isStore(name) else {
      guard arguments[MonitorArguments.layer] == nil, device == nil else {
        throw FieldpackError(
          .invalidArgument, "\(name) gives fixes line by line and has neither layers nor columns")
      }
      return try await show(monitor, invocation.fixes(of: name), regions, recording)
    }
    return try await invocation.withSource { (source) throws(FieldpackError) in
      let (store, layer) = try await LayerChoice.layer(
        arguments[MonitorArguments.layer], of: source.workspace, named: source.name,
        stores: SourceArguments.stores(arguments), preferring: "track_points")
      let fixes = try await fixes(of: layer, in: store)
      return try await show(monitor, (fixes, isReplay: true), regions, recording)
    }
  }

  private func fixes(
    of layer: LayerID, in store: any Store
  ) async throws(FieldpackError) -> any LocationSource {
    let device = arguments[MonitorArguments.device]
    let schema = try await store.schemas().first { $0.layer == layer }
    if let type = schema?.geometry?.type, Self.lines.contains(type) {
      return VertexSource(store, layer: layer, deviceColumn: device)
    }
    var options = ReplayArguments.options(arguments)
    options.columns.device = device
    return ReplaySource(store, layer: layer, options: options)
  }

  private static let lines: Set<GeometryType> = [
    .lineString, .multiLineString, .circularString, .compoundCurve, .multiCurve, .curve,
  ]

  private func show(
    _ monitor: any FixMonitor, _ fixes: (source: any LocationSource, isReplay: Bool),
    _ regions: RegionLayer?, _ recording: MonitorRecording?
  ) async throws(FieldpackError) -> Int32 {
    let source = fixes.source
    var output = DetectionOutput(invocation)
    try output.begin()
    if let recording {
      try await recording.watch(
        monitor, source, regions, origin: arguments[MonitorArguments.source],
        isReplay: fixes.isReplay
      ) { (detections) throws(FieldpackError) in try output.add(detections) }
      try output.finish()
      return ExitStatus.success
    }
    for try await detections in monitor.detections(of: source, watching: regions) {
      try output.add(detections)
    }
    try output.finish()
    return ExitStatus.success
  }
}

extension FixMonitor {
  fileprivate func detections(
    of source: some LocationSource, watching regions: RegionLayer?
  ) -> Detections {
    guard let regions, let monitor = self as? RegionsMonitor else { return detections(of: source) }
    return monitor.detections(of: source, watching: regions)
  }
}

/// Which layer of a source a command means.
enum LayerChoice {
  /// - Parameters:
  ///   - name: `nil` leaves it to the source, which then has to have one with geometry only.
  ///   - stores: those that are asked, `nil` all.
  ///   - preferred: the layer that is taken where there are several.
  static func layer(
    _ name: String?, of workspace: Workspace, named source: String, stores: [StoreID]?,
    preferring preferred: String?
  ) async throws(FieldpackError) -> (store: any Store, layer: LayerID) {
    var found: [(store: any Store, layer: LayerID)] = []
    let members = workspace.members.filter { stores?.contains($0.id) ?? true }
    for member in members {
      guard let store = member.store else {
        throw FieldpackError(
          .unavailable, "store '\(member.id)' of \(source) cannot be opened",
          location: .init(store: member.id))
      }
      for schema in try await store.schemas() where schema.geometry != nil {
        found.append((store, schema.layer))
      }
      // A store may know it by another name, and says which layers it has.
      if let name, members.count == 1 { return (store, LayerID(name)) }
    }
    if let name = name ?? (found.count > 1 ? preferred : nil),
      let named = found.first(where: { $0.layer == LayerID(name) })
    {
      return named
    }
    if name == nil, found.count == 1 { return found[0] }
    let layers = found.map(\.layer.rawValue).joined(separator: ", ")
    guard !found.isEmpty else {
      throw FieldpackError(.notFound, "\(source) has no layer with geometry")
    }
    guard let name else {
      throw FieldpackError(
        .invalidArgument, "\(source) has several layers. Try: one of \(layers)")
    }
    throw FieldpackError(.notFound, "there is no layer '\(name)' in \(source) (it has: \(layers))")
  }
}
