import Fieldpack
import Foundation

extension BenchmarkData {
  /// A walk of 200 fixes, one a second.
  struct Walk {
    var x: [Double] = []
    var y: [Double] = []
    var height: [Double] = []
    var start: Int

    init(_ random: inout Random) {
      var place = Point(x: random.uniform(5.2...24.8), y: random.uniform(45.2...54.8))
      var heading = random.uniform(0...6.3)
      var level = 300.0
      for _ in 0..<200 {
        heading += random.normal(0.25)
        level += random.normal(1.2)
        let step = random.uniform(5...25) / 111_320
        place.x += step * cos(heading) / 0.64
        place.y += step * sin(heading)
        x.append(place.x)
        y.append(place.y)
        height.append(level)
      }
      start = random.integer(below: 366 * 86_400)
    }
  }

  private func writeFile(
    _ name: String, head: String, foot: String, _ body: (TextFile) throws -> Void
  ) throws {
    let file = try TextFile("\(folder)/\(name)")
    try file.write(head)
    try body(file)
    try file.write(foot)
    try file.close()
  }

  private var gpxHead: String {
    """
    <?xml version="1.0" encoding="UTF-8"?>
    <gpx version="1.1" creator="bench" xmlns="http://www.topografix.com/GPX/1/1">

    """
  }

  func writeLines(_ count: Int) throws {
    var random = Random(seed: 3)
    let head = #"{"type":"FeatureCollection","name":"lines","features":["# + "\n"
    try writeFile("lines.geojson", head: head, foot: "\n]}\n") { file in
      for index in 0..<count {
        let walk = Walk(&random)
        try file.write(
          (index > 0 ? ",\n" : "")
            + #"{"type":"Feature","properties":{"tid":\#(index),"name":"track \#(index)","#
            + #""start":"\#(time(walk.start))"},"geometry":{"type":"LineString","coordinates":["#)
        for place in walk.x.indices {
          try file.write(place > 0 ? ",[" : "[")
          file.write(walk.x[place], decimals: 7)
          try file.write(",")
          file.write(walk.y[place], decimals: 7)
          try file.write(",")
          file.write(walk.height[place], decimals: 1)
          try file.write("]")
        }
        try file.write("]}}")
      }
    }
  }

  func writeTracks(_ count: Int) throws {
    var random = Random(seed: 3)
    try writeFile("tracks.gpx", head: gpxHead, foot: "</gpx>\n") { file in
      for index in 0..<count {
        let walk = Walk(&random)
        try file.write("<trk><name>track \(index)</name><trkseg>\n")
        for place in walk.x.indices {
          try write(
            "trkpt", walk.x[place], walk.y[place], walk.height[place], walk.start + place, to: file)
          try file.write("</trkpt>\n")
        }
        try file.write("</trkseg></trk>\n")
      }
    }
  }

  func writeWaypoints(_ count: Int) throws {
    let points = positions(count, seed: 7)
    var random = Random(seed: 107)
    try writeFile("waypoints.gpx", head: gpxHead, foot: "</gpx>\n") { file in
      for (index, point) in points.enumerated() {
        let height = -50 * log(1 - random.unit())
        try write(
          "wpt", point.x, point.y, height, random.integer(below: 366 * 86_400), to: file)
        try file.write("<name>\(words[random.integer(below: 24)]) \(index)</name></wpt>\n")
      }
    }
  }

  private func write(
    _ element: String, _ x: Double, _ y: Double, _ height: Double, _ seconds: Int,
    to file: TextFile
  ) throws {
    try file.write("<\(element) lat=\"")
    file.write(y, decimals: 7)
    try file.write("\" lon=\"")
    file.write(x, decimals: 7)
    try file.write("\"><ele>")
    file.write(height, decimals: 1)
    try file.write("</ele><time>\(time(seconds))</time>")
  }
}
