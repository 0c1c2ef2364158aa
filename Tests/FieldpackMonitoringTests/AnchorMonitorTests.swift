import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeometry
import FieldpackLocation
import FieldpackMonitoring
import FieldpackProjection
import FieldpackTestSupport
import Testing

@Suite struct AnchorMonitorTests {
  private static let walks = ["Alexanderplatz", "Ostkreuz"]

  /// A fix so many metres east of the origin on the equator.
  private func fix(
    _ east: Double, at seconds: Int64? = nil, accuracy: Double? = nil, device: String = ""
  ) -> Fix {
    Fix(
      longitude: east / 6_378_137 * 180 / .pi, latitude: 0,
      time: seconds.map { Instant(milliseconds: $0 * 1000) }, accuracy: accuracy, device: device)
  }

  @Test(
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)), arguments: walks)
  func `the region monitor sees a walk as geographiclib does`(name: String) throws {
    let (walk, expected) = (try PhotoPathWalk(name), try ExpectedReplay.read(name))
    let fixes = walk.dense
    #expect(fixes.count == expected.count)
    var monitor = try AnchorMonitor()
    let detections = monitor.take(fixes)
    #expect(detections.map(\.fix) == expected.region.dense)
    #expect(detections.map(\.kind) == [.start] + detections.dropFirst().map { _ in .exit })
    var again = try AnchorMonitor()
    #expect(again.take(walk.waypoints).count == expected.region.waypoints)
  }

  @Test(
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)), arguments: walks)
  func `the distance monitor sees a walk as geographiclib does`(name: String) throws {
    let (walk, expected) = (try PhotoPathWalk(name), try ExpectedReplay.read(name))
    var monitor = try DistanceMonitor()
    let detections = monitor.take(walk.dense)
    #expect(detections.map(\.fix) == expected.distance.dense)
    #expect(detections.map(\.kind) == [.start] + detections.dropFirst().map { _ in .moved })
    var again = try DistanceMonitor()
    #expect(again.take(walk.waypoints).count == expected.distance.waypoints)
  }

  @Test(
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)), arguments: walks)
  func `jittering fixes are never seen twice within the radius`(name: String) throws {
    var random = FilterGenerator.SplitMix(state: 7)
    let fixes = try PhotoPathWalk(name).dense.map { fix in
      let position = Geodesic.wgs84.position(
        from: fix.position, azimuth: .random(in: 0..<360, using: &random),
        distance: .random(in: 0...10, using: &random))
      return Fix(longitude: position.x, latitude: position.y)
    }
    var monitor = try AnchorMonitor()
    let seen = monitor.take(fixes)
    #expect(seen.count > 70)
    for (before, after) in zip(seen, seen.dropFirst()) {
      let apart = Geodesic.wgs84.distance(
        from: fixes[before.fix].position, to: fixes[after.fix].position)
      #expect(apart > 80)
      #expect(after.distance == apart)
    }
  }

  @Test func `the boundary is left beyond radius and cushion`() throws {
    var monitor = try AnchorMonitor(radius: 80, cushion: 20)
    let seen = monitor.take([0, 80, 99.999, 100.001, 150, 200.1].map { fix($0) })
    #expect(seen.map(\.fix) == [0, 3, 5])
  }

  @Test func `an exit is waited for`() throws {
    var monitor = try AnchorMonitor(radius: 80, dwell: 10)
    let seen = monitor.take([
      fix(0, at: 0), fix(90, at: 1), fix(90, at: 10), fix(70, at: 11), fix(90, at: 12),
      fix(95, at: 21), fix(96, at: 22), fix(200),
    ])
    #expect(seen.map(\.fix) == [0, 6, 7])
    #expect(seen.map(\.kind) == [.start, .exit, .exit])
  }

  @Test func `a device has moved when it is as far as the distance`() throws {
    var monitor = try DistanceMonitor(distance: DistanceMonitor.significant)
    let seen = monitor.take([0, 499.999, 500.000001, 900, 1100].map { fix($0) })
    #expect(seen.map(\.fix) == [0, 2, 4])
  }

  @Test func `late fixes, inaccurate ones and ones off Earth change nothing`() throws {
    var monitor = try DistanceMonitor(distance: 100, accuracyGate: 50)
    let passedOver = [
      fix(1000, at: 9), fix(1000, at: 11, accuracy: 51), Fix(longitude: 181, latitude: 0),
      Fix(longitude: 0, latitude: .nan),
    ]
    #expect(monitor.take(passedOver.suffix(3)) == [])
    #expect(monitor.state == MonitorState())
    #expect(monitor.take([fix(0, at: 10)]).map(\.kind) == [.start])
    var state = monitor.state
    #expect(monitor.take(passedOver) == [])
    state.devices[0].late = LateFixes(count: 1, time: Instant(milliseconds: 9000))
    #expect(monitor.state == state)
    #expect(monitor.take([fix(200, at: 10, accuracy: 50)]).map(\.kind) == [.moved])
  }

  @Test func `the third late fix in order is taken, and those before its time are late`() throws {
    let fixes = [
      fix(0, at: 10), fix(100, at: 4_000_000), fix(200, at: 12), fix(300, at: 11), fix(400, at: 13),
      fix(500), fix(600, at: 14), fix(700, at: 13), fix(800, at: 15),
    ]
    let fresh = try DistanceMonitor(distance: 10)
    var whole = fresh
    let seen = whole.take(fixes)
    #expect(seen.map(\.fix) == [0, 1, 5, 6, 8])
    for cut in 0...fixes.count {
      var (before, after) = (fresh, fresh)
      let first = before.take(Array(fixes[..<cut]))
      after.resume(before.state)
      var rest: [Detection] = []
      after.take(Array(fixes[cut...]), from: cut, into: &rest)
      #expect(first + rest == seen)
      #expect(after.state == whole.state)
    }
  }

  @Test func `late fixes of one time, or backwards, stay late`() throws {
    var monitor = try DistanceMonitor(distance: 10)
    let times: [Int64] = [10, 5, 5, 5, 4, 3, 2, 10, 5, 6, 10, 7, 8]
    let seen = monitor.take(times.enumerated().map { fix(Double($0) * 100, at: $1) })
    #expect(seen.map(\.fix) == [0, 7, 10])
  }

  @Test func `a wait beyond the boundary begins anew when the time goes back`() throws {
    var monitor = try AnchorMonitor(radius: 80, dwell: 10)
    let seen = monitor.take([
      fix(0, at: 0), fix(90, at: 4_000_000), fix(90, at: 1), fix(90, at: 2), fix(90, at: 3),
      fix(90, at: 12), fix(90, at: 13),
    ])
    #expect(seen.map(\.fix) == [0, 6])
  }

  @Test func `each device is watched for itself, whatever the order among devices`() throws {
    let first = (0..<50).map { fix(Double($0) * 30, at: Int64($0), device: "a") }
    let second = (0..<50).map { fix(Double($0) * 45, at: Int64($0) - 100, device: "b") }
    var both = try AnchorMonitor()
    let mixed = both.take(zip(first, second).flatMap { [$0, $1] })
    for (fixes, offset) in [(first, 0), (second, 1)] {
      var alone = try AnchorMonitor()
      let seen = alone.take(fixes)
      let device = fixes[0].device
      #expect(
        mixed.filter { $0.device == device }.map { ($0.fix - offset) / 2 } == seen.map(\.fix))
    }
    #expect(both.state.devices.map(\.device) == ["a", "b"])
  }

  @Test func `a monitor goes on from its state`() throws {
    let fixes = (0..<120).map { number in
      fix(Double(number) * 17, at: Int64(number), device: number % 3 == 0 ? "a" : "é")
    }
    let monitors: [any FixMonitor] = [
      try AnchorMonitor(radius: 60, dwell: 3), try DistanceMonitor(distance: 75),
    ]
    for fresh in monitors {
      var whole = fresh
      let seen = whole.take(fixes)
      for cut in 0...fixes.count {
        var (before, after) = (fresh, fresh)
        var detections = before.take(Array(fixes[..<cut]))
        after.resume(before.state)
        for number in cut..<fixes.count {
          after.take(fixes[number], number: number, into: &detections)
        }
        #expect(detections == seen)
        #expect(after.state == whole.state)
      }
      #expect(whole.state(of: "a") == whole.state.devices.first)
      #expect(whole.state(of: "b") == nil)
    }
  }

  @Test func `devices are told apart by their names, however many and however long`() throws {
    let names = (0..<2000).map { "\($0)" + String(repeating: "x", count: $0 % 40) } + ["", "é"]
    let fixes = names.map { fix(0, device: $0) }
    var monitor = try DistanceMonitor()
    #expect(monitor.take(fixes + fixes.reversed()).map(\.device) == names)
    // The last name in other code points.
    #expect(monitor.take([fix(0, device: "e\u{301}")]) == [])
  }

  @Test func `detections come from a source batch by batch`() async throws {
    let source = ScriptedSource([
      [.fix(fix(0)), .heading(Heading(degrees: 3)), .fix(fix(200))], [.fix(fix(210))],
      [.fix(fix(400))],
    ])
    var batches: [[Int]] = []
    for try await detections in try AnchorMonitor().detections(of: source, from: 10) {
      batches.append(detections.map(\.fix))
    }
    #expect(batches == [[10, 11], [13]])
  }

  @Test func `parameters that cannot be watched for are refused`() {
    #expect(throws: FieldpackError.self) { try AnchorMonitor(radius: 0) }
    #expect(throws: FieldpackError.self) { try AnchorMonitor(cushion: -1) }
    #expect(throws: FieldpackError.self) { try AnchorMonitor(dwell: .infinity) }
    #expect(throws: FieldpackError.self) { try DistanceMonitor(distance: .nan) }
    #expect(throws: FieldpackError.self) { try DistanceMonitor(accuracyGate: -1) }
  }
}
