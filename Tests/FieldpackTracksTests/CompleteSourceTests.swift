import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackLocation
import FieldpackMonitoring
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackTracks

/// Runs over sources of which all fixes are there: watched ahead of what is stored, several batches
/// at a time.
@Suite(.calculation) struct CompleteSourceTests {
  private let package: FieldFile

  init() throws { package = try FieldFile() }

  /// Three devices that go to and fro; one stands still at times, some fixes are late or nowhere.
  private static let fixes = walk(1200)

  private static func walk(_ count: Int) -> [Fix] { (0..<count).map(fix) }

  private static func fix(_ number: Int) -> Fix {
    let step = number / 3
    let swing = 0.01 * sin(Double(step / 2) / 20 + Double(number % 3))
    var fix = Fix(
      longitude: 13.4 + swing, latitude: 52.5 + swing / 2, time: .at(Double(step)),
      device: "d\(number % 3)")
    if number % 97 == 5 { fix.time = .at(Double(step - 50)) }
    if number % 211 == 7 { fix.latitude = 100 }
    return fix
  }

  private static let zones: [WatchedRegion] = (0..<60).map { number in
    WatchedRegion(
      id: .integer(Int64(number)),
      geometry: .point(x: 13.39 + Double(number) * 0.0003, y: 52.5), radius: 400)
  }

  private func source(
    _ fixes: [Fix] = fixes, size: Int, isComplete: Bool = true, failure: FieldpackError? = nil
  ) -> ScriptedSource {
    let batches = stride(from: 0, to: fixes.count, by: size).map { start in
      fixes[start..<min(start + size, fixes.count)].map { LocationUpdate.fix($0) }
    }
    return ScriptedSource(batches, isComplete: isComplete, failure: failure)
  }

  private func monitor(_ kinds: Set<Detection.Kind> = [.enter, .exit, .cross]) throws
    -> GeofenceMonitor
  {
    var options = GeofenceMonitor.Options()
    options.kinds = kinds
    return try GeofenceMonitor(try WatchedRegions(Self.zones), options: options)
  }

  /// All that a run leaves in its file.
  private static let rows = [
    "SELECT seq, fix, kind, device, region, time, distance_m, hex(geom) FROM detection ORDER BY fid",
    "SELECT device, last_fix, longitude, latitude, time_ms, late_count, late_ms, track_fid, "
      + "anchor_fix FROM monitor_state ORDER BY device",
    "SELECT device, region, fix, since_ms, has_dwelt FROM monitor_stay ORDER BY 1, 2",
    "SELECT name, fixes, fixes_digest, state FROM monitor_run",
    "SELECT fid, track_fid, seq, fix, id_md5, hex(geom) FROM track_point ORDER BY fid",
    "SELECT fid, name, device, length_m, hex(geom) FROM track ORDER BY fid",
    "SELECT id, level, message, fix, device FROM track_log ORDER BY id",
    "SELECT id FROM rtree_detection_geom ORDER BY id",
  ]

  private func expectSameRows(
    _ package: FieldFile, _ other: FieldFile, of queries: [String] = rows
  ) throws {
    for sql in queries {
      let expected = try other.rows(sql)
      #expect(try package.rows(sql) == expected)
    }
    #expect(try package.findings() == [])
  }

  @Test(arguments: [1, 7, 1000, 4000])
  func `regions are watched as of fixes that come`(size: Int) async throws {
    let live = try FieldFile()
    for (package, isComplete) in [(package, true), (live, false)] {
      try await package.withStore { store in
        let run = RecordedMonitor(
          try monitor(), in: store, as: "run", clock: TestClock(at: .at(1_000_000)).clock)
        var seen: [Detection] = []
        let fixes = source(size: isComplete ? size : 4000, isComplete: isComplete)
        for try await step in run.watch(fixes) {
          seen += step.detections
        }
        let stored = try await store.detections(ofRun: "run")
        #expect(seen == stored)
        #expect(seen.count > 500)
      }
    }
    try expectSameRows(package, live)
    let warnings = try package.rows("SELECT count(*) FROM track_log WHERE level = 'warning'")
    #expect(warnings != ["0"])
  }

  @Test(arguments: [(Sampling.all, 100), (.region(40), 7)])
  func `tracks are recorded as of fixes that come`(
    method: Sampling, size: Int
  ) async throws {
    let live = try FieldFile()
    for (package, isComplete) in [(package, true), (live, false)] {
      try await package.withStore { store in
        let recorder = TrackRecorder(store, clock: TestClock(at: .at(1_000_000)).clock)
        let fixes = source(
          Self.walk(5200), size: isComplete ? size : 10_000, isComplete: isComplete)
        var steps = 0
        for try await _ in try recorder.record(fixes, as: "walk", method) { steps += 1 }
        // Some, and twice as many points as a transaction has at most.
        if method == .all { #expect(steps >= 3) }
      }
    }
    // Lines may trail the points until the end, by other numbers of them.
    try expectSameRows(package, live)
    #expect(try package.rows("SELECT count(*) FROM track") == ["3"])
    if method == .all {
      let dropped = try package.rows(
        "SELECT count(*) FROM track_log WHERE message LIKE 'dropped%'")
      #expect(dropped != ["0"])
    }
  }

  @Test(arguments: [1, 13, 5000])
  func `a replay that ends anywhere goes on`(size: Int) async throws {
    let whole = try FieldFile()
    func watch(_ fixes: [Fix], in package: FieldFile) async throws {
      try await package.withStore { store in
        try await RecordedMonitor(try monitor(), in: store, as: "run").watch(
          source(fixes, size: size), origin: "file", isReplay: true
        ).run()
      }
    }
    try await watch(Self.fixes, in: whole)
    for end in [0, 1, 500, 501, 900, 1200] {
      try await watch(Array(Self.fixes.prefix(end)), in: package)
    }
    try expectSameRows(
      package, whole, of: Self.rows.filter { !$0.contains("track_log") })
  }

  /// Gives 10,000 detections every few fixes, so that a run takes several transactions.
  private static let everything: Set<Detection.Kind> = [.inside, .outside]
  private static let some = Array(fixes.prefix(600))

  private func makeZones(in store: GeoPackageStore) async throws {
    try await store.write { (writer) throws(FieldpackError) in
      try writer.createLayer(Schema(layer: "zones", geometry: GeometryColumn(type: .point)))
      for zone in Self.zones {
        _ = try writer.create(Feature(geometry: zone.geometry), in: "zones")
      }
    }
  }

  private func moveZones(_ step: Int, in store: GeoPackageStore) async throws {
    try await store.write { (writer) throws(FieldpackError) in
      try writer.update(
        .integer(Int64(step % 20 + 1)), in: "zones",
        geometry: .set(.point(x: 13.4 + Double(step) * 1e-4, y: 52.5)))
      if step < 20 { try writer.delete(.integer(Int64(60 - step)), in: "zones") }
    }
  }

  @Test(arguments: [7, 4000])
  func `each transaction watches the regions as they are when it begins`(
    size: Int
  ) async throws {
    try await package.withStore { store in
      try await makeZones(in: store)
      let layer = RegionLayer("zones", of: store, radius: 400)
      var own = try monitor(Self.everything)
      let run = RecordedMonitor(own, in: store, as: "run", watching: layer)
      var (first, steps) = (0, 0)
      own.watch(try await layer.regions())
      for try await step in run.watch(source(Self.some, size: size)) {
        var expected: [Detection] = []
        own.take(Array(Self.fixes[first..<step.fixes]), from: first, into: &expected)
        #expect(step.detections == expected)
        (first, steps) = (step.fixes, steps + 1)
        // Others than those by which the next fixes are being watched.
        try await moveZones(steps, in: store)
        own.watch(try await layer.regions())
      }
      #expect(first == 600)
      #expect(steps > 2)
    }
    #expect(try package.rows("SELECT fixes, state FROM monitor_run") == ["600|ended"])
    #expect(try package.findings() == [])
  }

  @Test func `a changed replay over regions that change takes each fix once`() async throws {
    func fixes(_ device: String, _ times: Range<Int>) -> [Fix] {
      times.map { time in
        Fix(
          longitude: 13.4 + Double(time) * 1e-5, latitude: 52.5, time: .at(Double(time)),
          device: device)
      }
    }
    let known = fixes("a", 0..<50) + fixes("b", 0..<50)
    // What is new of the first device comes before the last known fix of the second.
    let changed = fixes("a", 0..<250) + fixes("b", 0..<450)
    try await package.withStore { store in
      try await makeZones(in: store)
      let layer = RegionLayer("zones", of: store, radius: 400)
      for (given, moves) in [(known, false), (changed, true)] {
        let run = RecordedMonitor(
          try monitor(Self.everything), in: store, as: "run", watching: layer)
        var steps = 0
        for try await _ in run.watch(source(given, size: 7), isReplay: true) {
          steps += 1
          if moves { try await moveZones(steps, in: store) }
        }
        if moves { #expect(steps >= 3) }
      }
    }
    #expect(try package.rows("SELECT fixes, state FROM monitor_run") == ["700|ended"])
    #expect(
      try package.rows(
        "SELECT device, count(DISTINCT time), max(time) FROM detection GROUP BY device") == [
          "a|250|\(Instant.at(249))", "b|450|\(Instant.at(449))",
        ])
  }

  @Test func `a device whose name is spelled in two ways is known again`() async throws {
    var fixes = Array(Self.fixes.prefix(40))
    for index in fixes.indices {
      fixes[index].device = index % 2 == 0 ? "caf\u{e9}" : "cafe\u{301}"
      fixes[index].time = nil
    }
    for end in [20, 40, 40] {
      try await package.withStore { store in
        try await RecordedMonitor(try monitor(), in: store, as: "run").watch(
          source(Array(fixes.prefix(end)), size: 7), isReplay: true
        ).run()
      }
    }
    #expect(try package.rows("SELECT fixes, state FROM monitor_run") == ["40|ended"])
    #expect(try package.rows("SELECT count(*) FROM monitor_state") == ["1"])
  }

  @Test func `what came before an error is stored`() async throws {
    try await package.withStore { store in
      let error = await failure {
        let run = RecordedMonitor(try monitor(), in: store, as: "run")
        let broken = FieldpackError(.invalidData, "line 1201 is no fix")
        try await run.watch(source(size: 100, failure: broken)).run()
      }
      #expect(error?.message == "line 1201 is no fix")
    }
    #expect(try package.rows("SELECT fixes, state FROM monitor_run") == ["1200|failed"])
    #expect(
      try package.rows("SELECT message FROM track_log WHERE level = 'error'") == [
        "failed: line 1201 is no fix"
      ])
  }

  @Test(arguments: [false, true])
  func `another start, or a cancelled task, ends a run between transactions`(
    isCancelled: Bool
  ) async throws {
    let whole = try FieldFile()
    try await whole.withStore { store in
      try await RecordedMonitor(try monitor(Self.everything), in: store, as: "run").watch(
        source(Self.some, size: 4000), isReplay: true
      ).run()
    }
    try await package.withStore { store in
      let run = RecordedMonitor(try monitor(Self.everything), in: store, as: "run")
      let first = Task {
        var taken = 0
        do {
          for try await step in run.watch(source(Self.some, size: 4000), isReplay: true) {
            taken = step.fixes
            if isCancelled {
              withUnsafeCurrentTask { $0?.cancel() }
            } else {
              // The next start takes the run over, in the file too.
              _ = try await run.watch(source(Self.some, size: 4000), isReplay: true)
                .makeAsyncIterator()
                .next()
            }
          }
          Issue.record("nothing was thrown")
        } catch let error as FieldpackError {
          #expect(error.code == .interrupted)
          #expect(error.locationFailure == (isCancelled ? nil : .aborted))
        }
        return taken
      }
      #expect(try await first.value < 600)
      try await RecordedMonitor(try monitor(Self.everything), in: store, as: "run").watch(
        source(Self.some, size: 4000), isReplay: true
      ).run()
    }
    try expectSameRows(package, whole, of: Self.rows.filter { !$0.contains("track_log") })
  }

  @Test func `another start ends a run that has only its end left`() async throws {
    try await package.withStore { store in
      let run = RecordedMonitor(try monitor(), in: store, as: "run")
      let error = await failure {
        for try await step in run.watch(source(size: 100), isReplay: true)
        where step.fixes == 1200 {
          try await run.watch(source(size: 100), isReplay: true).run()
        }
      }
      #expect(error?.locationFailure == .aborted)
    }
    #expect(try package.rows("SELECT fixes, state FROM monitor_run") == ["1200|ended"])
  }

  /// Gives some fixes, and then waits until it is cancelled.
  private struct EndlessSource: LocationSource {
    let fixes: [Fix]
    let isCancelled = Locked(false)
    var isComplete: Bool { true }

    func updates() -> LocationUpdates {
      let (fixes, isCancelled, isFirst) = (fixes, isCancelled, Locked(true))
      return LocationUpdates {
        { () async throws(FieldpackError) in
          let isNew = isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
          }
          if isNew { return fixes.map { .fix($0) } }
          try? await Task.sleep(for: .seconds(3600))
          isCancelled.withLock { $0 = true }
          throw FieldpackError(.interrupted, "cancelled")
        }
      }
    }
  }

  @Test func `a run that is let go of in the middle ends its reading`() async throws {
    let source = EndlessSource(fixes: Array(Self.fixes.prefix(100)))
    try await package.withStore { store in
      let run = RecordedMonitor(try monitor(), in: store, as: "run")
      var iterator: RecordedSteps.Iterator? = run.watch(source).makeAsyncIterator()
      let step = try await iterator?.next()
      #expect(step?.fixes == 100)
      #expect(!source.isCancelled.withLock { $0 })
      iterator = nil
      while !source.isCancelled.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
    }
    #expect(try package.rows("SELECT fixes, state FROM monitor_run") == ["100|running"])
  }

  @Test func `files and replays without a pace are complete, pipes and paces are not`()
    async throws
  {
    let file = try package.folder.write("", to: "fixes.jsonl").path
    #expect(LineSource(path: file).isComplete)
    let pipe = package.folder.file("pipe").path
    mkfifo(pipe, 0o600)
    #expect(!LineSource(path: pipe).isComplete)
    #expect(!LineSource(path: file + ".none").isComplete)
    // Another reading of it would miss what was read ahead.
    let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: file))
    #expect(!LineSource(descriptor: handle.fileDescriptor).isComplete)
    try await package.withStore { store in
      for (speed, isComplete) in [(ReplaySource.Speed.max, true), (.times(1), false)] {
        let source = ReplaySource(store, layer: "track_point", options: .init(speed: speed))
        #expect(source.isComplete == isComplete)
      }
      #expect(VertexSource(store, layer: "track").isComplete)
    }
    #expect(!ScriptedSource(Self.fixes).isComplete)
  }
}
