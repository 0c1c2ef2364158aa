public import FieldpackCore
import FieldpackGeometry
public import FieldpackLocation

/// Watches many regions for many devices.
///
///     let zones = RegionLayer("zones", of: store)
///     let monitor = try GeofenceMonitor(try await zones.regions())
///     for try await detections in monitor.detections(of: source, watching: zones) {
///       for seen in detections where seen.kind == .enter { show(seen) }
///     }
///
/// A device's stay in a region begins with its `enter`, which may be its first fix, and ends with its
/// `exit`. Of one fix, detections come by region id, and of one region as `exit`, `cross`, `enter`,
/// `dwell`, `inside`, `outside`; each has the signed distance to the region's edge.
public struct GeofenceMonitor: FixMonitor {
  /// What is detected, and how certain a fix has to be.
  public struct Options: Hashable, Sendable {
    /// Some of `enter`, `exit`, `cross`, `dwell`, `inside` and `outside`.
    ///
    /// `cross`: the way between a device's last fix and this one, straight in longitude and latitude,
    /// touches a region that holds neither. `inside` and `outside`: at each fix, for each region the
    /// device stays in, or does not; the latter measures every region at every fix.
    public var kinds: Set<Detection.Kind> = [.enter, .exit, .cross]
    /// The metres that a device has to be outside of a region's edge for an exit.
    public var hysteresis = 0.0
    /// Whether a fix stands for the whole circle of its accuracy: a device enters only when the
    /// circle lies within the region, and exits only when it lies outside.
    public var usesAccuracy = false
    /// The largest radius of accuracy in metres. Less accurate fixes are ignored.
    public var accuracyGate: Double?
    /// The seconds after which a stay gives a `dwell`, once, counted from the stay's first fix with
    /// a time.
    public var dwell: Double?

    public init() {}
  }

  public let options: Options
  /// The regions that are watched now; see ``watch(_:)``.
  public private(set) var regions: WatchedRegions
  private let wants: Wants
  private let gate: FixGate
  private var devices = DeviceNames()
  /// What is known of each device, by its index in ``devices``.
  private var entries: [RegionsDevice] = []
  /// Stays in regions that are no more, by the index of the device.
  private var gone: [Int: [Stay]] = [:]
  // Used for one fix after the other, so that a fix allocates nothing.
  var found: [Int32] = []
  var crossed: [Int32] = []
  private var staying: [RegionStay] = []

  /// - Throws: `.invalidArgument` for no kinds, kinds that no region has, a `dwell` without its
  ///   seconds, and numbers below 0.
  public init(
    _ regions: WatchedRegions, options: Options = Options()
  ) throws(FieldpackError) {
    try Self.check(options)
    self.regions = regions
    self.options = options
    wants = Wants(options.kinds)
    gate = FixGate(accuracy: options.accuracyGate)
  }

  private static let order: [Detection.Kind] = [
    .enter, .exit, .cross, .dwell, .inside, .outside,
  ]

  private static func check(_ options: Options) throws(FieldpackError) {
    if let kind = options.kinds.first(where: { !order.contains($0) }) {
      throw FieldpackError(
        .invalidArgument,
        "regions give no detection '\(kind.rawValue)'. Try: "
          + order.map(\.rawValue).joined(separator: ", "))
    }
    guard !options.kinds.isEmpty else {
      throw FieldpackError(.invalidArgument, "no kind of detection is asked for")
    }
    guard options.dwell != nil || !options.kinds.contains(.dwell) else {
      throw FieldpackError(
        .invalidArgument, "'dwell' is asked for without the seconds after which it comes")
    }
    try MonitorArgument.check(options.hysteresis, "the hysteresis")
    try MonitorArgument.check(options.dwell ?? 0, "the time to dwell")
    try MonitorArgument.check(options.accuracyGate ?? 0, "the accuracy that fixes need")
  }

  public var parameters: String {
    let kinds = Self.order.filter { options.kinds.contains($0) }.map(\.rawValue)
    return "regions detect=\(kinds.joined(separator: ",")) hysteresis=\(options.hysteresis)"
      + (options.usesAccuracy ? " accuracy" : "") + (options.dwell.map { " dwell=\($0)" } ?? "")
      + gate.text
  }

  // MARK: Fixes

  @discardableResult
  public mutating func take(
    _ fix: Fix, number: Int, into detections: inout [Detection]
  ) -> Bool {
    guard let step = admit(fix, number) else { return false }
    regions.find(step, holding: &found, crossed: &crossed)
    var none: [OwedDistance]?
    judge(fix, number, step, into: &detections, &none)
    return true
  }

  /// Moves the fix's device there; `nil` where the fix is passed over.
  mutating func admit(_ fix: Fix, _ number: Int) -> RegionsStep? {
    let position = SIMD2(fix.longitude, fix.latitude)
    guard let device = devices.find(fix.device) else {
      guard gate.lets(fix) else { return nil }
      devices.append(fix.device)
      entries.append(RegionsDevice(fix, number))
      return RegionsStep(
        device: Int32(entries.count - 1), mayCross: false, before: position,
        position: position, time: fix.time)
    }
    guard let before = entries[device].admit(fix, number, gate) else { return nil }
    return RegionsStep(
      device: Int32(device), mayCross: wants.cross && before != position, before: before,
      position: position, time: fix.time)
  }

  /// Says what there is to say of a fix, by the regions in `found` and `crossed`.
  ///
  /// - Parameter owed: if there is one, detections may do without a distance that is then in it.
  mutating func judge(
    _ fix: Fix, _ number: Int, _ step: RegionsStep, into detections: inout [Detection],
    _ owed: inout [OwedDistance]?
  ) {
    if !gone.isEmpty, leaveGone(fix, number, step, &detections) { return }
    guard !isUnchanged(step) else { return }
    compare(fix, number, step, into: &detections, &owed)
  }

  /// Says the exits from regions that are no more, and all else of the fix between them; false where
  /// there are none.
  private mutating func leaveGone(
    _ fix: Fix, _ number: Int, _ step: RegionsStep, _ detections: inout [Detection]
  ) -> Bool {
    guard let stays = gone.removeValue(forKey: Int(step.device)) else { return false }
    let start = detections.count
    if wants.exit {
      for stay in stays {
        detections.append(
          Detection(
            fix: number, kind: .exit, device: fix.device, region: stay.region, time: fix.time))
      }
    }
    // Where they are sorted, none can be found again.
    var none: [OwedDistance]?
    compare(fix, number, step, into: &detections, &none)
    // Detections of one region stay in their order.
    let ordered = detections[start...].enumerated().sorted {
      ($0.element.region ?? 0, $0.offset) < ($1.element.region ?? 0, $1.offset)
    }
    detections.replaceSubrange(start..., with: ordered.map(\.element))
    return true
  }

  /// Whether the device of a fix stays where it stayed, and nothing is said about that.
  func isUnchanged(_ step: RegionsStep) -> Bool {
    guard gone.isEmpty, crossed.isEmpty, !wants.inside, !wants.outside else { return false }
    let device = Int(step.device)
    guard entries[device].isStaying else { return found.isEmpty }
    guard !wants.dwell, entries[device].stays.count == found.count else { return false }
    for (index, region) in found.enumerated() {
      let stay = entries[device].stays[index]
      guard stay.region == region, stay.since != nil || step.time == nil else { return false }
    }
    return true
  }

  /// Goes through the regions of which there is something to say, in their order.
  private mutating func compare(
    _ fix: Fix, _ number: Int, _ step: RegionsStep, into detections: inout [Detection],
    _ owed: inout [OwedDistance]?
  ) {
    var visit = RegionVisit(number, step)
    let device = Int(step.device)
    var stays: [RegionStay] = []
    swap(&stays, &entries[device].stays)
    staying.removeAll(keepingCapacity: true)
    var (next, nextFound, nextCrossed) = (0, 0, 0)
    var region: Int32 = 0
    while true {
      if !wants.outside {
        region = .max
        if next < stays.count { region = stays[next].region }
        if nextFound < found.count { region = min(region, found[nextFound]) }
        if nextCrossed < crossed.count { region = min(region, crossed[nextCrossed]) }
      }
      guard region < Int32(regions.count) else { break }
      visit.begin(region)
      if next < stays.count, stays[next].region == region {
        visit.stay = stays[next]
        next += 1
      }
      if nextFound < found.count, found[nextFound] == region {
        visit.isHeld = true
        nextFound += 1
      }
      if nextCrossed < crossed.count, crossed[nextCrossed] == region {
        visit.isCrossed = true
        nextCrossed += 1
      }
      end(&visit, fix, into: &detections, &owed)
      region += 1
    }
    swap(&staying, &entries[device].stays)
    staying = stays
  }

  /// Says what there is to say of one region.
  private mutating func end(
    _ visit: inout RegionVisit, _ fix: Fix, into detections: inout [Detection],
    _ owed: inout [OwedDistance]?
  ) {
    let accuracy = options.usesAccuracy ? max(0, fix.accuracy ?? 0) : 0
    let wasIn = visit.stay != nil
    let isIn = visit.staysIn(regions, wasIn, max(options.hysteresis, accuracy), accuracy)
    if wasIn, !isIn, wants.exit { visit.say(.exit, fix, regions, &detections, &owed) }
    if !wasIn, !isIn, visit.isCrossed, !visit.isHeld,
      !regions.holds(Int(visit.region), visit.before.x, visit.before.y)
    {
      visit.say(.cross, fix, regions, &detections, &owed)
    }
    guard isIn else {
      if wants.outside { visit.say(.outside, fix, regions, &detections, &owed) }
      return
    }
    if !wasIn, wants.enter { visit.say(.enter, fix, regions, &detections, &owed) }
    var stay = visit.stay ?? RegionStay(region: visit.region, fix: visit.number)
    // The earlier one where the clock of the device went back.
    if let time = fix.time { stay.since = min(stay.since ?? time, time) }
    if wants.dwell, let dwell = options.dwell, !stay.hasDwelt, let since = stay.since,
      let time = fix.time,
      time.seconds(since: since) >= dwell
    {
      stay.hasDwelt = true
      visit.say(.dwell, fix, regions, &detections, &owed)
    }
    staying.append(stay)
    if wants.inside { visit.say(.inside, fix, regions, &detections, &owed) }
  }

  // MARK: Regions and state

  /// Watches other regions from the next fix of each device on.
  ///
  /// A stay continues in the region of the same id. Where that region is gone, the next fix of the
  /// device is its `exit`, without a distance.
  public mutating func watch(_ regions: WatchedRegions) {
    guard regions !== self.regions else { return }
    let state = state
    self.regions = regions
    resume(state)
  }

  /// The number of stays of all devices.
  public var stayCount: Int { entries.reduce(0) { $0 + $1.stays.count } }

  public var state: MonitorState { MonitorState(devices: devices.sorted.map { state(at: $0) }) }

  public func state(of device: String) -> DeviceState? {
    devices.index(of: device).map { state(at: $0) }
  }

  private func state(at index: Int) -> DeviceState {
    let device = entries[index]
    let stays = device.stays.map { stay in
      Stay(
        region: regions.ids[Int(stay.region)], fix: stay.fix, since: stay.since,
        hasDwelt: stay.hasDwelt)
    }
    let all = (gone[index] ?? []) + stays
    return DeviceState(
      device: devices.names[index], fix: device.fix, longitude: device.position.x,
      latitude: device.position.y, time: device.time,
      late: device.late, stays: gone[index] == nil ? all : all.sorted { $0.region < $1.region })
  }

  public mutating func resume(_ state: MonitorState) {
    (devices, entries) = (DeviceNames(), [])
    gone = [:]
    for device in state.devices where devices.index(of: device.device) == nil {
      var entry = RegionsDevice(device)
      for stay in device.stays.sorted(by: { $0.region < $1.region }) {
        if let region = regions.index(of: stay.region) {
          entry.stays.append(
            RegionStay(
              region: Int32(region), hasDwelt: stay.hasDwelt, fix: stay.fix, since: stay.since))
        } else {
          gone[entries.count, default: []].append(stay)
        }
      }
      devices.append(device.device)
      entries.append(entry)
    }
  }
}
