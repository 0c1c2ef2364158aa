import Fieldpack
import Foundation

/// The standard sets, all in lon 5…25, lat 45…55, so that EPSG:3857 and EPSG:32633 both make sense.
///
/// At scale 1: 1,000,000 points, 200,000 polygons of 20 to 100 vertices, 50,000 lines of 200
/// vertices with heights, a GPX file of 5,000 tracks of 200 points and one of 200,000 waypoints.
struct BenchmarkData {
  let folder: String
  let scale: Double

  private func count(_ full: Int) -> Int { max(1, Int(Double(full) * scale)) }

  func make(_ sets: [String]) throws {
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
    for set in sets {
      switch set {
      case "points": try writePoints("points", count(1_000_000))
      case "points5m": try writePoints("points5m", count(5_000_000), seed: 11)
      case "polys": try writePolygons(count(200_000))
      case "lines": try writeLines(count(50_000))
      case "tracks": try writeTracks(count(5_000))
      case "waypoints": try writeWaypoints(count(200_000))
      case "queries": try writeQueries()
      case "fences": try writeFences()
      default: throw CocoaError(.featureUnsupported)
      }
    }
  }

  // MARK: Points

  struct Point {
    var x: Double
    var y: Double
  }

  /// Half of them uniform, half in 200 clusters, in no order, rounded to 7 decimals.
  func positions(_ count: Int, seed: UInt64) -> [Point] {
    var random = Random(seed: seed)
    let centres = (0..<200).map { _ in
      Point(x: random.uniform(6...24), y: random.uniform(46...54))
    }
    func rounded(_ value: Double, _ range: ClosedRange<Double>) -> Double {
      (min(max(value, range.lowerBound), range.upperBound) * 1e7).rounded() / 1e7
    }
    return (0..<count).map { _ in
      if random.unit() < 0.5 {
        let x = random.uniform(5...25)
        return Point(x: rounded(x, 5...25), y: rounded(random.uniform(45...55), 45...55))
      }
      let centre = centres[random.integer(below: 200)]
      let x = centre.x + random.normal(0.12)
      return Point(x: rounded(x, 5...25), y: rounded(centre.y + random.normal(0.08), 45...55))
    }
  }

  private func writeCollection(
    _ name: String, _ count: Int, _ feature: (TextFile, Int) throws -> Void
  ) throws {
    let file = try TextFile("\(folder)/\(name).geojson")
    try file.write(
      #"{"type":"FeatureCollection","name":"\#(name)","features":["# + "\n")
    for index in 0..<count {
      if index > 0 { try file.write(",\n") }
      try feature(file, index)
    }
    try file.write("\n]}\n")
    try file.close()
  }

  /// Points with an integer, a real, a text, a boolean and a time.
  private func writePoints(_ name: String, _ count: Int, seed: UInt64 = 1) throws {
    let points = positions(count, seed: seed)
    var random = Random(seed: seed &+ 100)
    try writeCollection(name, count) { file, index in
      let real = -50 * (log(1 - random.unit()) + log(1 - random.unit()))
      let (first, second) = (random.integer(below: 24), random.integer(below: 24))
      try file.write(
        #"{"type":"Feature","properties":{"num":\#(random.integer(below: 1_000_000)),"val":"#)
      file.write(real, decimals: 3)
      try file.write(
        #","name":"\#(words[first]) \#(words[second]) \#(index)","flag":"#
          + #"\#(random.unit() < 0.3),"ts":"\#(time(random.integer(below: 366 * 86_400)))"},"#
          + #""geometry":{"type":"Point","coordinates":["#)
      file.write(points[index].x, decimals: 7)
      try file.write(",")
      file.write(points[index].y, decimals: 7)
      try file.write("]}}")
    }
  }

  // MARK: Polygons

  /// Star-shaped polygons of 20 to 100 vertices.
  private func writePolygons(_ count: Int) throws {
    var random = Random(seed: 2)
    try writeCollection("polys", count) { file, index in
      let centre = Point(x: random.uniform(5.05...24.95), y: random.uniform(45.05...54.95))
      let corners = 19 + random.integer(below: 81)
      let radius = random.uniform(0.005...0.03)
      try file.write(
        #"{"type":"Feature","properties":{"pid":\#(index),"class":"#
          + #""\#(words[random.integer(below: 24)])","area":"#)
      file.write(radius * radius * 2, decimals: 9)
      try file.write(#"},"geometry":{"type":"Polygon","coordinates":[["#)
      let ring = star(centre, corners, radius: (radius, radius * 0.65), &random)
      try write(ring + [ring[0]], to: file)
      try file.write("]]}}")
    }
  }

  private func star(
    _ centre: Point, _ corners: Int, radius: (Double, Double), _ random: inout Random
  ) -> [Point] {
    (0..<corners).map { corner in
      let angle = 2 * Double.pi * Double(corner) / Double(corners)
      let share = random.uniform(0.7...1)
      return Point(
        x: centre.x + radius.0 * share * cos(angle), y: centre.y + radius.1 * share * sin(angle))
    }
  }

  private func write(_ points: [Point], to file: TextFile) throws {
    var separator = "["
    for point in points {
      try file.write(separator)
      file.write(point.x, decimals: 7)
      try file.write(",")
      file.write(point.y, decimals: 7)
      separator = "],["
    }
    try file.write("]")
  }

  // MARK: Queries

  /// 10,000 boxes that hold exactly 100 points, one box with a quarter of the points, and a
  /// polygon of 1,000 vertices.
  private func writeQueries() throws {
    for (set, full, seed) in [("points", 1_000_000, UInt64(1)), ("points5m", 5_000_000, 11)] {
      let points = positions(count(full), seed: seed)
      let boxes = BoxFinder(points).boxes(count(10_000), holding: min(100, points.count / 2))
      try writeBoxes("boxes-\(set)", boxes)
      if set == "points" { try writeBoxes("quarter", [BoxFinder.quarter(points)]) }
    }
    var random = Random(seed: 5)
    let ring = star(Point(x: 15, y: 50), 999, radius: (4, 2.2), &random)
    let text = (ring + [ring[0]]).map { "\($0.x) \($0.y)" }.joined(separator: ",")
    try "POLYGON((\(text)))".write(
      toFile: "\(folder)/star.wkt", atomically: true, encoding: .utf8)
  }

  private func writeBoxes(_ name: String, _ boxes: [Envelope]) throws {
    let lines = boxes.map { "\($0.minX) \($0.minY) \($0.maxX) \($0.maxY)\n" }.joined()
    try lines.write(toFile: "\(folder)/\(name).txt", atomically: true, encoding: .utf8)
  }
}
