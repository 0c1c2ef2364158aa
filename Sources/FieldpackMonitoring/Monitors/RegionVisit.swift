import FieldpackCore
import FieldpackGeometry
import FieldpackLocation

/// What the regions monitor knows of a device.
struct RegionsDevice: Sendable {
  /// Longitude and latitude.
  var position: SIMD2<Double>
  var time: Instant?
  var late: LateFixes?
  var fix: Int
  /// By region.
  var stays: [RegionStay] = [] {
    didSet { isStaying = !stays.isEmpty }
  }
  /// Known without a look at the stays, which lie elsewhere.
  private(set) var isStaying = false

  init(_ fix: Fix, _ number: Int) {
    (position, time, self.fix) = ([fix.longitude, fix.latitude], fix.time, number)
  }

  init(_ state: DeviceState) {
    position = [state.longitude, state.latitude]
    (time, late, fix) = (state.time, state.late, state.fix)
  }

  /// Moves the device to the fix and tells where it was; `nil` where the fix is passed over.
  mutating func admit(_ fix: Fix, _ number: Int, _ gate: FixGate) -> SIMD2<Double>? {
    guard gate.lets(fix, after: time, late: &late) else { return nil }
    let before = position
    position = [fix.longitude, fix.latitude]
    time = fix.time ?? time
    self.fix = number
    return before
  }
}

/// A stay in a region.
struct RegionStay: Sendable {
  /// Index of the region in ``WatchedRegions/ids``.
  var region: Int32
  var hasDwelt = false
  var fix: Int
  var since: Instant?
}

/// A fix that is not passed over, with where its device was before.
struct RegionsStep: Sendable {
  /// Index of the device in the monitor's table.
  let device: Int32
  /// Whether the way from there is asked about.
  let mayCross: Bool
  let before: SIMD2<Double>
  let position: SIMD2<Double>
  let time: Instant?
}

/// The kinds of detections that are asked for.
struct Wants: Sendable {
  let enter, exit, cross, dwell, inside, outside: Bool

  init(_ kinds: Set<Detection.Kind>) {
    enter = kinds.contains(.enter)
    exit = kinds.contains(.exit)
    cross = kinds.contains(.cross)
    dwell = kinds.contains(.dwell)
    inside = kinds.contains(.inside)
    outside = kinds.contains(.outside)
  }
}

/// A distance that a detection is still to have, by the index of the detection and that of the region
/// to whose edge it is.
struct OwedDistance: Sendable {
  var detection: Int
  var region: Int32
  /// Whether the fix lies in the region.
  var isHeld: Bool
  var x: Double
  var y: Double
}

/// One fix seen from one region.
struct RegionVisit {
  let number: Int
  /// Where the fix is, and where the device's fix before was.
  let position: SIMD2<Double>
  let before: SIMD2<Double>
  var region: Int32 = 0
  var stay: RegionStay?
  /// Whether the fix lies in the region.
  var isHeld = false
  /// Whether the way to the fix touches the region.
  var isCrossed = false
  /// Made once, when it is asked for.
  private var view: Viewpoint?
  /// Measured once, when it is asked for.
  private var distance: Double??

  init(_ number: Int, _ step: RegionsStep) {
    self.number = number
    (position, before) = (step.position, step.before)
  }

  mutating func begin(_ region: Int32) {
    self.region = region
    (stay, isHeld, isCrossed, distance) = (nil, false, false, nil)
  }

  /// Whether the device counts as in the region after the fix.
  ///
  /// - Parameters:
  ///   - outwards: metres beyond the edge that do not count as out yet.
  ///   - inwards: metres within the edge that do not count as in yet.
  mutating func staysIn(
    _ regions: WatchedRegions, _ wasIn: Bool, _ outwards: Double, _ inwards: Double
  ) -> Bool {
    if wasIn {
      guard !isHeld, outwards > 0 else { return isHeld }
      return isWithin(outwards, regions) ?? false
    }
    guard isHeld, inwards > 0 else { return isHeld }
    return isWithin(-inwards, regions) ?? true
  }

  private mutating func isWithin(_ limit: Double, _ regions: WatchedRegions) -> Bool? {
    guard let distance = measured(regions) else { return nil }
    return regions.isWithin(limit, distance, to: Int(region), from: viewpoint())
  }

  private mutating func viewpoint() -> Viewpoint {
    if let view { return view }
    let own = Viewpoint(position.x, position.y)
    view = own
    return own
  }

  private mutating func measured(_ regions: WatchedRegions) -> Double? {
    if let distance { return distance }
    let own = regions.distance(to: Int(region), from: viewpoint(), isHeld: isHeld)
    distance = .some(own)
    return own
  }

  mutating func say(
    _ kind: Detection.Kind, _ fix: Fix, _ regions: WatchedRegions,
    _ detections: inout [Detection], _ owed: inout [OwedDistance]?
  ) {
    if distance == nil {
      if owed != nil {
        owed?.append(
          OwedDistance(
            detection: detections.count, region: region, isHeld: isHeld, x: position.x,
            y: position.y))
      } else {
        _ = measured(regions)
      }
    }
    detections.append(
      Detection(
        fix: number, kind: kind, device: fix.device, region: regions.ids[Int(region)],
        time: fix.time, distance: distance ?? nil))
  }
}
