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

@Suite(.programs) struct FieldDataTests {
  private let fix = Fix(longitude: 13.4, latitude: 52.5, time: .at(0))

  private func record(
    _ package: FieldFile, _ fixes: [Fix], as name: String = "walk"
  ) async throws {
    try await package.withStore { store in
      let recorder = TrackRecorder(store, clock: TestClock(at: .at(1_000_000)).clock)
      try await recorder.record(ScriptedSource(fixes), as: name, .all).run()
    }
  }

  @Test func `a recording makes layers that pass every check`() async throws {
    let package = try FieldFile()
    let fixes = [
      fix, Fix(longitude: 13.401, latitude: 52.5, time: .at(1)),
      Fix(longitude: 13.402, latitude: 52.51, elevation: 30, time: .at(2), accuracy: 5),
    ]
    try await record(package, fixes)
    #expect(try package.findings() == [])
    #expect(try await package.verdicts() == [])
    #expect(
      try package.rows("SELECT table_name, data_type FROM gpkg_contents") == [
        "track|features", "track_point|features", "monitor_run|attributes",
        "monitor_state|attributes", "monitor_stay|attributes", "detection|features",
        "track_log|attributes",
      ])
    #expect(
      try package.rows("SELECT layer, version FROM fieldpack_schema ORDER BY layer") == [
        "detection|4", "monitor_run|4", "monitor_state|4", "monitor_stay|4", "track|4",
        "track_log|4", "track_point|4",
      ])
    #expect(
      try package.rows(
        "SELECT table_name, scope FROM gpkg_extensions WHERE extension_name = 'fieldpack_schema'")
        == ["fieldpack_schema|write-only"])
    #expect(
      try package.rows("SELECT min_x, min_y, max_x, max_y FROM gpkg_contents WHERE min_x NOT NULL")
        == ["13.4|52.5|13.402|52.51", "13.4|52.5|13.402|52.51"])
  }

  @Test(.enabled(if: Programs.gdalPython != nil, "\(Programs.noGDALPython)"))
  func `GDAL reads tracks and points`() async throws {
    let package = try FieldFile()
    try await record(package, [fix, Fix(longitude: 13.401, latitude: 52.5, time: .at(1))])
    let script = """
      import sys
      from osgeo import ogr
      ds = ogr.Open(sys.argv[1])
      print([(l.GetName(), l.GetFeatureCount()) for l in ds])
      for name in ('track', 'track_point'):
        for f in ds.GetLayerByName(name):
          print(f.GetGeometryRef().ExportToWkt())
      """
    let output = try Programs.output(
      try #require(Programs.gdalPython), ["-c", script, package.path])
    #expect(
      output == """
        [('track', 1), ('track_point', 2), ('detection', 0), ('monitor_run', 1), \
        ('monitor_state', 1), ('monitor_stay', 0), ('track_log', 2)]
        LINESTRING (13.4 52.5,13.401 52.5)
        POINT (13.4 52.5)
        POINT (13.401 52.5)

        """)
  }

  // MARK: Versions

  @Test func `a file of version 1 is read as it is`() async throws {
    let package = try FieldFile(copying: "tracks-1.gpkg")
    let before = try Data(contentsOf: URL(fileURLWithPath: package.path))
    try await package.withStore { store in
      let track = RecordedTrack(
        id: 1, ordinal: 1, name: nil, device: nil, monitor: .boundary, threshold: 80,
        startedAt: Instant("2019-11-25T09:00:00Z"), stoppedAt: Instant("2019-11-25T09:10:00Z"),
        length: 200.25, pointCount: 2)
      let tracks = try await store.tracks()
      #expect(tracks == [track])
      let points = try await store.points(ofTrack: 1)
      #expect(points.map(\.placeID) == ["a5377f5e33ea7e47d39225515f314b0d", "second"])
      #expect(points.map(\.elevation) == [31.5, nil])
      #expect(points.map(\.fix) == [nil, nil])
      let feed = try await store.feed().map(\.sequence)
      #expect(feed == [2, 1])
      let log = try await store.trackLog()
      #expect(log == [])
      let detections = try await store.detections(ofRun: "x")
      #expect(detections == [])
    }
    let after = try Data(contentsOf: URL(fileURLWithPath: package.path))
    #expect(after == before)
  }

  @Test func `a file of version 1 is upgraded when it is written`() async throws {
    let package = try FieldFile(copying: "tracks-1.gpkg")
    try await record(package, [fix])
    #expect(
      try package.rows("SELECT DISTINCT version FROM fieldpack_schema") == ["4"])
    #expect(
      try package.rows("SELECT fid, ordinal, monitor, name, length_m FROM track") == [
        "1|1|boundary|NULL|200.25", "2|2|distance|walk|0.0",
      ])
    #expect(
      try package.rows("SELECT track_fid, seq, fix, photo_state FROM track_point") == [
        "1|1|NULL|found", "1|2|NULL|pending", "2|1|0|pending",
      ])
    #expect(try package.findings() == [])
    #expect(try await package.verdicts() == [])
  }

  @Test(arguments: [2, 3, 4]) func `a file of another version goes on`(version: Int) async throws {
    let package = try FieldFile(copying: "tracks-\(version).gpkg")
    try await record(package, [Fix(longitude: 13.41, latitude: 52.5, time: .at(9))])
    #expect(
      try package.rows("SELECT seq, fix, time FROM track_point") == [
        "1|0|2020-09-13T12:26:40.000Z", "2|1|2020-09-13T12:26:41.000Z",
        "3|2|2020-09-13T12:26:49.000Z",
      ])
    #expect(try package.rows("SELECT DISTINCT version FROM fieldpack_schema") == ["4"])
    #expect(
      try package.rows("SELECT name, fixes, fixes_digest IS NULL FROM monitor_run") == [
        "walk|3|\(version < 4 ? 1 : 0)", "watch|2|\(version < 4 ? 1 : 0)",
      ])
    #expect(try package.findings() == [])
  }

  @Test func `an upgrade that fails leaves the file as it was`() async throws {
    let package = try FieldFile(copying: "tracks-1.gpkg")
    try package.run("CREATE TABLE track_log (id INTEGER PRIMARY KEY, what TEXT)")
    let schema = try package.rows("SELECT sql FROM sqlite_master ORDER BY name")
    let error = await failure { try await record(package, [fix]) }
    #expect(error?.code == .cannotCreate)
    #expect(try package.rows("SELECT sql FROM sqlite_master ORDER BY name") == schema)
  }

  @Test func `layers of a newer version are read and not written`() async throws {
    let package = try FieldFile(copying: "tracks-2.gpkg")
    try package.run("UPDATE fieldpack_schema SET version = 5 WHERE layer = 'track'")
    let error = await failure { try await record(package, [fix]) }
    #expect(error?.code == .unsupported)
    #expect(
      error?.message == "layer 'track' has version 5 of the layers of field data, and this program "
        + "writes versions up to 4; it can be read. Try: a newer Fieldpack")
    try await package.withStore { store in
      let counts = try await store.tracks().map(\.pointCount)
      #expect(counts == [2])
    }
  }

  @Test func `a table of that name that is something else is refused`() async throws {
    let package = try FieldFile()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(layer: "track", columns: [ColumnDefinition("ordinal", .integer)]))
      }
    }
    let error = await failure { try await record(package, [fix]) }
    #expect(error?.code == .cannotCreate)
    #expect(
      error?.message == "the file has a table 'track' that is no layer of field data (it lacks "
        + "length_m, monitor, started_at, stopped_at, threshold_m). Try: another file")
  }

  @Test func `deleting a track deletes its points`() async throws {
    let package = try FieldFile(copying: "tracks-2.gpkg")
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.delete(.integer(1), in: "track")
      }
      let feed = try await store.feed()
      #expect(feed == [])
    }
    #expect(try package.rows("SELECT track_fid FROM monitor_state") == ["NULL", "NULL"])
    #expect(try package.rows("SELECT count(*) FROM rtree_track_point_geom") == ["0"])
    try await record(package, [Fix(longitude: 13.41, latitude: 52.5, time: .at(9))])
    #expect(try package.rows("SELECT fid, ordinal, name FROM track") == ["2|1|walk"])
    #expect(try package.findings() == [])
  }
}

/// Writes the files of `TestData/gpkg` that this version makes: with `FIELDPACK_FIXTURES` set.
@Suite(.programs, .enabled(if: ProcessInfo.processInfo.environment["FIELDPACK_FIXTURES"] != nil))
struct FieldDataFixtures {
  @Test func `tracks of this version`() async throws {
    let path = Checkout.file("TestData/gpkg/tracks-\(FieldData.version).gpkg").path
    _ = try GeoPackageBulkWriter(creating: path, overwrite: true, store: "field").commit()
    let store = try await GeoPackageStore(path: path, id: "field")
    let fixes = [
      Fix(longitude: 13.4, latitude: 52.5, elevation: 34, time: .at(0), accuracy: 5),
      Fix(longitude: 13.401, latitude: 52.5, time: .at(1), course: 90, speed: 67.8),
    ]
    let recorder = TrackRecorder(store, clock: TestClock(at: .at(10)).clock)
    try await recorder.record(ScriptedSource(fixes), as: "walk", .all).run()
    let monitor = RecordedMonitor(
      try AnchorMonitor(radius: 50), in: store, as: "watch", clock: TestClock(at: .at(10)).clock)
    try await monitor.watch(ScriptedSource(fixes)).run()
    await store.close()
  }
}
