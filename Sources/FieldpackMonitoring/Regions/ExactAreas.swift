import FieldpackCore
import FieldpackGeometry
import FieldpackTopology

/// Asks GEOS about areas where double precision cannot tell.
final class ExactAreas: Sendable {
  private struct Prepared {
    let context: TopologyContext
    var areas: [Int: PreparedGeometry] = [:]
  }

  /// More than are doubtful in most runs; beyond it all are made anew.
  private static let capacity = 1024

  private let prepared = Locked<Prepared?>(nil)

  /// Whether the area holds the position or has it on its border.
  func covers(_ area: Int, of packed: PackedRegions, _ x: Double, _ y: Double) -> Bool {
    test(area, of: packed, .point(x: x, y: y))
  }

  /// Whether the area and the way have a position in common.
  func intersects(
    _ area: Int, of packed: PackedRegions, _ from: SIMD2<Double>, _ to: SIMD2<Double>
  ) -> Bool {
    let way = [Position(x: from.x, y: from.y), Position(x: to.x, y: to.y)]
    return test(area, of: packed, .lineString(CoordinateSequence(way, dimensions: .xy)))
  }

  private func test(_ area: Int, of packed: PackedRegions, _ shape: Geometry) -> Bool {
    prepared.withLock { prepared in
      // What lies so near to the border that only GEOS could tell counts as on it.
      guard let geometry = Self.prepare(area, of: packed, in: &prepared) else { return true }
      return (try? geometry.test(.intersects, of: WKB.bytes(of: shape).span.bytes)) ?? true
    }
  }

  private static func prepare(
    _ area: Int, of packed: PackedRegions, in prepared: inout Prepared?
  ) -> PreparedGeometry? {
    if prepared == nil, let context = try? TopologyContext() {
      prepared = Prepared(context: context)
    }
    if let known = prepared?.areas[area] { return known }
    guard let context = prepared?.context,
      let made = try? PreparedGeometry(packed.polygon(packed.areas[area]), in: context)
    else { return nil }
    if prepared?.areas.count ?? 0 >= capacity { prepared?.areas.removeAll() }
    prepared?.areas[area] = made
    return made
  }
}
