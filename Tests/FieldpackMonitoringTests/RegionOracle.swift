import FieldpackCore
import FieldpackGeometry
import FieldpackLocation
import FieldpackMonitoring
import FieldpackProjection
import FieldpackTopology

/// What a regions monitor has to see, by asking GEOS and the geodesics about every region at every
/// fix.
final class RegionOracle {
  private struct Shape {
    let region: WatchedRegion
    let polygons: TopologyGeometry?
    /// Where the geometry is not valid, for which GEOS answers by this way alone.
    let prepared: PreparedGeometry?
    let border: GeodesicShape?
  }

  private struct Device {
    var fix: Fix
    var stays: [FeatureID: Stay] = [:]
  }

  private struct Stay {
    var since: Instant?
    var hasDwelt = false
  }

  private let context: TopologyContext
  private let shapes: [Shape]
  private let options: GeofenceMonitor.Options
  private var devices: [String: Device] = [:]

  init(_ regions: [WatchedRegion], _ options: GeofenceMonitor.Options) throws {
    let context = try TopologyContext()
    self.context = context
    self.options = options
    shapes = try regions.sorted { $0.id < $1.id }.map { region in
      guard let border = region.geometry.border else {
        return Shape(region: region, polygons: nil, prepared: nil, border: nil)
      }
      let polygons = try context.read(region.geometry)
      return Shape(
        region: region, polygons: polygons,
        prepared: try polygons.isValid() ? nil : try PreparedGeometry(polygons),
        border: try GeodesicShape(border))
    }
  }

  private static let turns = [-720.0, -360, 0, 360, 720]

  private func holds(_ shape: Shape, _ x: Double, _ y: Double) throws -> Bool {
    guard let polygons = shape.polygons else {
      return try distance(shape, x, y) <= 0
    }
    if abs(y) == 90, let box = shape.border?.envelope, box.minY == y || box.maxY == y {
      return true
    }
    for turn in Self.turns {
      let point = try context.read(.point(x: x + turn, y: y))
      let wkb = try point.wkb()
      if try shape.prepared?.test(.intersects, of: wkb.span.bytes) ?? polygons.has(
        .intersects, to: point)
        ?? false
      {
        return true
      }
    }
    return false
  }

  private func distance(_ shape: Shape, _ x: Double, _ y: Double) throws -> Double {
    guard let border = shape.border else {
      guard case .point(let centre?, _) = shape.region.geometry else { return .nan }
      return Geodesic.wgs84.distance(from: centre, to: Position(x: x, y: y))
        - (shape.region.radius ?? .nan)
    }
    let way = border.distance(to: try GeodesicShape(.point(x: x, y: y))) ?? .nan
    return try holds(shape, x, y) ? -way : way
  }

  private func crosses(_ shape: Shape, _ from: Fix, _ to: Fix) throws -> Bool {
    var step = to.longitude - from.longitude
    if step > 180 { step -= 360 } else if step <= -180 { step += 360 }
    guard step != 0 || to.latitude != from.latitude else { return false }
    for turn in Self.turns {
      let way = CoordinateSequence(
        [
          Position(x: from.longitude + turn, y: from.latitude),
          Position(x: from.longitude + step + turn, y: to.latitude),
        ], dimensions: .xy)
      if let polygons = shape.polygons {
        let line = try context.read(.lineString(way))
        let wkb = try line.wkb()
        if try shape.prepared?.test(.intersects, of: wkb.span.bytes) ?? polygons.has(
          .intersects, to: line)
          ?? false
        {
          return true
        }
      } else if turn == 0 {
        let centre = try GeodesicShape(shape.region.geometry)
        let least = try GeodesicShape(.lineString(way)).distance(to: centre) ?? .infinity
        if least <= shape.region.radius ?? 0 { return true }
      }
    }
    return false
  }

  func take(_ fix: Fix, _ number: Int) throws -> [Detection] {
    let before = devices[fix.device]
    var device = before ?? Device(fix: fix)
    device.fix = fix
    var seen: [Detection] = []
    for shape in shapes {
      let id = shape.region.id
      func say(_ kind: Detection.Kind) throws {
        guard options.kinds.contains(kind) else { return }
        seen.append(
          Detection(
            fix: number, kind: kind, device: fix.device, region: id, time: fix.time,
            distance: try distance(shape, fix.longitude, fix.latitude)))
      }
      let isHeld = try holds(shape, fix.longitude, fix.latitude)
      let accuracy = options.usesAccuracy ? fix.accuracy ?? 0 : 0
      let wasIn = before?.stays[id] != nil
      var isIn = isHeld
      if wasIn, !isHeld {
        let outwards = max(options.hysteresis, accuracy)
        isIn = try outwards > 0 && distance(shape, fix.longitude, fix.latitude) <= outwards
      } else if !wasIn, isHeld, accuracy > 0 {
        isIn = try distance(shape, fix.longitude, fix.latitude) <= -accuracy
      }
      if wasIn, !isIn { try say(.exit) }
      if let before, !wasIn, !isIn, !isHeld, options.kinds.contains(.cross),
        try !holds(shape, before.fix.longitude, before.fix.latitude),
        try crosses(shape, before.fix, fix)
      {
        try say(.cross)
      }
      if !wasIn, isIn { try say(.enter) }
      device.stays[id] = isIn ? before?.stays[id] ?? Stay() : nil
      if isIn, let time = fix.time {
        let since = device.stays[id]?.since ?? time
        device.stays[id]?.since = since
        if let dwell = options.dwell, device.stays[id]?.hasDwelt == false,
          Double(time.milliseconds - since.milliseconds) / 1000 >= dwell
        {
          device.stays[id]?.hasDwelt = true
          try say(.dwell)
        }
      }
      try say(isIn ? .inside : .outside)
    }
    devices[fix.device] = device
    return seen
  }
}

extension Geometry {
  /// The rings of areas as lines; `nil` for what is no area.
  fileprivate var border: Geometry? {
    switch self {
    case .polygon(let rings, let dimensions): .multiLineString(rings, dimensions)
    case .multiPolygon(let polygons, let dimensions):
      .multiLineString(polygons.flatMap { $0 }, dimensions)
    default: nil
    }
  }
}
