import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeometry
import FieldpackLocation
import FieldpackMonitoring
import FieldpackTestSupport
import FieldpackTopology
import Foundation
import Testing

@Suite(.programs) struct RegionPeerTests {
  /// Fixes as `x y`, areas as WKT, one a line; prints `fix kind region` for each detection.
  private static let script = """
    import shapely, sys
    fixes = [tuple(map(float, line.split())) for line in open(sys.argv[1])]
    areas = [shapely.from_wkt(line) for line in open(sys.argv[2])]
    stays, before = set(), None
    for n, (x, y) in enumerate(fixes):
        point = shapely.Point(x, y)
        now = {k for k, area in enumerate(areas) if area.covers(point)}
        way = shapely.LineString([before, point]) if before and before != point else None
        for k, area in enumerate(areas):
            if k in stays and k not in now: print(n, "exit", k)
            elif way and k not in stays and k not in now and area.intersects(way): print(n, "cross", k)
            elif k in now and k not in stays: print(n, "enter", k)
        stays, before = now, point
    """

  @Test(.enabled(if: Programs.shapelyPython != nil, Comment(rawValue: Programs.noShapelyPython)))
  func `shapely sees the same detections`() throws {
    let folder = try TemporaryFolder()
    var numbers = FilterGenerator.SplitMix(state: 11)
    let box = Envelope(minX: 8, minY: 47, maxX: 8.1, maxY: 47.1)
    let fixes = (0..<300).map { _ in
      Fix(
        longitude: .random(in: 8...8.1, using: &numbers),
        latitude: .random(in: 47...47.1, using: &numbers))
    }
    var random = RandomRegions(seed: 12, in: box, through: fixes)
    let areas = random.regions(80).filter { region in
      if case .point = region.geometry { return false }
      return (try? region.geometry.validity()) == .valid
    }
    let regions = areas.enumerated().map { number, region in
      WatchedRegion(id: .integer(Int64(number)), geometry: region.geometry)
    }
    let fixText = fixes.map { "\($0.longitude) \($0.latitude)" }.joined(separator: "\n")
    let areaText = regions.map { WKT.text(of: $0.geometry) }.joined(separator: "\n")
    let output = try Programs.output(
      Programs.shapelyPython ?? "",
      [
        "-c", Self.script, try folder.write(fixText, to: "fixes").path,
        try folder.write(areaText, to: "areas").path,
      ])
    var monitor = try GeofenceMonitor(try WatchedRegions(regions))
    let seen = monitor.take(fixes).map { "\($0.fix) \($0.kind) \($0.region.map { "\($0)" } ?? "")" }
    #expect(seen.count > 1000)
    #expect(seen == output.split(separator: "\n").map(String.init))
  }
}
