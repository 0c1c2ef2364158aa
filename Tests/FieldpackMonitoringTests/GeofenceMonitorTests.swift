import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeometry
import FieldpackLocation
import FieldpackMonitoring
import FieldpackProjection
import FieldpackTestSupport
import Testing

@Suite struct GeofenceMonitorTests {
  private func area(_ id: FeatureID, _ wkt: String) throws -> WatchedRegion {
    WatchedRegion(id: id, geometry: try WKT.read(wkt))
  }

  private func monitor(
    _ regions: [WatchedRegion], _ change: (inout GeofenceMonitor.Options) -> Void = { _ in }
  ) throws -> GeofenceMonitor {
    var options = GeofenceMonitor.Options()
    change(&options)
    return try GeofenceMonitor(try WatchedRegions(regions), options: options)
  }

  private func fix(
    _ x: Double, _ y: Double, at seconds: Int64? = nil, accuracy: Double? = nil
  ) -> Fix {
    Fix(
      longitude: x, latitude: y, time: seconds.map { Instant(milliseconds: $0 * 1000) },
      accuracy: accuracy)
  }

  /// `fix kind region`, one a detection.
  private func words(_ detections: [Detection]) -> [String] {
    detections.map { "\($0.fix) \($0.kind) \($0.region.map { "\($0)" } ?? "-")" }
  }

  private let wide = "POLYGON ((13 52, 13.1 52, 13.1 52.1, 13 52.1, 13 52))"
  private let narrow = "POLYGON ((13.05 52, 13.06 52, 13.06 52.1, 13.05 52.1, 13.05 52))"

  @Test func `detections come by region, and of one region in a stated order`() throws {
    var monitor = try monitor([
      try area(2, wide), try area(1, narrow),
      WatchedRegion(id: 3, geometry: .point(x: 13.2, y: 52.05), radius: 100),
    ]) {
      $0.kinds = [.enter, .exit, .cross, .dwell, .inside, .outside]
      $0.dwell = 0
    }
    let seen = monitor.take([
      fix(13.05, 52.05, at: 0), fix(13.09, 52.05, at: 10), fix(13.3, 52.05, at: 20),
    ])
    #expect(
      words(seen) == [
        "0 enter 1", "0 dwell 1", "0 inside 1", "0 enter 2", "0 dwell 2", "0 inside 2",
        "0 outside 3",
        "1 exit 1", "1 outside 1", "1 inside 2", "1 outside 3",
        "2 outside 1", "2 exit 2", "2 outside 2", "2 cross 3", "2 outside 3",
      ])
  }

  @Test func `distances to the edge are geodesic, negative inside`() throws {
    let donut = "POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0), (0.4 0.4, 0.6 0.4, 0.6 0.6, 0.4 0.6, 0.4 0.4))"
    let regions = try WatchedRegions([
      try area(1, donut), WatchedRegion(id: 2, geometry: .point(x: 0, y: 0), radius: 80),
    ])
    func way(_ a: (Double, Double), _ b: (Double, Double)) -> Double {
      Geodesic.wgs84.distance(
        from: Position(x: a.0, y: a.1), to: Position(x: b.0, y: b.1))
    }
    func distance(_ x: Double, _ y: Double, _ id: FeatureID) -> Double {
      regions.distance(from: Position(x: x, y: y), toEdgeOf: id) ?? .nan
    }
    #expect(abs(distance(0.5, 0.39, 1) + way((0.5, 0.39), (0.5, 0.4))) < 1e-3)
    #expect(abs(distance(0.5, 0.45, 1) - way((0.5, 0.45), (0.5, 0.4))) < 1e-3)
    #expect(abs(distance(1.5, 0, 1) - way((1.5, 0), (1, 0))) < 1e-3)
    #expect(distance(0, 0, 2) == -80)
    #expect(abs(distance(1, 0, 2) - (way((0, 0), (1, 0)) - 80)) < 1e-4)
    #expect(regions.distance(from: Position(x: 0, y: 0), toEdgeOf: 3) == nil)
    #expect(regions.ids(holding: Position(x: 0, y: 0)) == [1, 2])
    #expect(regions.ids(holding: Position(x: 0.5, y: 0.5)) == [])
  }

  @Test func `areas without height or extent hold their own positions alone`() throws {
    let regions = try WatchedRegions([
      try area(1, "POLYGON ((10 0, 11 0, 11 1e-30, 10 1e-30, 10 0))"),
      try area(2, "POLYGON ((10 0, 11 0, 12 0, 10 0))"),
      try area(3, "POLYGON ((10 0, 10 0, 10 0, 10 0))"),
    ])
    #expect(regions.ids(holding: Position(x: 10, y: 0)) == [1, 2, 3])
    #expect(regions.ids(holding: Position(x: 11.5, y: 0)) == [2])
    for id in 1...3 {
      let distance = regions.distance(from: Position(x: 10, y: 90), toEdgeOf: .integer(Int64(id)))
      #expect(abs((distance ?? 0) - 10_001_965.7) < 1)
    }
    var monitor = try GeofenceMonitor(regions)
    let seen = monitor.take([fix(10.5, -80), fix(10.5, 80), fix(10.5, 79)])
    #expect(words(seen) == ["1 cross 1", "1 cross 2"])
  }

  @Test func `the border belongs to a region`() throws {
    let regions = try WatchedRegions([try area(1, wide)])
    for (x, y) in [(13.0, 52.0), (13.1, 52.1), (13.05, 52.1), (13.0, 52.03)] {
      #expect(regions.ids(holding: Position(x: x, y: y)) == [1])
    }
    #expect(regions.ids(holding: Position(x: 13.1.nextUp, y: 52.05)) == [])
    #expect(regions.ids(holding: Position(x: 13.05, y: 52.1.nextUp)) == [])
  }

  @Test func `an exit waits for the hysteresis`() throws {
    var monitor = try monitor([
      WatchedRegion(id: 7, geometry: .point(x: 0, y: 0), radius: 1000)
    ]) { $0.hysteresis = 500 }
    let metre = 1 / 110_574.4
    let seen = monitor.take(
      [0, 900, 1200, 1499, 1501, 1200, 999].map { fix(0, $0 * metre) })
    #expect(words(seen) == ["0 enter 7", "4 exit 7", "6 enter 7"])
  }

  @Test func `a fix may stand for all of its accuracy`() throws {
    var monitor = try monitor([
      WatchedRegion(id: 7, geometry: .point(x: 0, y: 0), radius: 1000)
    ]) {
      $0.usesAccuracy = true
      $0.accuracyGate = 400
    }
    let metre = 1 / 110_574.4
    let seen = monitor.take([
      fix(0, 900 * metre, accuracy: 200), fix(0, 700 * metre, accuracy: 200),
      fix(0, 2000 * metre, accuracy: 500), fix(0, 1100 * metre, accuracy: 200),
      fix(0, 1300 * metre, accuracy: 200), fix(0, 500 * metre),
    ])
    #expect(words(seen) == ["1 enter 7", "4 exit 7", "5 enter 7"])
  }

  @Test func `a stay dwells once`() throws {
    var monitor = try monitor([try area(1, wide)]) {
      $0.kinds = [.dwell, .exit]
      $0.dwell = 60
    }
    let seen = monitor.take([
      fix(13.05, 52.05), fix(13.05, 52.05, at: 100), fix(13.05, 52.05, at: 159),
      fix(13.05, 52.05, at: 160), fix(13.05, 52.05, at: 300), fix(14, 52, at: 310),
      fix(13.05, 52.05, at: 320), fix(13.05, 52.06, at: 380),
    ])
    #expect(words(seen) == ["3 dwell 1", "5 exit 1", "7 dwell 1"])
  }

  @Test func `late fixes neither cross nor move a device`() throws {
    var monitor = try monitor([try area(1, narrow)])
    let seen = monitor.take([
      fix(13, 52.05, at: 10), fix(13.055, 52.05, at: 5), fix(13.2, 52.05, at: 10),
    ])
    #expect(words(seen) == ["2 cross 1"])
  }

  @Test func `a device whose time was in the future once is watched on`() throws {
    var monitor = try monitor([try area(1, wide)]) {
      $0.kinds = [.enter, .exit, .dwell]
      $0.dwell = 60
    }
    let seen = monitor.take([
      fix(13.05, 52.05, at: 4_000_000), fix(13.05, 52.05, at: 1), fix(13.05, 52.05, at: 2),
      fix(13.05, 52.05, at: 3), fix(13.05, 52.05, at: 62), fix(13.05, 52.05, at: 63),
      fix(14, 52, at: 64),
    ])
    #expect(words(seen) == ["0 enter 1", "5 dwell 1", "6 exit 1"])
  }

  @Test func `areas cross the antimeridian cut there or by longitudes beyond 180`() throws {
    let cut = """
      MULTIPOLYGON (((178 10, 180 10, 180 12, 178 12, 178 10)),
      ((-180 10, -178 10, -178 12, -180 12, -180 10)))
      """
    let regions = [
      try area("beyond", "POLYGON ((178 10, 182 10, 182 12, 178 12, 178 10))"),
      try area("cut", cut),
      try area("west", "POLYGON ((-182 10, -178 10, -178 12, -182 12, -182 10))"),
      WatchedRegion(id: "circle", geometry: .point(x: 180, y: 11), radius: 50_000),
    ]
    let watched = try WatchedRegions(regions)
    for x in [179.9, 180, -180, -179.9] {
      let position = Position(x: x, y: 11.0)
      #expect(watched.ids(holding: position) == ["beyond", "circle", "cut", "west"])
      let distances = ["beyond", "cut", "west"].map {
        watched.distance(from: position, toEdgeOf: FeatureID.text($0)) ?? .nan
      }
      // A degree of latitude to the next edge.
      #expect(distances.allSatisfy { abs($0 + 110_600) < 100 })
      #expect((distances.max() ?? 0) - (distances.min() ?? 1) < 1e-3)
    }
    var monitor = try GeofenceMonitor(watched)
    let seen = monitor.take([
      fix(177, 11), fix(-177, 11), fix(179.9, 11), fix(-179.9, 11), fix(-170, 11), fix(170, 11),
    ])
    #expect(
      words(seen) == [
        "1 cross beyond", "1 cross circle", "1 cross cut", "1 cross west", "2 enter beyond",
        "2 enter circle", "2 enter cut", "2 enter west", "4 exit beyond", "4 exit circle",
        "4 exit cut", "4 exit west", "5 cross beyond", "5 cross circle", "5 cross cut",
        "5 cross west",
      ])
  }

  @Test func `an area around a pole has no edge there`() throws {
    let regions = try WatchedRegions([
      try area(
        1, "POLYGON ((-180 -90, 180 -90, 180 -60, 0 -62, -180 -60, -180 -90))"),
      try area(2, "POLYGON ((-180 -90, 180 -90, 180 90, -180 90, -180 -90))"),
      try area(3, "POLYGON ((0 -80, 90 -80, 90 -90, 0 -90, 0 -80))"),
      WatchedRegion(id: 4, geometry: .point(x: 77, y: -89.9), radius: 20_000),
    ])
    let pole = Position(x: -140, y: -90)
    #expect(regions.ids(holding: pole) == [1, 2, 3, 4])
    #expect(regions.distance(from: pole, toEdgeOf: 2) == nil)
    let edge = Geodesic.wgs84.distance(from: pole, to: Position(x: 0, y: -62))
    #expect(abs((regions.distance(from: pole, toEdgeOf: 1) ?? 0) + edge) < 1)
    #expect(regions.distance(from: pole, toEdgeOf: 3).map(abs) ?? 1 < 1e-3)
    #expect(regions.ids(holding: Position(x: 179, y: -89.99)) == [1, 2, 4])
  }

  @Test func `regions may change while they are watched`() throws {
    var monitor = try monitor([try area(1, wide), try area(3, narrow)])
    #expect(words(monitor.take([fix(13.055, 52.05)])) == ["0 enter 1", "0 enter 3"])
    monitor.watch(try WatchedRegions([try area(2, wide), try area(3, wide)]))
    let state = monitor.state
    var seen: [Detection] = []
    monitor.take(fix(13.09, 52.05), number: 1, into: &seen)
    #expect(words(seen) == ["1 exit 1", "1 enter 2"])
    #expect(seen.first?.distance == nil)
    monitor.resume(state)
    var again: [Detection] = []
    monitor.take(fix(13.09, 52.05), number: 1, into: &again)
    #expect(again == seen)
  }

  @Test func `a regions monitor goes on from its state`() throws {
    var random = FilterGenerator.SplitMix(state: 5)
    let fixes = (0..<150).map { number in
      Fix(
        longitude: .random(in: 12.98...13.12, using: &random),
        latitude: .random(in: 51.99...52.11, using: &random),
        time: number % 7 == 0 ? nil : Instant(milliseconds: Int64(number) * 1000),
        device: ["a", "b", "c"][number % 3])
    }
    let fresh = try monitor([
      try area(1, wide), try area("x", narrow),
      WatchedRegion(id: 9, geometry: .point(x: 13.1, y: 52.1), radius: 3000),
    ]) {
      $0.kinds = [.enter, .exit, .cross, .dwell]
      $0.dwell = 9
      $0.hysteresis = 300
    }
    var whole = fresh
    let expected = whole.take(fixes)
    #expect(Set(expected.map(\.kind)) == [.enter, .exit, .cross, .dwell])
    for cut in 0...fixes.count {
      var (before, after) = (fresh, fresh)
      var seen = before.take(Array(fixes[..<cut]))
      after.resume(before.state)
      for number in cut..<fixes.count { after.take(fixes[number], number: number, into: &seen) }
      #expect(seen == expected)
      #expect(after.state == whole.state)
    }
  }

  @Test(arguments: [
    (WatchedRegion(id: 4, geometry: .point(x: 1, y: 2)), "region 4 is a point without a radius"),
    (
      WatchedRegion(id: 5, geometry: .point(x: 1, y: 2), radius: -1), "region 5 has the radius -1.0"
    ),
    (
      WatchedRegion(
        id: 6, geometry: .lineString(CoordinateSequence([Position(x: 0, y: 0)], dimensions: .xy))),
      "region 6 is a line"
    ),
    (
      WatchedRegion(id: 7, geometry: .point(x: 1, y: 91), radius: 1),
      "region 7 has a position (1.0 91.0)"
    ),
    (
      WatchedRegion(id: 8, geometry: .point(x: .nan, y: 1), radius: 1),
      "region 8 has a position (nan 1.0)"
    ),
  ]) func `a region that cannot be watched is named`(region: WatchedRegion, start: String) {
    do throws(FieldpackError) {
      _ = try WatchedRegions([region])
      Issue.record("\(region) was taken")
    } catch {
      #expect(error.message.hasPrefix(start))
      #expect(error.location.feature == region.id)
    }
  }

  @Test func `options that cannot be watched for are refused`() {
    #expect(throws: FieldpackError.self) { try monitor([]) { $0.kinds = [] } }
    #expect(throws: FieldpackError.self) { try monitor([]) { $0.kinds = [.start] } }
    #expect(throws: FieldpackError.self) { try monitor([]) { $0.kinds = [.dwell] } }
    #expect(throws: FieldpackError.self) { try monitor([]) { $0.hysteresis = -1 } }
    let one = WatchedRegion(id: 1, geometry: .point(x: 0, y: 0), radius: 1)
    #expect(throws: FieldpackError.self) { try WatchedRegions([one, one]) }
  }
}
