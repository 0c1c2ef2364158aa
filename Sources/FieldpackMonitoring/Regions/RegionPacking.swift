import FieldpackCore
import FieldpackGeometry
import FieldpackProjection

/// Packs regions one after the other.
struct RegionPacking {
  private(set) var packed = PackedRegions()
  private var boxes: [BoxIndex.Box] = []
  private let ellipsoid = Geodesic.wgs84
  private var seam = SeamEdges()
  /// Edges of the region that is packed now, by the index of their first vertex.
  private var edges: [Int32] = []

  /// No longitude is farther from Greenwich: a turn and a half either way.
  private static let widest = 540.0

  mutating func add(_ region: WatchedRegion) throws(FieldpackError) {
    let (firstCircle, firstArea) = (packed.circles.count, packed.areas.count)
    edges = []
    seam = SeamEdges()
    try add(region.geometry.linearized(), of: region)
    let firstBorder = packed.borders.count
    packed.borders += edges
    for (start, end) in seam.borders { addBorder(start, end) }
    var own = PackedRegions.Region(
      circles: firstCircle..<packed.circles.count, areas: firstArea..<packed.areas.count,
      borders: firstBorder..<packed.borders.count)
    (own.turn, own.extent) = measure(own.borders)
    packed.regions.append(own)
  }

  /// The longest turn of an edge, and the size of a box in space around all.
  private func measure(_ borders: Range<Int>) -> (turn: Double, extent: Double) {
    var turn = 0.0
    var low = SIMD3<Float>(repeating: .infinity)
    var high = -low
    for edge in packed.borders[borders].lazy.map({ Int($0) }) {
      turn = max(turn, packed.turn(ofEdge: edge))
      for vertex in [edge, edge + 1] {
        low = pointwiseMin(low, packed.spacePoints[vertex])
        high = pointwiseMax(high, packed.spacePoints[vertex])
      }
    }
    guard !borders.isEmpty else { return (0, 0) }
    let size = SIMD3<Double>(high - low)
    return (turn, (size * size).sum().squareRoot())
  }

  mutating func finish() -> PackedRegions {
    packed.index = BoxIndex(boxes)
    packed.grid = RegionGrid(packed.entries, boxes)
    return packed
  }

  private mutating func add(
    _ geometry: Geometry, of region: WatchedRegion
  ) throws(FieldpackError) {
    switch geometry {
    case .point(let position, _):
      if let position { try addCircle(position, of: region) }
    case .multiPoint(let positions, _):
      for case let position? in positions { try addCircle(position, of: region) }
    case .polygon(let rings, _): try addArea(rings, of: region)
    case .multiPolygon(let polygons, _):
      for rings in polygons { try addArea(rings, of: region) }
    case .geometryCollection(let members, _):
      for member in members { try add(member, of: region) }
    default:
      throw Self.failure(
        region, "is a line, which holds nothing. Try: areas, or points with a radius")
    }
  }

  static func failure(_ region: WatchedRegion, _ reason: String) -> FieldpackError {
    FieldpackError(
      .invalidData, "region \(region.id) \(reason)", location: .init(feature: region.id))
  }

  private static func check(
    _ position: Position, of region: WatchedRegion
  ) throws(FieldpackError) {
    guard abs(position.x) <= widest, abs(position.y) <= 90 else {
      throw failure(
        region, "has a position (\(position.x) \(position.y)) that is no longitude and latitude")
    }
  }

  private mutating func add(
    _ shape: PackedRegions.Entry.Shape, _ index: Int, turns: Int8, _ box: BoxIndex.Box
  ) {
    packed.entries.append(
      PackedRegions.Entry(
        region: Int32(packed.regions.count), shape: shape, index: Int32(index), turns: turns))
    boxes.append(box)
  }

  // MARK: Circles

  private mutating func addCircle(
    _ centre: Position, of region: WatchedRegion
  ) throws(FieldpackError) {
    try Self.check(centre, of: region)
    guard let radius = region.radius else {
      throw Self.failure(
        region, "is a point without a radius. Try: a column of radii, or a radius for all")
    }
    guard radius.isFinite, radius >= 0 else {
      throw Self.failure(region, "has the radius \(radius). Try: metres from 0")
    }
    let chords = ellipsoid.chords(of: radius)
    let square = { (chord: Double) in chord < 0 ? -1 : chord * chord }
    packed.circles.append(
      PackedRegions.Circle(
        centre: GeodesicPosition(longitude: centre.x, latitude: centre.y), radius: radius,
        within: square(chords.within), beyond: square(chords.beyond)))
    for box in try boxes(around: centre, radius, of: region)
    where box.minX <= 180 && box.maxX >= -180 {
      add(
        .circle, packed.circles.count - 1, turns: 0,
        BoxIndex.box(max(box.minX, -1000), box.minY, min(box.maxX, 1000), box.maxY))
    }
  }

  private func boxes(
    around centre: Position, _ radius: Double, of region: WatchedRegion
  ) throws(FieldpackError) -> [Envelope] {
    do throws(ProjectionError) {
      return try GeodesicShape(.point(x: centre.x, y: centre.y), on: ellipsoid)
        .boxes(within: radius)
    } catch {
      throw Self.failure(region, "cannot be measured: \(error.message)")
    }
  }

  // MARK: Areas

  private mutating func addArea(
    _ rings: [CoordinateSequence], of region: WatchedRegion
  ) throws(FieldpackError) {
    var area = PackedRegions.Area()
    var box = Envelope.empty
    let (first, firstRing) = (packed.vertices.count, packed.ringCounts.count)
    for ring in rings where !ring.isEmpty {
      let start = packed.vertices.count
      for position in ring {
        try Self.check(position, of: region)
        append(position.x, position.y)
        box.extend(x: position.x, y: position.y)
      }
      if let one = ring.first, packed.vertices.last != [one.x, one.y] { append(one.x, one.y) }
      // A ring of one position is closed in itself, and GEOS wants four.
      while packed.vertices.count < start + 4 {
        append(packed.vertices[start].x, packed.vertices[start].y)
      }
      packed.ringCounts.append(Int32(packed.vertices.count - start))
    }
    area.vertices = first..<packed.vertices.count
    area.rings = firstRing..<packed.ringCounts.count
    guard !box.isEmpty else { return }
    (area.minX, area.maxX) = (box.minX, box.maxX)
    let own = ownEdges(area)
    makeSlabs(&area, of: own, box)
    packed.areas.append(area)
    for edge in own where !seam.takes(packed.vertices[edge], packed.vertices[edge + 1]) {
      edges.append(Int32(edge))
    }
    addBoxes(of: packed.areas.count - 1, box)
  }

  private mutating func append(_ x: Double, _ y: Double) {
    packed.vertices.append([x, y])
    let position = GeodesicPosition(longitude: x, latitude: y)
    packed.spacePoints.append(SIMD3<Float>(ellipsoid.spacePoint(position)))
  }

  private mutating func addBorder(_ start: SIMD2<Double>, _ end: SIMD2<Double>) {
    packed.borders.append(Int32(packed.vertices.count))
    append(start.x, start.y)
    append(end.x, end.y)
  }

  private func ownEdges(_ area: PackedRegions.Area) -> [Int] {
    var start = area.vertices.lowerBound
    var edges: [Int] = []
    for count in packed.ringCounts[area.rings] {
      // Those from a position to itself make areas of one position.
      edges += start..<start + Int(count) - 1
      start += Int(count)
    }
    return edges
  }

  private mutating func addBoxes(of area: Int, _ box: Envelope) {
    let first = ((-180 - box.maxX) / 360).rounded(.up)
    for turn in stride(from: first, through: (180 - box.minX) / 360, by: 1) {
      // What is added to a longitude in the box is exact or rounded; a little room does no harm.
      // Two at most: longitudes have a limit.
      add(
        .area, area, turns: Int8(-turn),
        BoxIndex.box(
          box.minX + 360 * turn - 1e-12, box.minY, box.maxX + 360 * turn + 1e-12, box.maxY))
    }
    for pole in [-90.0, 90] where box.minY == pole || box.maxY == pole {
      add(.pole, area, turns: 0, BoxIndex.box(-180, pole, 180, pole))
    }
  }

  /// Cuts the area into as many slabs as leave some edges in each.
  private mutating func makeSlabs(
    _ area: inout PackedRegions.Area, of edges: [Int], _ box: Envelope
  ) {
    area.minY = box.minY
    area.firstSlab = packed.slabs.count
    var count = max(1, min(edges.count / 4, 1 << 16))
    let height = box.height
    var ranges: [ClosedRange<Int>] = []
    while true {
      // So that the northern end is in the last slab, or beyond it by rounding.
      area.scale = height > 0 ? Double(count) / height : 0
      if !area.scale.isFinite { (area.scale, count) = (0, 1) }
      ranges = edges.map { slabs(of: $0, area, count) }
      // Long edges would be in every slab.
      if count == 1 || ranges.reduce(0, { $0 + $1.count }) <= 4 * edges.count + count { break }
      count /= 2
    }
    area.slabCount = count
    var sizes = [Int32](repeating: 0, count: count + 1)
    for range in ranges { for slab in range { sizes[slab + 1] += 1 } }
    let start = Int32(packed.slabEdges.count)
    for slab in 0..<count { sizes[slab + 1] += sizes[slab] }
    packed.slabs += sizes.map { $0 + start }
    packed.slabEdges += [Int32](repeating: 0, count: Int(sizes[count]))
    for (edge, range) in zip(edges, ranges) {
      for slab in range {
        packed.slabEdges[Int(start + sizes[slab])] = Int32(edge)
        sizes[slab] += 1
      }
    }
  }

  private func slabs(
    of edge: Int, _ area: PackedRegions.Area, _ count: Int
  ) -> ClosedRange<Int> {
    let (a, b) = (packed.vertices[edge].y, packed.vertices[edge + 1].y)
    // As a position's slab is found: rounding cannot put a position into another slab than an edge
    // at its latitude, as both are monotone.
    let first = min(count - 1, Int((min(a, b) - area.minY) * area.scale))
    let last = min(count - 1, Int((max(a, b) - area.minY) * area.scale))
    return first...last
  }
}
