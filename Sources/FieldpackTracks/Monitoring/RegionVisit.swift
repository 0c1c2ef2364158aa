import FieldpackCore
import FieldpackGeometry

/// What the regions monitor knows of a device.
struct RegionsDevice: Sendable {
  var position: Position
  var time: Instant?
  var late: LateFixes?
  var fix: Int
  /// By region.
  var stays: [RegionStay] = []

  init(_ fix: Fix, _ number: Int) {
    (position, time, self.fix) = (fix.position, fix.time, number)
  }

  init(_ state: DeviceState) {
    position = Position(x: state.longitude, y: state.latitude)
    (time, late, fix) = (state.time, state.late, state.fix)
  }

  mutating func take(_ fix: Fix, _ number: Int) {
    (position, time, self.fix) = (fix.position, fix.time ?? time, number)
  }
}

/// A stay in the region at a place among those that are watched.
struct RegionStay: Sendable {
  var region: Int32
  var hasDwelt = false
  var fix: Int
  var since: Instant?
}

/// A fix that is not passed over: the place of its device, and where that was before.
struct RegionsStep: Sendable {
  let device: Int
  let before: Position
  /// Whether the way from there is asked about.
  let mayCross: Bool
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

/// A distance that a detection is still to have: of the detection at a place, to the edge of a region.
struct OwedDistance: Sendable {
  var detection: Int
  var region: Int32
  var x: Double
  var y: Double
}

/// One fix seen from one region.
struct RegionVisit {
  let fix: Fix
  let number: Int
  /// Where the device's fix before was.
  let before: Position
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

  init(_ fix: Fix, _ number: Int, _ before: Position) {
    (self.fix, self.number, self.before) = (fix, number, before)
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
    let own = Viewpoint(fix.longitude, fix.latitude)
    view = own
    return own
  }

  private mutating func measured(_ regions: WatchedRegions) -> Double? {
    if let distance { return distance }
    let own = regions.distance(to: Int(region), from: viewpoint())
    distance = .some(own)
    return own
  }

  mutating func say(
    _ kind: Detection.Kind, _ regions: WatchedRegions, _ detections: inout [Detection],
    _ owed: inout [OwedDistance]?
  ) {
    if distance == nil {
      if owed != nil {
        owed?.append(
          OwedDistance(
            detection: detections.count, region: region, x: fix.longitude, y: fix.latitude))
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
