import FieldpackCore
import FieldpackGeometry

/// Tells which rings of a shape are polygons, and which are holes in which of them.
///
/// Outer rings run clockwise and holes the other way (page 8 of ESRI's description). A hole belongs
/// to the smallest outer ring around it, and one that is in none becomes a polygon. Where no ring
/// runs clockwise, the writer did not know the rule: then a ring inside an odd number of others is a
/// hole.
struct RingOrder {
  private struct Ring {
    var part: Int
    var area: Double
    var box: Envelope
  }

  private let parts: [Range<Int>]
  private let position: (Int) -> (x: Double, y: Double)
  private var outer: [Ring] = []
  private var holes: [Ring] = []
  /// Comparisons that are left: rings that all lie in one another take too long otherwise.
  private var budget: Int

  /// - Parameter position: the x and y of a position of the shape.
  init(_ parts: [Range<Int>], _ position: @escaping (Int) -> (x: Double, y: Double)) {
    self.parts = parts
    self.position = position
    budget = 10_000 * max(1_000, parts.last?.upperBound ?? 0)
    for part in parts.indices {
      let ring = measured(part)
      if ring.area < 0 { outer.append(ring) } else { holes.append(ring) }
    }
  }

  /// Appends the parts polygon by polygon, the outer ring first, and where each polygon ends.
  mutating func arrange(_ rings: inout [Int], _ ends: inout [Int]) throws(FieldpackError) {
    if outer.isEmpty { try sortByDepth() }
    var members: [Int: [Int]] = [:]
    if outer.count == 1 {
      members[outer[0].part] = holes.map(\.part)
    } else {
      let bySize = outer.indices.sorted { abs(outer[$0].area) < abs(outer[$1].area) }
      var alone: [Ring] = []
      for hole in holes {
        if let owner = try owner(of: hole, among: bySize) {
          members[owner, default: []].append(hole.part)
        } else {
          alone.append(hole)
        }
      }
      outer += alone
    }
    for ring in outer.sorted(by: { $0.part < $1.part }) {
      rings.append(ring.part)
      rings += members[ring.part] ?? []
      ends.append(rings.count)
    }
  }

  /// Signed area, negative for a ring that runs clockwise, and box.
  private func measured(_ part: Int) -> Ring {
    var box = Envelope.empty
    var area = 0.0
    let range = parts[part]
    let origin = position(range.lowerBound)
    var last = position(range.upperBound - 1)
    for index in range {
      let next = position(index)
      box.extend(x: next.x, y: next.y)
      area += (last.x - origin.x) * (next.y - origin.y) - (next.x - origin.x) * (last.y - origin.y)
      last = next
    }
    return Ring(part: part, area: area, box: box)
  }

  /// The part of the smallest outer ring around a hole. The box decides where one outer ring alone
  /// comes into question.
  private mutating func owner(
    of hole: Ring, among bySize: [Int]
  ) throws(FieldpackError) -> Int? {
    try spend(bySize.count)
    let around = bySize.filter { outer[$0].box.contains(hole.box) }
    for index in around.dropLast() {
      if try contains(outer[index], hole) { return outer[index].part }
    }
    return around.last.map { outer[$0].part }
  }

  private mutating func spend(_ steps: Int) throws(FieldpackError) {
    budget -= steps
    guard budget >= 0 else {
      throw FieldpackError(.invalidData, "the shape has too many rings inside of one another")
    }
  }

  /// Whether a position of `inner` lies inside of `ring`; the first one that is not on its border
  /// decides.
  private mutating func contains(_ ring: Ring, _ inner: Ring) throws(FieldpackError) -> Bool {
    for index in parts[inner.part] {
      try spend(parts[ring.part].count)
      if let isInside = isInside(position(index), ring) { return isInside }
    }
    return true
  }

  /// `nil` on the border.
  private func isInside(_ point: (x: Double, y: Double), _ ring: Ring) -> Bool? {
    var isInside = false
    let range = parts[ring.part]
    var a = position(range.upperBound - 1)
    for index in range {
      let b = position(index)
      defer { a = b }
      let cross = (b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x)
      let isBeside = point.x < min(a.x, b.x) || point.x > max(a.x, b.x)
      let isAbove = point.y < min(a.y, b.y) || point.y > max(a.y, b.y)
      if cross == 0, !isBeside, !isAbove { return nil }
      guard (a.y > point.y) != (b.y > point.y) else { continue }
      if (cross > 0) == (b.y > a.y) { isInside.toggle() }
    }
    return isInside
  }

  /// Takes rings inside an even number of others for outer ones, and the rest for holes.
  private mutating func sortByDepth() throws(FieldpackError) {
    let all = holes.sorted { abs($0.area) > abs($1.area) }
    holes.removeAll()
    for (index, ring) in all.enumerated() {
      try spend(index)
      var depth = 0
      for other in all[..<index] where other.box.contains(ring.box) {
        if try contains(other, ring) { depth += 1 }
      }
      if depth % 2 == 0 { outer.append(ring) } else { holes.append(ring) }
    }
  }
}
