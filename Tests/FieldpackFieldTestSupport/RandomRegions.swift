import FieldpackCore
package import FieldpackGeometry
package import FieldpackLocation
package import FieldpackMonitoring
import FieldpackProjection
package import FieldpackTestSupport
import Foundation

/// Regions at random in a box, many of them with edges and borders exactly through some fixes.
package struct RandomRegions {
  package var random: FilterGenerator.SplitMix
  package let box: Envelope
  package let fixes: [Fix]

  package init(seed: UInt64, in box: Envelope, through fixes: [Fix]) {
    random = FilterGenerator.SplitMix(state: seed)
    self.box = box
    self.fixes = fixes
  }

  package mutating func regions(_ count: Int) -> [WatchedRegion] {
    (0..<count).map { region(FeatureID.integer(Int64($0) * 3 + 1)) }
  }

  private mutating func number(_ range: ClosedRange<Double>) -> Double {
    .random(in: range, using: &random)
  }

  private mutating func position() -> Position {
    Position(x: number(box.minX...box.maxX), y: number(box.minY...box.maxY))
  }

  private mutating func fix() -> Position {
    fixes.isEmpty ? position() : fixes[Int.random(in: 0..<fixes.count, using: &random)].position
  }

  private func ring(_ positions: [(Double, Double)]) -> CoordinateSequence {
    let limited = positions.map { Position(x: $0.0, y: max(-90, min(90, $0.1))) }
    return CoordinateSequence(limited + limited.prefix(1), dimensions: .xy)
  }

  private mutating func star(_ centre: Position, _ size: Double, _ share: Double)
    -> CoordinateSequence
  {
    let count = Int.random(in: 3...40, using: &random)
    return ring(
      (0..<count).map { step in
        let angle = 2 * Double.pi * Double(step) / Double(count)
        let radius = size * share * number(0.6...1)
        return (centre.x + radius * cos(angle), centre.y + 0.65 * radius * sin(angle))
      })
  }

  private mutating func region(_ id: FeatureID) -> WatchedRegion {
    let size = max(box.width, box.height) * pow(10, number(-2.5...(-0.5))) + 1e-6
    let centre = Bool.random(using: &random) ? position() : fix()
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      return WatchedRegion(
        id: id, geometry: .point(x: centre.x, y: centre.y), radius: size * 100_000)
    case 1:
      // The border goes through a fix, as far as a distance can.
      let radius = Geodesic.wgs84.distance(from: centre, to: fix())
      return WatchedRegion(id: id, geometry: .point(x: centre.x, y: centre.y), radius: radius)
    case 2: return WatchedRegion(id: id, geometry: .polygon([star(centre, size, 1)], .xy))
    case 3:
      let holed = [star(centre, size, 1), star(centre, size, 0.5)]
      return WatchedRegion(id: id, geometry: .polygon(holed, .xy))
    case 4:
      let other = Position(x: centre.x + 2.5 * size, y: centre.y)
      return WatchedRegion(
        id: id, geometry: .multiPolygon([[star(centre, size, 1)], [star(other, size, 1)]], .xy))
    case 5:
      // A sliver between two fixes.
      let (a, b) = (fix(), fix())
      let c = (b.x + 1e-7, b.y + 1e-7)
      return WatchedRegion(
        id: id, geometry: .polygon([ring([(a.x, a.y), (b.x, b.y), c])], .xy))
    case 6:
      // A box with a fix on its border.
      let a = fix()
      let (x, y) = (a.x + size, a.y + size)
      return WatchedRegion(
        id: id, geometry: .polygon([ring([(a.x, a.y), (x, a.y), (x, y), (a.x, y)])], .xy))
    default:
      let (a, b, c) = (fix(), fix(), position())
      return WatchedRegion(
        id: id, geometry: .polygon([ring([(a.x, a.y), (b.x, b.y), (c.x, c.y)])], .xy))
    }
  }
}
