import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackLocation
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackTracks

@Suite struct TrackRecorderTests {
  let package: FieldFile

  init() throws { package = try FieldFile() }

  /// Fixes along a parallel, about 6.8 m and one second apart.
  func path(_ count: Int, device: String = "") -> [Fix] {
    (0..<count).map {
      Fix(
        longitude: 13.4 + Double($0) * 0.0001, latitude: 52.5, time: .at(Double($0)),
        device: device)
    }
  }

  func record(
    _ source: any LocationSource, _ method: Sampling, as name: String = "walk",
    isReplay: Bool = false
  ) async throws -> [RecordedStep] {
    try await package.withStore { store in
      var steps: [RecordedStep] = []
      let recorder = TrackRecorder(store, clock: TestClock(at: .at(1_000_000)).clock)
      for try await step in try recorder.record(source, as: name, method, isReplay: isReplay) {
        steps.append(step)
      }
      return steps
    }
  }

  private static let points =
    "SELECT track_fid, seq, fix, hex(geom), time, id_md5 FROM track_point ORDER BY fid"

  // MARK: Methods

  @Test(
    .enabled(if: SharedData.isPresent, "\(SharedData.absent)"),
    arguments: ["Alexanderplatz", "Ostkreuz"])
  func `walks give the points of the golden replay`(name: String) async throws {
    let walk = try PhotoPathWalk(name)
    let expected = try ExpectedReplay.read(name)
    for (method, events) in [
      (Sampling.region(80), expected.region),
      (.distance(100), expected.distance),
    ] {
      let updates = walk.dense.map { LocationUpdate.fix($0) }
      let steps = try await record(
        ScriptedSource([updates]), method, as: "\(name) \(method)")
      #expect(steps.flatMap(\.points).map(\.fix) == events.dense)
    }
  }

  @Test(
    .enabled(if: SharedData.isPresent, "\(SharedData.absent)"),
    arguments: [("Alexanderplatz", 7658.771, 8), ("Ostkreuz", 6878.709, 14)])
  func `lengths are those on the ellipsoid`(
    name: String, length: Double, count: Int
  ) async throws {
    _ = try await record(ScriptedSource(PhotoPathWalk(name).waypoints), .all, as: name)
    try await package.withStore { store in
      let track = try #require(try await store.tracks().first)
      #expect((track.length * 1000).rounded() / 1000 == length)
      #expect(track.pointCount == count)
      #expect(track.name == name)
      #expect(track.monitor == .distance)
      #expect(track.threshold == 0)
    }
  }

  @Test(arguments: [
    ("region", Sampling.region(80)), ("region:35.5", .region(35.5)),
    ("distance", .distance(100)), ("distance:7", .distance(7)), ("all", .all), ("region:0", nil),
    ("region:nan", nil), ("region:-1", nil), ("all:1", nil), ("", nil), ("distance:", nil),
    ("region:1:2", nil),
  ])
  func `methods are read from text`(text: String, method: Sampling?) {
    #expect(Sampling(text) == method)
  }

  // MARK: Points

  @Test func `a point with the id of the one before is dropped`() async throws {
    let twice = Fix(longitude: 23.4, latitude: 1.1, time: .at(0))
    // Another place with the same id: PhotoPath's filter takes it for the same one.
    let collision = Fix(longitude: 3.4, latitude: 1.12, time: .at(1))
    let other = Fix(longitude: 23.5, latitude: 1.1, time: .at(2))
    let back = Fix(longitude: 23.4, latitude: 1.1, time: .at(3))
    _ = try await record(
      ScriptedSource([twice, twice, collision, other, back]), .all)
    #expect(
      try package.rows(
        "SELECT seq, fix, id_md5 = '32324f05124560b40765a88583c8d236' FROM track_point")
        == ["1|0|1", "2|3|0", "3|4|1"])
    #expect(
      try package.rows("SELECT level, message, fix FROM track_log") == [
        "info|started: all|NULL", "info|dropped: at the place of the point before|1",
        "info|ended with its source|NULL",
      ])
  }

  @Test func `what a fix knows is kept`() async throws {
    let fix = Fix(
      longitude: 13.4, latitude: 52.5, elevation: 34.5, time: .at(0.25), accuracy: 4.5,
      course: 270, speed: 1.5)
    let timeless = Fix(longitude: 13.5, latitude: 52.5)
    let steps = try await record(ScriptedSource([fix, timeless]), .all)
    let points = steps.flatMap(\.points)
    #expect(
      points.first
        == TrackPoint(
          id: 1, track: 1, sequence: 1, longitude: 13.4, latitude: 52.5, elevation: 34.5,
          time: .at(0.25), placeID: PlaceID.md5(latitude: 52.5, longitude: 13.4), accuracy: 4.5,
          course: 270, speed: 1.5, fix: 0, photoState: "pending"))
    #expect(points.last?.time == .at(1_000_000))
    try await package.withStore { store in
      let stored = try await store.points(ofTrack: 1)
      #expect(stored == points)
      let feed = try await store.feed()
      #expect(feed == Array(points.reversed()))
      let newest = try await store.feed(limit: 1)
      #expect(newest == Array(points.suffix(1)))
    }
    #expect(
      try package.rows("SELECT time_unix FROM track_point") == [
        "1600000000.25", "1601000000.0",
      ])
  }

  @Test func `late fixes are passed over and noted once a series`() async throws {
    var fixes = path(6)
    fixes[2].time = .at(-5)
    fixes[3].time = .at(-4)
    fixes[5].latitude = .nan
    _ = try await record(ScriptedSource(fixes), .all)
    #expect(try package.rows("SELECT fix FROM track_point") == ["0", "1", "4"])
    #expect(
      try package.rows("SELECT fix FROM track_log WHERE level = 'warning'") == ["2", "5"])
  }

  @Test func `what is passed over is noted of each device`() async throws {
    var late = path(4, device: "late")
    late[0].time = .at(100)
    var fixes = zip(late, path(4, device: "fine")).flatMap { [$0, $1] }
    fixes += path(1, device: "none").map { fix in
      var fix = fix
      fix.time = nil
      return fix
    }
    _ = try await record(ScriptedSource(fixes), .all)
    #expect(
      try package.rows("SELECT fix, device, message FROM track_log WHERE level = 'warning'") == [
        "2|late|passed over: late, not on Earth, or not accurate enough",
        "6|late|three late fixes in order: goes on from their time, which is before "
          + "\(Instant.at(100))",
      ])
    let end = path(4)[3].time.map { "\($0)" } ?? ""
    #expect(
      try package.rows("SELECT device, stopped_at FROM track ORDER BY device") == [
        "fine|\(end)", "late|\(end)", "none|2020-09-25T02:13:20.000Z",
      ])
  }

  @Test func `each device has a track of its own`() async throws {
    let fixes = zip(path(3, device: "a"), path(3, device: "b")).flatMap { [$0, $1] }
    _ = try await record(ScriptedSource(fixes), .all)
    #expect(
      try package.rows("SELECT fid, ordinal, name, device, length_m > 13 FROM track") == [
        "1|1|walk|a|1", "2|2|walk|b|1",
      ])
    #expect(
      try package.rows("SELECT track_fid, group_concat(fix) FROM track_point GROUP BY 1") == [
        "1|0,2,4", "2|1,3,5",
      ])
  }

  // MARK: Failures

  @Test(arguments: [
    (LocationAuthorization.notDetermined, LocationFailure.insufficientAuthorisation as Optional),
    (.denied, .permissionDenied), (.restricted, .permissionDenied),
    (.whileInUse, .insufficientAuthorisation), (.always, nil),
  ])
  func `a region is recorded only where positions may be used always`(
    authorization: LocationAuthorization, expected: LocationFailure?
  ) async throws {
    let source = ScriptedSource([path(1).map { .fix($0) }], authorization: authorization)
    var found: LocationFailure?
    do { _ = try await record(source, .region(80)) } catch let error as FieldpackError {
      found = error.locationFailure
    }
    #expect(found == expected)
  }

  @Test func `a distance is recorded while in use`() async throws {
    let source = ScriptedSource([path(1).map { .fix($0) }], authorization: .whileInUse)
    #expect(try await record(source, .distance(100)).map(\.fixes) == [1])
  }

  @Test func `a source that is not there is unavailable`() async throws {
    let error = await failure {
      _ = try await record(ScriptedSource([], isAvailable: false), .all)
    }
    #expect(error?.locationFailure == .unavailable)
    #expect(error?.code == .unavailable)
  }

  @Test func `an error of the source ends the recording and stays in its log`() async throws {
    let source = ScriptedSource(
      path(2).map { [.fix($0)] }, failure: FieldpackError(.io, "the receiver is gone"))
    let error = await failure { _ = try await record(source, .all) }
    #expect(error?.message == "the receiver is gone")
    #expect(try package.rows("SELECT count(*) FROM track_point") == ["2"])
    #expect(try package.rows("SELECT state FROM monitor_run") == ["failed"])
    #expect(
      try package.rows("SELECT level, message FROM track_log") == [
        "info|started: all", "error|failed: the receiver is gone",
      ])
    let last = path(2)[1].time?.description
    #expect(try package.rows("SELECT stopped_at FROM track") == [last])
  }

  @Test func `another method under the same name is refused`() async throws {
    _ = try await record(ScriptedSource(path(2)), .all)
    let error = await failure { _ = try await record(ScriptedSource(path(2)), .region(80)) }
    #expect(error?.code == .invalidArgument)
    #expect(
      error?.message == "the run 'walk' was recorded with 'all' and cannot go on with 'region "
        + "radius=80.0 cushion=0.0 dwell=0.0'. Try: the same parameters, or another name")
  }

  // MARK: Starting again

  @Test func `starting again aborts the recording that waits`() async throws {
    try await package.withStore { store in
      let recorder = TrackRecorder(store)
      let first = Task {
        await failure { try await recorder.record(SilentSource(), as: "one", .all).run() }
      }
      while try await !store.layers().contains(where: { $0.id == "monitor_run" }) {
        try await Task.sleep(for: .milliseconds(1))
      }
      #expect(try await recorder.record(ScriptedSource(path(2)), as: "two", .all).run() == 2)
      let error = await first.value
      #expect(error?.locationFailure == .aborted)
    }
    #expect(
      try package.rows("SELECT name, state FROM monitor_run ORDER BY id") == [
        "one|aborted", "two|ended",
      ])
  }

  @Test func `a recorder elsewhere that goes on with the run aborts this one`() async throws {
    try await package.withStore { store in
      let steps = try TrackRecorder(store).record(
        ScriptedSource(path(3)), as: "walk", .all)
      let iterator = steps.makeAsyncIterator()
      #expect(try await iterator.next()?.points.count == 1)
      let other = try TrackRecorder(store).record(
        ScriptedSource(path(5).suffix(2)), as: "walk", .all)
      #expect(try await other.run() == 3)
      let error = await failure { _ = try await iterator.next() }
      #expect(error?.locationFailure == .aborted)
      #expect(try await iterator.next() == nil)
    }
    #expect(try package.rows("SELECT seq, fix FROM track_point") == ["1|0", "2|1", "3|2"])
    #expect(try package.rows("SELECT state FROM monitor_run") == ["ended"])
  }

  @Test func `cancelling ends a recording and keeps what was given`() async throws {
    try await package.withStore { store in
      let recording = Task {
        await failure {
          try await TrackRecorder(store).record(
            SilentSource(first: path(2)), as: "walk", .all
          ).run()
        }
      }
      while try await store.feed().count < 2 { try await Task.sleep(for: .milliseconds(1)) }
      recording.cancel()
      #expect(await recording.value?.code == .interrupted)
    }
    #expect(try package.rows("SELECT state, fixes FROM monitor_run") == ["interrupted|2"])
    #expect(try package.rows("SELECT stopped_at NOT NULL FROM track") == ["1"])
  }

  @Test(arguments: [Sampling.region(20), .distance(30), .all])
  func `a replay that ends anywhere goes on as if it had not`(method: Sampling) async throws {
    let fixes = path(30)
    let whole = try FieldFile()
    try await whole.withStore { store in
      try await TrackRecorder(store).record(ScriptedSource(fixes), as: "walk", method).run()
    }
    for end in stride(from: 0, through: 30, by: 7) {
      _ = try await record(ScriptedSource(Array(fixes.prefix(end))), method, isReplay: true)
    }
    _ = try await record(ScriptedSource([fixes.map { .fix($0) }]), method, isReplay: true)
    for sql in [
      Self.points, "SELECT fid, ordinal, length_m, hex(geom) FROM track",
      "SELECT fixes FROM monitor_run", "SELECT * FROM monitor_state",
    ] {
      let expected = try whole.rows(sql)
      #expect(try package.rows(sql) == expected)
    }
    #expect(try package.findings() == [])
  }

  @Test func `a track that somebody took away is begun anew`() async throws {
    _ = try await record(ScriptedSource(Array(path(12).prefix(6))), .all, isReplay: true)
    try package.run("PRAGMA foreign_keys=ON; DELETE FROM track")
    #expect(try package.rows("SELECT track_fid FROM monitor_state") == ["NULL"])
    _ = try await record(ScriptedSource(path(12)), .all, isReplay: true)
    #expect(try package.rows("SELECT fid FROM track") == ["2"])
    #expect(try package.rows("SELECT track_fid, last_fix FROM monitor_state") == ["2|11"])
    #expect(
      try package.rows("SELECT track_fid, count(*), min(fix) FROM track_point GROUP BY 1")
        == ["2|6|6"])
    #expect(try package.findings() == [])
  }

  @Test func `a track that is deleted while it is recorded ends the recording`() async throws {
    try await package.withStore { store in
      let steps = try TrackRecorder(store).record(ScriptedSource(path(3)), as: "walk", .all)
      let iterator = steps.makeAsyncIterator()
      #expect(try await iterator.next()?.points.count == 1)
      try package.run("PRAGMA foreign_keys=ON; DELETE FROM track")
      let error = await failure { _ = try await iterator.next() }
      #expect(error?.code == .notFound)
      #expect(
        error?.message
          == "track 1 was deleted while it was recorded. Try: start the recording again, which "
          + "begins a new track")
    }
    #expect(try package.rows("SELECT state FROM monitor_run") == ["failed"])
    _ = try await record(ScriptedSource(path(2)), .all)
    #expect(try package.rows("SELECT track_fid, seq FROM track_point") == ["2|1", "2|2"])
  }

  @Test func `a point with the last number there is ends the recording`() async throws {
    _ = try await record(ScriptedSource(path(3)), .all)
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.update(.integer(3), in: "track_point", set: ["seq": .integer(.max)])
      }
    }
    var found: FieldpackError?
    do {
      _ = try await record(ScriptedSource(path(5)), .all, isReplay: true)
    } catch { found = error as? FieldpackError }
    #expect(found?.code == .invalidData)
    #expect(
      found?.message
        == "a point of track 1 has the number 9223372036854775807, after which there is none. Try: "
        + "give it the number after the point before")
  }
}
