import FieldpackGeometry
import FieldpackProjection

/// The shapes of all regions in flat arrays, without a pointer between them.
struct PackedRegions: Sendable {
  /// A circle on the ellipsoid.
  struct Circle: Sendable {
    let centre: GeodesicPosition
    let radius: Double
    /// The squares of the chords on the unit sphere of reduced latitudes that decide.
    let within: Double
    let beyond: Double
  }

  /// An area by even-odd over its rings, whose edges are found by the slab of latitude they reach.
  struct Area: Sendable {
    var minY = 0.0
    var minX = 0.0
    var maxX = 0.0
    /// Slabs a degree.
    var scale = 0.0
    /// Where its slabs begin in `slabs`, which holds one start more than there are slabs.
    var firstSlab = 0
    var slabCount = 0
    /// Its vertices in `vertices`, and in `ringCounts` how many of them each ring has, closed.
    var vertices = 0..<0
    var rings = 0..<0
  }

  struct Region: Sendable {
    var circles = 0..<0
    var areas = 0..<0
    /// Edges that are border of the whole region, by the index of their first vertex, in `borders`.
    var borders = 0..<0
    /// The most radians that one of these moves on the sphere.
    var turn = 0.0
    /// No two of their ends are farther apart in space, in equatorial radii.
    var extent = 0.0
  }

  /// What a box of the index stands for.
  struct Entry: Sendable {
    enum Shape: UInt8, Sendable {
      case circle, area
      /// A pole that an area reaches: all longitudes are one position there.
      case pole
    }

    let region: Int32
    let shape: Shape
    /// Index of the circle in `circles`, or of the area in `areas`.
    let index: Int32
    /// How many turns of 360° the area lies east of the box.
    let turns: Int8

    /// In degrees.
    var turn: Double { 360 * Double(turns) }
  }

  var regions: [Region] = []
  var circles: [Circle] = []
  var areas: [Area] = []
  var ringCounts: [Int32] = []
  var vertices: [SIMD2<Double>] = []
  /// The vertices in space, in equatorial radii from the Earth's centre: exact enough for bounds to
  /// a metre.
  var spacePoints: [SIMD3<Float>] = []
  var slabs: [Int32] = []
  var slabEdges: [Int32] = []
  var borders: [Int32] = []
  var entries: [Entry] = []
  var index = BoxIndex([])
  var grid = RegionGrid([], [])
}

/// Where a position lies, as far as double precision tells.
enum FilteredSide {
  case inside, outside
  /// On an edge, or too near to one to tell.
  case doubtful
}

/// On which side of the line from `a` to `b` a position lies: above 0 to the left, below 0 to the
/// right, and `nil` where rounding may have decided. The bound is Shewchuk's (1997, `ccwerrboundA`).
@inline(__always)
func filteredSide(
  _ a: SIMD2<Double>, _ b: SIMD2<Double>, _ x: Double, _ y: Double
) -> Double? {
  let left = (a.x - x) * (b.y - y)
  let right = (a.y - y) * (b.x - x)
  let side = left - right
  return abs(side) > 3.330_669_073_875_471_6e-16 * (abs(left) + abs(right)) ? side : nil
}

extension PackedRegions {
  /// On which side of an area's border a position lies, its longitude in the area's own turn.
  func side(_ area: Area, _ x: Double, _ y: Double) -> FilteredSide {
    // Of a flat area the number of a slab far from it has no integer.
    let slab = (y - area.minY) * area.scale
    guard y >= area.minY, slab < Double(area.slabCount + 1) else { return .outside }
    let start = area.firstSlab + min(Int(slab), area.slabCount - 1)
    var isInside = false
    return slabEdges.withUnsafeBufferPointer { edges in
      vertices.withUnsafeBufferPointer { vertices in
        for slot in Int(slabs[start])..<Int(slabs[start + 1]) {
          let edge = Int(edges[slot])
          let (a, b) = (vertices[edge], vertices[edge + 1])
          guard y >= min(a.y, b.y), y <= max(a.y, b.y), x <= max(a.x, b.x) else { continue }
          // Half open, so that a vertex belongs to one of its edges.
          let crosses = (a.y > y) != (b.y > y)
          if x < min(a.x, b.x) {
            if crosses { isInside.toggle() }
            continue
          }
          guard let side = filteredSide(a, b, x, y) else { return .doubtful }
          if crosses, (side > 0) == (b.y > a.y) { isInside.toggle() }
        }
        return isInside ? .inside : .outside
      }
    }
  }

  /// Whether an edge of an area touches the way between two positions, which is straight in longitude
  /// and latitude; `nil` where rounding may have decided.
  func meets(_ area: Area, _ from: SIMD2<Double>, _ to: SIMD2<Double>) -> Bool? {
    let (low, high) = (pointwiseMin(from, to), pointwiseMax(from, to))
    let count = Double(area.slabCount)
    let start = (low.y - area.minY) * area.scale
    guard high.y >= area.minY, start < count + 1 else { return false }
    let first = min(area.slabCount - 1, Int(max(0, start)))
    let last = Int(min(count - 1, (high.y - area.minY) * area.scale))
    var isDoubtful = false
    for slot in Int(slabs[area.firstSlab + first])..<Int(slabs[area.firstSlab + last + 1]) {
      let edge = Int(slabEdges[slot])
      let (a, b) = (vertices[edge], vertices[edge + 1])
      guard all(pointwiseMin(a, b) .<= high), all(pointwiseMax(a, b) .>= low) else { continue }
      guard let p = filteredSide(a, b, from.x, from.y), let q = filteredSide(a, b, to.x, to.y),
        let r = filteredSide(from, to, a.x, a.y), let s = filteredSide(from, to, b.x, b.y)
      else {
        isDoubtful = true
        continue
      }
      if (p > 0) != (q > 0), (r > 0) != (s > 0) { return true }
    }
    return isDoubtful ? nil : false
  }

  /// The polygon that an area was made of.
  func polygon(_ area: Area) -> Geometry {
    var start = area.vertices.lowerBound
    let rings = ringCounts[area.rings].map { count in
      let ring = vertices[start..<start + Int(count)].map { Position(x: $0.x, y: $0.y) }
      start += Int(count)
      return CoordinateSequence(ring, dimensions: .xy)
    }
    return .polygon(rings, .xy)
  }
}
