public import FieldpackCore
public import FieldpackGeometry
import FieldpackProjection

/// Regions prepared for tests of many positions.
///
/// A packed copy in memory: an R-tree over the regions' boxes, circles and rings in flat arrays. Its
/// answers are those of the geometries themselves: what double precision cannot decide, GEOS does.
///
/// - A circle holds the positions whose geodesic distance from its centre on the ellipsoid of WGS 84
///   is its radius or less; an area those within it and on its border (`covers`).
/// - Longitudes that differ by 360° are the same, so that areas may cross the antimeridian by
///   longitudes beyond 180° or be cut there (RFC 7946 section 3.1.9). At a pole all longitudes are
///   one position: an area that reaches it holds it.
/// - Edges are straight in longitude and latitude, as is the way between two fixes, which takes the
///   shorter way around the Earth.
/// - Distances to an edge are geodesics, below a millimetre exact. Edges on the antimeridian and at a
///   pole are no border where the region goes on behind them.
public final class WatchedRegions: Sendable {
  /// In ascending order.
  public let ids: [FeatureID]
  /// What was left out, in words.
  public let notes: [String]
  let packed: PackedRegions
  private let exact: ExactAreas

  /// - Throws: `.invalidData` that names the region which is a line, a point without a radius, or not
  ///   in longitude and latitude; `.invalidArgument` for two regions of one id.
  public init(_ regions: [WatchedRegion], notes: [String] = []) throws(FieldpackError) {
    var packing = RegionPacking()
    var ids: [FeatureID] = []
    ids.reserveCapacity(regions.count)
    for region in regions.sorted(by: { $0.id < $1.id }) {
      guard ids.last != region.id else {
        throw FieldpackError(.invalidArgument, "two of the regions have the id \(region.id)")
      }
      try packing.add(region)
      ids.append(region.id)
    }
    self.ids = ids
    self.notes = notes
    packed = packing.finish()
    exact = ExactAreas()
  }

  /// Regions without any.
  init() {
    (ids, notes, packed, exact) = ([], [], PackedRegions(), ExactAreas())
  }

  public var count: Int { ids.count }

  /// The regions that hold a position, in the order of their ids.
  public func ids(holding position: Position) -> [FeatureID] {
    guard abs(position.x) <= 180, abs(position.y) <= 90 else { return [] }
    var found: [Int32] = []
    find(holding: position.x, position.y, into: &found)
    return found.map { ids[Int($0)] }
  }

  /// Metres from a position to the edge of a region, negative inside.
  ///
  /// `nil` where there is no such region, and for one without an edge, as the whole Earth is.
  public func distance(from position: Position, toEdgeOf id: FeatureID) -> Double? {
    guard let region = index(of: id) else { return nil }
    return distance(to: region, from: Viewpoint(position.x, position.y))
  }

  /// Index of an id among ``ids``.
  func index(of id: FeatureID) -> Int? {
    var (low, high) = (0, ids.count)
    while low < high {
      let middle = (low + high) / 2
      if ids[middle] < id { low = middle + 1 } else { high = middle }
    }
    return low < ids.count && ids[low] == id ? low : nil
  }
}

extension WatchedRegions {
  /// Puts the regions that hold a position into `found`, each once, in ascending order.
  func find(holding x: Double, _ y: Double, into found: inout [Int32]) {
    found.removeAll(keepingCapacity: true)
    // Positions that no circle is near do not need it.
    var known: GeodesicPosition?
    func look(_ entry: PackedRegions.Entry) {
      let isHeld: Bool
      switch entry.shape {
      case .circle:
        let own = known ?? GeodesicPosition(longitude: x, latitude: y)
        known = own
        isHeld = holds(packed.circles[Int(entry.index)], own)
      case .area: isHeld = holds(area: Int(entry.index), x + entry.turn, y)
      case .pole: isHeld = abs(y) == 90
      }
      if isHeld { Self.insert(entry.region, into: &found) }
    }
    if packed.grid.visit(x, y, look) { return }
    packed.index.visit(meeting: BoxIndex.box(x, y, x, y)) { look(packed.entries[$0]) }
  }

  /// Few regions hold one position.
  private static func insert(_ region: Int32, into found: inout [Int32]) {
    var index = found.count
    while index > 0, found[index - 1] > region { index -= 1 }
    if index > 0, found[index - 1] == region { return }
    found.insert(region, at: index)
  }

  private func holds(_ circle: PackedRegions.Circle, _ position: GeodesicPosition) -> Bool {
    let apart = position.spherePoint - circle.centre.spherePoint
    let square = (apart * apart).sum()
    if square <= circle.within { return true }
    if square > circle.beyond { return false }
    let quick = Geodesic.wgs84.quickDistance(from: circle.centre, to: position)
    if abs(quick - circle.radius) > Geodesic.quickError { return quick < circle.radius }
    let way = Geodesic.wgs84.distance(from: circle.centre.position, to: position.position)
    return way <= circle.radius
  }

  private func holds(area: Int, _ x: Double, _ y: Double) -> Bool {
    switch packed.side(packed.areas[area], x, y) {
    case .inside: true
    case .outside: false
    case .doubtful: exact.covers(area, of: packed, x, y)
    }
  }

  /// Whether a region holds a position, without the index.
  func holds(_ region: Int, _ x: Double, _ y: Double) -> Bool {
    let region = packed.regions[region]
    let position = GeodesicPosition(longitude: x, latitude: y)
    return packed.circles[region.circles].contains { holds($0, position) }
      || region.areas.contains { holdsInAnyTurn($0, x, y) }
  }

  func holdsInAnyTurn(_ area: Int, _ x: Double, _ y: Double) -> Bool {
    let own = packed.areas[area]
    if abs(y) == 90, packed.vertices[own.vertices].contains(where: { $0.y == y }) { return true }
    for turn in -2...2 {
      let turned = x + 360 * Double(turn)
      if turned >= own.minX, turned <= own.maxX, holds(area: area, turned, y) { return true }
    }
    return false
  }

  // MARK: Ways

  /// Puts the regions that hold a fix and those on the way to it into `found` and `crossed`.
  func find(_ step: RegionsStep, holding found: inout [Int32], crossed: inout [Int32]) {
    find(holding: step.position.x, step.position.y, into: &found)
    if step.mayCross {
      find(crossedFrom: step.before, to: step.position, into: &crossed)
    } else {
      crossed.removeAll(keepingCapacity: true)
    }
  }

  /// Puts the regions that the way between two fixes touches into `found`, in ascending order.
  ///
  /// The way is straight in longitude and latitude and goes around the Earth on the shorter side,
  /// eastwards where both are as long.
  func find(crossedFrom start: SIMD2<Double>, to end: SIMD2<Double>, into found: inout [Int32]) {
    found.removeAll(keepingCapacity: true)
    var step = end.x - start.x
    if step > 180 { step -= 360 } else if step <= -180 { step += 360 }
    let from = start
    let to = SIMD2(start.x + step, end.y)
    guard from != to else { return }
    let (low, high) = (pointwiseMin(from, to), pointwiseMax(from, to))
    for turn in [0.0, 360, -360] {
      // The index has every region between -180° and 180°.
      guard low.x + turn <= 180, high.x + turn >= -180 else { continue }
      packed.index.visit(alongWayFrom: from + SIMD2(turn, 0), to: to + SIMD2(turn, 0)) { index in
        let entry = packed.entries[index]
        let shift = SIMD2(turn + entry.turn, 0)
        if meets(entry, from + shift, to + shift) { Self.insert(entry.region, into: &found) }
      }
    }
  }

  private func meets(
    _ entry: PackedRegions.Entry, _ from: SIMD2<Double>, _ to: SIMD2<Double>
  ) -> Bool {
    switch entry.shape {
    case .circle: meets(packed.circles[Int(entry.index)], from, to)
    case .area: meets(area: Int(entry.index), from, to)
    case .pole: true
    }
  }

  private func meets(
    _ circle: PackedRegions.Circle, _ from: SIMD2<Double>, _ to: SIMD2<Double>
  ) -> Bool {
    let way = Geodesic.wgs84.distance(
      from: circle.centre.position, toEdgeFrom: Position(x: from.x, y: from.y),
      to: Position(x: to.x, y: to.y), limit: circle.radius.nextUp)
    return way <= circle.radius
  }

  private func meets(area: Int, _ from: SIMD2<Double>, _ to: SIMD2<Double>) -> Bool {
    packed.meets(packed.areas[area], from, to)
      ?? exact.intersects(area, of: packed, from, to)
  }
}
