import FieldpackCore
import FieldpackGeometry
import FieldpackLocation
import FieldpackMonitoring
import FieldpackProjection
import FieldpackTestSupport
import Foundation
import Testing

/// Distances to a region's edge, against those that measure every edge.
@Suite struct FarDistanceTests {
  private static let centres = [
    Position(x: 11, y: 47), Position(x: 179.999, y: -17), Position(x: -180, y: 66),
    Position(x: 20, y: 84.5), Position(x: -70, y: -89.9), Position(x: 0, y: 0),
  ]

  private func star(
    _ centre: Position, _ size: Double, _ random: inout FilterGenerator.SplitMix
  ) -> [Position] {
    let count = Int.random(in: 3...50, using: &random)
    let wide = size / max(0.01, cos(centre.y * .pi / 180))
    let corners = (0..<count).map { corner in
      let angle = 2 * Double.pi * Double(corner) / Double(count)
      let share = Double.random(in: 0.4...1, using: &random)
      return Position(
        x: centre.x + wide * share * cos(angle),
        y: max(-89.99, min(89.99, centre.y + size * share * sin(angle))))
    }
    return corners + corners.prefix(1)
  }

  @Test(arguments: centres)
  func `the edge is as far as the nearest of all its geodesics`(_ centre: Position) throws {
    var random = FilterGenerator.SplitMix(state: UInt64(abs(centre.y) * 10) + 7)
    for _ in 0..<12 {
      let size = pow(10, Double.random(in: -4...0, using: &random))
      let ring = star(centre, size, &random)
      let area = Geometry.polygon([CoordinateSequence(ring, dimensions: .xy)], .xy)
      let regions = try WatchedRegions([WatchedRegion(id: 1, geometry: area)])
      let border = try GeodesicShape(.lineString(CoordinateSequence(ring, dimensions: .xy)))
      for _ in 0..<12 {
        let way = pow(10, Double.random(in: 0...7.25, using: &random))
        let azimuth = Double.random(in: -180...180, using: &random)
        let position = Geodesic.wgs84.position(from: centre, azimuth: azimuth, distance: way)
        let found = regions.distance(from: position, toEdgeOf: 1) ?? .nan
        let expected = border.distance(to: try GeodesicShape(.point(x: position.x, y: position.y)))
        #expect(abs(abs(found) - (expected ?? .nan)) < 1e-3, "\(position) to \(ring)")
      }
    }
  }

  @Test func `a region in parts on both sides of 180° is as far as its nearest part`() throws {
    let rings = [(179.0, 180.0), (-180.0, -179.0)].map { west, east in
      [
        Position(x: west, y: -17), Position(x: east, y: -17), Position(x: east, y: -16),
        Position(x: west, y: -16), Position(x: west, y: -17),
      ]
    }
    let parts = rings.map { [CoordinateSequence($0, dimensions: .xy)] }
    let regions = try WatchedRegions([
      WatchedRegion(id: 1, geometry: .multiPolygon(parts, .xy))
    ])
    for (x, corner) in [(170.0, 179.0), (-170, -179), (178.9, 179), (-178.9, -179)] {
      let found = regions.distance(from: Position(x: x, y: -15.5), toEdgeOf: 1) ?? .nan
      let side = try GeodesicShape(
        .lineString(
          CoordinateSequence(
            [Position(x: corner, y: -17), Position(x: corner, y: -16)], dimensions: .xy)))
      let top = try GeodesicShape(
        .lineString(
          CoordinateSequence(
            [Position(x: corner, y: -16), Position(x: corner < 0 ? -180 : 180, y: -16)],
            dimensions: .xy)))
      let point = try GeodesicShape(.point(x: x, y: -15.5))
      let expected = min(side.distance(to: point) ?? .nan, top.distance(to: point) ?? .nan)
      #expect(abs(found - expected) < 1e-3)
    }
  }

  /// Long ways meet the regions they go through, though the index passes over most of their box.
  @Test func `a long way crosses the regions on it and no others`() throws {
    var random = FilterGenerator.SplitMix(state: 5)
    let positions = (0..<200).map { _ in
      Position(
        x: Double.random(in: -180...180, using: &random),
        y: Double.random(in: -80...80, using: &random))
    }
    let watched = positions.enumerated().map { number, position in
      let box = [(-1.0, -1.0), (1, -1), (1, 1), (-1, 1), (-1, -1)].map {
        Position(x: position.x + $0.0, y: position.y + $0.1)
      }
      return WatchedRegion(
        id: .integer(Int64(number)),
        geometry: .polygon([CoordinateSequence(box, dimensions: .xy)], .xy))
    }
    let all = try WatchedRegions(watched)
    let single = try watched.map { try WatchedRegions([$0]) }
    var options = GeofenceMonitor.Options()
    options.kinds = [.cross]
    var together = try GeofenceMonitor(all, options: options)
    var apart = try single.map { try GeofenceMonitor($0, options: options) }
    var count = 0
    for number in 0..<100 {
      let fix = Fix(
        longitude: Double.random(in: -180...180, using: &random),
        latitude: Double.random(in: -80...80, using: &random))
      var (seen, expected): ([Detection], [Detection]) = ([], [])
      together.take(fix, number: number, into: &seen)
      for index in apart.indices { apart[index].take(fix, number: number, into: &expected) }
      #expect(seen == expected)
      count += seen.count
    }
    #expect(count > 50)
  }
}
