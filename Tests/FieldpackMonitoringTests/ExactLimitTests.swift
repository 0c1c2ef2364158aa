import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeometry
import FieldpackLocation
import FieldpackProjection
import Testing

@testable import FieldpackMonitoring

/// Hysteresis and accuracy that are as large as the distance of the fix itself, or one step of a double
/// smaller: the geodesic decides, not the quick distance beside it.
@Suite struct ExactLimitTests {
  private static let circle = WatchedRegion(
    id: 1, geometry: .point(x: 13.4, y: 52.5), radius: 80)
  private static let area = "POLYGON ((13.4 52.5, 13.41 52.5, 13.41 52.51, 13.4 52.51, 13.4 52.5))"

  private func monitor(
    _ regions: WatchedRegions, _ change: (inout GeofenceMonitor.Options) -> Void
  ) throws -> GeofenceMonitor {
    var options = GeofenceMonitor.Options()
    options.kinds = [.enter, .exit]
    change(&options)
    return try GeofenceMonitor(regions, options: options)
  }

  /// What is seen of a fix within the region, and of the other after it.
  private func kinds(_ monitor: GeofenceMonitor, _ fixes: Fix...) -> [Detection.Kind] {
    var monitor = monitor
    return monitor.take(fixes).map(\.kind)
  }

  /// Metres to the edge, by the geodesic only.
  private func distance(_ regions: WatchedRegions, _ fix: Fix) throws -> Double {
    var view = Viewpoint(fix.longitude, fix.latitude)
    view.isExact = true
    return try #require(regions.distance(to: 0, from: view))
  }

  /// 200 fixes around the region, of which many have quick distances beside the geodesic.
  private static let fixes = (0..<200).map { number in
    let step = Double(number)
    return Fix(
      longitude: 13.405 + 0.02 * (step * 0.37).remainder(dividingBy: 1),
      latitude: 52.505 + 0.02 * (step * 0.73).remainder(dividingBy: 1))
  }

  @Test func `a hysteresis as large as the distance holds a device in a circle`() throws {
    let regions = try WatchedRegions([Self.circle])
    let centre = Fix(longitude: 13.4, latitude: 52.5)
    var measured = 0
    for fix in Self.fixes {
      let way = Geodesic.wgs84.distance(from: centre.position, to: fix.position) - 80
      guard way > 0 else { continue }
      measured += 1
      #expect(try distance(regions, fix) == way)
      let holds = try monitor(regions) { $0.hysteresis = way }
      #expect(kinds(holds, centre, fix) == [.enter], "\(way) m")
      let leaves = try monitor(regions) { $0.hysteresis = way.nextDown }
      #expect(kinds(leaves, centre, fix) == [.enter, .exit], "\(way) m")
    }
    #expect(measured > 150)
  }

  @Test func `so does one as large as the distance to an area, and an accuracy`() throws {
    let regions = try WatchedRegions([
      WatchedRegion(id: 1, geometry: try WKT.read(Self.area))
    ])
    let centre = Fix(longitude: 13.405, latitude: 52.505)
    var (outside, inside) = (0, 0)
    for fix in Self.fixes {
      let way = try distance(regions, fix)
      var exact = fix
      exact.accuracy = abs(way)
      var near = fix
      near.accuracy = abs(way).nextDown
      var far = fix
      far.accuracy = abs(way).nextUp
      let accurate = try monitor(regions) { $0.usesAccuracy = true }
      if way > 0 {
        outside += 1
        #expect(kinds(try monitor(regions) { $0.hysteresis = way }, centre, fix) == [.enter])
        let leaves = try monitor(regions) { $0.hysteresis = way.nextDown }
        #expect(kinds(leaves, centre, fix) == [.enter, .exit])
        #expect(kinds(accurate, centre, exact) == [.enter])
        #expect(kinds(accurate, centre, near) == [.enter, .exit])
      } else if way < 0 {
        inside += 1
        #expect(kinds(accurate, exact) == [.enter])
        #expect(kinds(accurate, near) == [.enter])
        #expect(kinds(accurate, far) == [])
      }
    }
    #expect(outside > 100 && inside > 20)
  }
}
