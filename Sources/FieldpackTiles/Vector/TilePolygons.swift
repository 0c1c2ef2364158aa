import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTopology

/// The polygons of one geometry on the grid of a tile, valid after ``finish()``.
struct TilePolygons {
  struct Ring {
    /// Its positions without the last one, in ``TilePolygons/positions``.
    var range: Range<Int>
    var isShell: Bool
    /// Whether its positions have to be written from behind: rings around polygons turn clockwise on
    /// the screen, and rings around holes the other way.
    var isReversed = false
  }

  private(set) var positions: [SIMD2<Int32>] = []
  private(set) var rings: [Ring] = []
  /// Whether the polygon that began last has something left, so that holes belong to it.
  private(set) var isOpen = false
  private var wkb: [UInt8] = []
  private var context: TopologyContext?

  var isEmpty: Bool { rings.isEmpty }

  mutating func removeAll() {
    positions.removeAll(keepingCapacity: true)
    rings.removeAll(keepingCapacity: true)
    isOpen = false
  }

  /// Adds a ring on doubles, without its last position.
  mutating func add(_ ring: [SIMD2<Double>], isShell: Bool) {
    let range = TileSimplifier.append(ring: ring, to: &positions)
    if isShell { isOpen = range != nil }
    if let range { rings.append(Ring(range: range, isShell: isShell)) }
  }

  /// Mends what rounding and cutting have made invalid, and turns the rings. What GEOS cannot mend is
  /// left out.
  mutating func finish() {
    guard !rings.isEmpty else { return }
    // A triangle whose corners are on no line is valid.
    let isTriangle = rings.count == 1 && rings[0].range.count == 3
    if !isTriangle {
      do throws(TopologyError) {
        try mend()
      } catch { removeAll() }
    }
    for index in rings.indices {
      rings[index].isReversed = (area(of: rings[index]) > 0) != rings[index].isShell
    }
  }

  /// Twice the area by the surveyor's formula, positive where the ring turns clockwise on the screen.
  private func area(of ring: Ring) -> Int64 {
    var area: Int64 = 0
    guard var last = positions[ring.range].last else { return 0 }
    for position in positions[ring.range] {
      area += TileSimplifier.cross(last, position)
      last = position
    }
    return area
  }

  // MARK: Validity

  private mutating func mend() throws(TopologyError) {
    let context = try topology()
    writeWKB()
    if try context.validity(of: wkb.span.bytes) == .valid { return }
    var kept: [Geometry] = []
    for rings in members() {
      let polygon = Geometry.polygon(rings, .xy)
      let bytes = WKB.bytes(of: polygon)
      let isValid = try context.validity(of: bytes.span.bytes) == .valid
      let mended = isValid ? polygon : try Self.mended(rings, in: context)
      if !mended.isEmpty { kept.append(mended) }
    }
    let all = try context.read(.geometryCollection(kept, .xy))
    // Parts that rounding has moved onto each other become one.
    let whole = try all.unionOfMembers().rounded(toGrid: 1).geometry()
    removeAll()
    append(whole)
    writeWKB()
    if !rings.isEmpty, try context.validity(of: wkb.span.bytes) != .valid { removeAll() }
  }

  /// The valid polygon of a ring without its holes.
  ///
  /// GEOS would fill a hole that has an edge on the outer ring, as cutting leaves it at a side of the
  /// tile.
  private static func mended(
    _ rings: [CoordinateSequence], in context: TopologyContext
  ) throws(TopologyError) -> Geometry {
    var mended = try context.mended(.polygon([rings[0]], .xy))
    for ring in rings.dropFirst() {
      let hole = try context.read(context.mended(.polygon([ring], .xy)))
      mended = try context.read(mended).difference(hole).geometry()
    }
    return mended
  }

  private mutating func topology() throws(TopologyError) -> TopologyContext {
    if let context { return context }
    let made = try TopologyContext()
    context = made
    return made
  }

  /// The rings of each polygon as values.
  private func members() -> [[CoordinateSequence]] {
    var polygons: [[CoordinateSequence]] = []
    for ring in rings {
      if ring.isShell { polygons.append([]) }
      polygons[polygons.count - 1].append(
        CoordinateSequence(dimensions: .xy, ordinates: ordinates(of: ring)))
    }
    return polygons
  }

  private func ordinates(of ring: Ring) -> [Double] {
    var ordinates: [Double] = []
    for position in positions[ring.range] + [positions[ring.range.lowerBound]] {
      ordinates.append(Double(position.x))
      ordinates.append(Double(position.y))
    }
    return ordinates
  }

  /// Appends the polygons of a geometry whose positions lie on the grid.
  private mutating func append(_ geometry: Geometry) {
    switch geometry {
    case .polygon(let rings, _): append(polygon: rings)
    case .multiPolygon(let polygons, _): for rings in polygons { append(polygon: rings) }
    case .geometryCollection(let members, _): for member in members { append(member) }
    default: break
    }
  }

  private mutating func append(polygon: [CoordinateSequence]) {
    for (index, ring) in polygon.enumerated() {
      let start = positions.count
      for position in ring.dropLast() {
        positions.append(TileSimplifier.rounded(SIMD2(position.x, position.y)))
      }
      rings.append(Ring(range: start..<positions.count, isShell: index == 0))
    }
  }

  /// Writes the rings into ``wkb`` as a multipolygon, or a polygon where there is one.
  private mutating func writeWKB() {
    wkb.removeAll(keepingCapacity: true)
    let shells = rings.indices.filter { rings[$0].isShell }
    if shells.count != 1 { appendHead(6, count: shells.count) }
    for (number, start) in shells.enumerated() {
      let end = number + 1 < shells.count ? shells[number + 1] : rings.count
      appendHead(3, count: end - start)
      for ring in rings[start..<end] {
        append(UInt32(ring.range.count + 1).littleEndian)
        for position in positions[ring.range] { append(position) }
        append(positions[ring.range.lowerBound])
      }
    }
  }

  private mutating func appendHead(_ type: UInt32, count: Int) {
    wkb.append(1)
    append(type.littleEndian)
    append(UInt32(count).littleEndian)
  }

  @inline(__always)
  private mutating func append(_ position: SIMD2<Int32>) {
    append(
      SIMD2(
        Double(position.x).bitPattern.littleEndian, Double(position.y).bitPattern.littleEndian))
  }

  @inline(__always)
  private mutating func append<Value: BitwiseCopyable>(_ value: Value) {
    withUnsafeBytes(of: value) { wkb.append(contentsOf: $0) }
  }
}
