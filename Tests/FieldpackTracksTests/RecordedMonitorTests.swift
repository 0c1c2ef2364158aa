import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackLocation
import FieldpackMonitoring
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackTracks

@Suite(.programs) struct RecordedMonitorTests {
  private let package: FieldFile

  init() throws { package = try FieldFile() }

  /// Two devices that cross each other, some metres a fix.
  private let fixes: [Fix] = (0..<60).map { number in
    let step = Double(number / 2) * (number % 2 == 0 ? 0.0002 : -0.0003)
    return Fix(
      longitude: 13.4 + step, latitude: 52.5, time: .at(Double(number)),
      device: number % 2 == 0 ? "a" : "b")
  }

  private func batches(_ size: Int, _ fixes: [Fix]) -> ScriptedSource {
    ScriptedSource(
      stride(from: 0, to: fixes.count, by: size).map { start in
        fixes[start..<min(start + size, fixes.count)].map { .fix($0) }
      })
  }

  private func watch(
    _ source: ScriptedSource, radius: Double = 80, in package: FieldFile,
    isReplay: Bool = false, origin: String = "script"
  ) async throws -> [RecordedStep] {
    try await package.withStore { store in
      let monitor = RecordedMonitor(
        try AnchorMonitor(radius: radius), in: store, as: "watch",
        clock: TestClock(at: .at(1_000_000)).clock)
      var steps: [RecordedStep] = []
      for try await step in monitor.watch(source, origin: origin, isReplay: isReplay) {
        steps.append(step)
      }
      return steps
    }
  }

  private func live() throws -> [Detection] {
    var monitor = try AnchorMonitor(radius: 80)
    return monitor.take(fixes)
  }

  @Test(arguments: [1, 7, 100])
  func `detections are rows and elements, the same as without a file`(size: Int) async throws {
    let steps = try await watch(batches(size, fixes), in: package)
    let expected = try live()
    #expect(steps.flatMap(\.detections) == expected)
    #expect(steps.map(\.fixes).last == 60)
    try await package.withStore { store in
      let expected = try live()
      let stored = try await store.detections(ofRun: "watch")
      #expect(stored == expected)
    }
    #expect(try package.findings() == [])
    #expect(try await package.verdicts() == [])
    #expect(
      try package.rows("SELECT name, kind, parameters, source, fixes, state FROM monitor_run") == [
        "watch|monitor|region radius=80.0 cushion=0.0 dwell=0.0|script|60|ended"
      ])
  }

  @Test func `a detection is drawn where its fix was`() async throws {
    _ = try await watch(batches(10, fixes), in: package)
    let expected = try live().map { "\(fixes[$0.fix].longitude) 52.5" }
    try await package.withStore { store in
      var positions: [String] = []
      for try await feature in try await store.query(Query("detection")).features {
        guard case .point(let position?, _) = feature.geometry else { continue }
        positions.append("\(position.x) \(position.y)")
      }
      #expect(positions == expected)
    }
  }

  @Test(arguments: [1, 13])
  func `a replay that ends anywhere goes on as if it had not`(size: Int) async throws {
    let whole = try FieldFile()
    _ = try await watch(batches(60, fixes), in: whole)
    for end in stride(from: 0, through: 60, by: 11) {
      _ = try await watch(
        batches(size, Array(fixes.prefix(end))), in: package, isReplay: true)
    }
    _ = try await watch(batches(size, fixes), in: package, isReplay: true)
    for sql in [
      "SELECT seq, fix, kind, device, time, distance_m, hex(geom) FROM detection ORDER BY fid",
      "SELECT * FROM monitor_state ORDER BY device", "SELECT fixes FROM monitor_run",
    ] {
      let expected = try whole.rows(sql)
      #expect(try package.rows(sql) == expected)
    }
  }

  @Test func `a replay of another origin is refused`() async throws {
    _ = try await watch(batches(60, fixes), in: package, isReplay: true, origin: "mon.gpx")
    let error = await failure {
      _ = try await watch(batches(60, fixes), in: package, isReplay: true, origin: "tue.gpx")
    }
    #expect(error?.code == .invalidArgument)
    #expect(
      error?.message == "the run 'watch' took 60 fixes from 'mon.gpx' and cannot skip as many of "
        + "'tue.gpx'. Try: 'mon.gpx', or another name")
    #expect(try package.rows("SELECT source, state FROM monitor_run") == ["mon.gpx|ended"])
  }

  @Test func `a replay whose last fix was changed is refused`() async throws {
    _ = try await watch(batches(60, Array(fixes.prefix(30))), in: package, isReplay: true)
    let before = try package.rows("SELECT * FROM detection")
    var moved = fixes
    moved[28].latitude += 1e-9
    let error = await failure {
      _ = try await watch(batches(7, moved), in: package, isReplay: true)
    }
    #expect(error?.code == .invalidArgument)
    #expect(
      error?.message == "the run 'watch' cannot go on with a source that was changed: the last fix"
        + "\(fixes[28].device.isEmpty ? "" : " of device '\(fixes[28].device)'") that the run took, "
        + "of \(try #require(fixes[28].time)), is not there any more. Try: another name, which begins "
        + "anew")
    #expect(try package.rows("SELECT * FROM detection") == before)
    #expect(try package.rows("SELECT fixes, state FROM monitor_run") == ["30|failed"])
    _ = try await watch(batches(7, fixes), in: package, isReplay: true)
    #expect(try package.rows("SELECT fixes, state FROM monitor_run") == ["60|ended"])
  }

  @Test(arguments: [1, 7, 60])
  func `a replay with fixes added or gone goes on after the last of each device`(
    size: Int
  ) async throws {
    let whole = try FieldFile()
    _ = try await watch(batches(60, fixes), in: whole)
    _ = try await watch(batches(60, Array(fixes.prefix(30))), in: package, isReplay: true)
    // One that is late, one of a device that only now tells of itself, and the oldest is gone.
    var late = fixes[3]
    late.latitude += 0.01
    let other = Fix(longitude: 1, latitude: 2, time: .at(-100), device: "late comer")
    let changed = [other] + fixes[1..<4] + [late] + fixes[4...]
    _ = try await watch(batches(size, changed), in: package, isReplay: true)
    for sql in [
      "SELECT kind, device, time, distance_m, hex(geom) FROM detection "
        + "WHERE device <> 'late comer' ORDER BY fid",
      "SELECT device, longitude, latitude, time_ms, anchor_longitude, anchor_latitude "
        + "FROM monitor_state WHERE device <> 'late comer' ORDER BY device",
    ] {
      let expected = try whole.rows(sql)
      #expect(try package.rows(sql) == expected)
    }
    #expect(
      try package.rows("SELECT kind, fix FROM detection WHERE device = 'late comer'")
        == ["start|30"])
    #expect(try package.rows("SELECT fixes, state FROM monitor_run") == ["61|ended"])
    let warnings = try package.rows("SELECT message FROM track_log WHERE level = 'warning'")
    #expect(warnings.count == 1)
    #expect(
      warnings.first?.hasSuffix(
        "goes on after the last fix of each device, and passes over what was added before") == true)
  }

  @Test func `as many fixes added as are gone are seen`() async throws {
    _ = try await watch(batches(60, Array(fixes.prefix(30))), in: package, isReplay: true)
    let other = Fix(longitude: 1, latitude: 2, time: .at(-100), device: "late comer")
    _ = try await watch(batches(7, [other] + fixes[1...]), in: package, isReplay: true)
    #expect(try package.rows("SELECT fixes, state FROM monitor_run") == ["61|ended"])
    #expect(
      try package.rows("SELECT message FROM track_log WHERE level = 'warning'") == [
        "the source was changed: its first 30 fixes are not those that the run took; goes on after "
          + "the last fix of each device, and passes over what was added before"
      ])
  }

  @Test func `a replay that was cut is refused and can go on when it is whole`() async throws {
    _ = try await watch(batches(60, Array(fixes.prefix(30))), in: package, isReplay: true)
    let before = try package.rows("SELECT * FROM detection")
    let error = await failure {
      _ = try await watch(batches(7, Array(fixes.prefix(12))), in: package, isReplay: true)
    }
    #expect(error?.code == .invalidArgument)
    #expect(try package.rows("SELECT * FROM detection") == before)
    #expect(try package.rows("SELECT fixes, state FROM monitor_run") == ["30|failed"])
    _ = try await watch(batches(7, fixes), in: package, isReplay: true)
    #expect(try package.rows("SELECT fixes, state FROM monitor_run") == ["60|ended"])
  }

  @Test func `a replay without times that was changed is refused`() async throws {
    let untimed = fixes.map { fix in
      var fix = fix
      fix.time = nil
      return fix
    }
    _ = try await watch(batches(60, Array(untimed.prefix(30))), in: package, isReplay: true)
    var added = untimed
    added.insert(untimed[3], at: 3)
    for (changed, how) in [
      (added, "its fix 28 is another one now"),
      (Array(untimed.prefix(12)), "it has 12 fixes now, and the run took 30"),
    ] {
      let error = await failure {
        _ = try await watch(batches(7, changed), in: package, isReplay: true)
      }
      #expect(error?.code == .invalidArgument)
      #expect(
        error?.message == "the run 'watch' cannot go on with a source that was changed: \(how). "
          + "Try: another name, which begins anew")
    }
    #expect(try package.rows("SELECT fixes, state FROM monitor_run") == ["30|failed"])
  }

  @Test func `a batch of very many detections is split`() async throws {
    let regions = try WatchedRegions(
      (0..<400).map {
        WatchedRegion(id: .integer($0), geometry: .point(x: 13.4, y: 52.5), radius: 1)
      })
    var options = GeofenceMonitor.Options()
    options.kinds = [.outside]
    let monitor = try GeofenceMonitor(regions, options: options)
    let far = (0..<60).map { Fix(longitude: 13, latitude: 52, time: .at(Double($0))) }
    var live = monitor
    let expected = live.take(far)
    var counts: [Int] = []
    for try await detections in monitor.detections(of: batches(60, far)) {
      counts.append(detections.count)
    }
    #expect(counts == [10_000, 10_000, 4_000])
    try await package.withStore { store in
      let run = RecordedMonitor(monitor, in: store, as: "far")
      var steps: [RecordedStep] = []
      for try await step in run.watch(batches(60, far)) { steps.append(step) }
      #expect(steps.map(\.detections.count) == [10_000, 10_000, 4_000])
      #expect(steps.map(\.fixes) == [25, 50, 60])
      #expect(steps.flatMap(\.detections) == expected)
    }
    #expect(try package.rows("SELECT fixes FROM monitor_run") == ["60"])
  }

  @Test func `a state that somebody took away comes back with its stays`() async throws {
    let regions = try WatchedRegions([
      WatchedRegion(id: 7, geometry: .point(x: 13.4, y: 52.5), radius: 100_000)
    ])
    let queries = [
      "SELECT device, last_fix, longitude, time_ms FROM monitor_state ORDER BY device",
      "SELECT device, region, fix, since_ms FROM monitor_stay ORDER BY device",
    ]
    var found: [[String]] = []
    for removes in [false, true] {
      let package = try FieldFile()
      try await package.withStore { store in
        let monitor = RecordedMonitor(try GeofenceMonitor(regions), in: store, as: "watch")
        var steps = 0
        for try await _ in monitor.watch(batches(10, fixes)) {
          steps += 1
          if removes, steps == 3 {
            try package.run("PRAGMA foreign_keys=ON; DELETE FROM monitor_state")
            #expect(try package.rows("SELECT count(*) FROM monitor_stay") == ["0"])
          }
        }
      }
      found.append(try queries.flatMap { try package.rows($0) })
    }
    #expect(found[0].count == 4)
    #expect(found[0] == found[1])
  }

  /// Sees nothing, and needs 10 ms for it.
  private struct SlowMonitor: FixMonitor {
    var state = MonitorState()
    var parameters: String { "slow" }

    mutating func take(
      _ fix: Fix, number: Int, into detections: inout [Detection]
    ) -> Bool {
      Thread.sleep(forTimeInterval: 0.01)
      state.devices = [
        DeviceState(fix: number, longitude: fix.longitude, latitude: fix.latitude, time: fix.time)
      ]
      return true
    }

    func state(of device: String) -> DeviceState? { state.devices.first }
    mutating func resume(_ state: MonitorState) { self.state = state }
  }

  @Test func `a transaction ends in time where a monitor is slow`() async throws {
    let fixes = (0..<100).map {
      Fix(longitude: Double($0) / 100, latitude: 52.5, time: .at(Double($0)))
    }
    try await package.withStore { store in
      let run = RecordedMonitor(SlowMonitor(), in: store, as: "slow")
      var counts: [Int] = []
      for try await step in run.watch(batches(100, fixes), isReplay: true) {
        counts.append(step.fixes)
      }
      #expect(counts == [64, 100])
    }
    let run = "SELECT fixes, fixes_digest FROM monitor_run"
    let whole = try FieldFile()
    try await whole.withStore { store in
      try await RecordedMonitor(SlowMonitor(), in: store, as: "slow").watch(
        batches(10, fixes), isReplay: true
      ).run()
    }
    #expect(try package.rows(run) == whole.rows(run))
  }

  @Test func `a live source goes on where the run was`() async throws {
    _ = try await watch(batches(10, Array(fixes.prefix(25))), in: package)
    _ = try await watch(batches(10, Array(fixes.dropFirst(25))), in: package)
    try await package.withStore { store in
      let expected = try live()
      let stored = try await store.detections(ofRun: "watch")
      #expect(stored == expected)
    }
  }

  @Test func `other parameters are refused`() async throws {
    _ = try await watch(batches(10, fixes), in: package)
    let error = await failure { _ = try await watch(batches(10, fixes), radius: 50, in: package) }
    #expect(error?.code == .invalidArgument)
    #expect(try package.rows("SELECT count(*) FROM monitor_run") == ["1"])
  }

  @Test func `the name of a recording is not one of a monitoring run`() async throws {
    try await package.withStore { store in
      try await TrackRecorder(store).record(ScriptedSource(fixes), as: "watch", .all).run()
    }
    let error = await failure { _ = try await watch(batches(10, fixes), in: package) }
    #expect(error?.message == "'watch' is a run of another kind in this file. Try: another name")
  }

  @Test func `a recorded track gives the detections of the live fixes`() async throws {
    try await package.withStore { store in
      try await TrackRecorder(store).record(ScriptedSource(fixes), as: "walk", .all).run()
      var seen: [Detection] = []
      let replay = ReplaySource(store, layer: FieldData.trackPoint)
      for try await detections in try AnchorMonitor(radius: 80).detections(of: replay) {
        seen += detections
      }
      let expected = try live()
      #expect(seen == expected)
    }
  }

  @Test func `stays are kept`() async throws {
    let fix = Fix(longitude: 1, latitude: 2, time: .at(0))
    for _ in 0..<2 {
      try await package.withStore { store in
        try await RecordedMonitor(StayingMonitor(), in: store, as: "stay").watch(
          ScriptedSource([fix])
        ).run()
      }
    }
    #expect(
      try package.rows(
        "SELECT device, region, region_text, fix, since_ms, has_dwelt FROM monitor_stay") == [
          "|7|NULL|0|1600000000000|1", "|NULL|lake|0|NULL|0", "|7|NULL|1|1600000000000|1",
          "|NULL|lake|1|NULL|0",
        ])
  }
}

/// A monitor that only gathers stays.
private struct StayingMonitor: FixMonitor {
  var state = MonitorState()
  var parameters: String { "staying" }

  mutating func take(
    _ fix: Fix, number: Int, into detections: inout [Detection]
  ) -> Bool {
    let old = state.devices.first?.stays ?? []
    state.devices = [
      DeviceState(
        fix: number, longitude: fix.longitude, latitude: fix.latitude, time: fix.time,
        stays: old + [
          Stay(region: .integer(7), fix: number, since: fix.time, hasDwelt: true),
          Stay(region: .text("lake"), fix: number),
        ])
    ]
    return true
  }

  func state(of device: String) -> DeviceState? { state.devices.first }
  mutating func resume(_ state: MonitorState) { self.state = state }
}
