import FieldpackCheck
import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackServices
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Features as a GeoPackage.
  @Suite(.programs) struct ExtractTests {
    private static let items = "/collections/wells/items"

    /// A server whose wells have photos 1 to 3, of the wells 4, 5 and none, and a style.
    private func server(isLogged: Bool = false) async throws -> TestServer {
      let server = try await TestServer(isWritable: true)
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.createMediaLayer("photos")
        let relation = try writer.createRelation(from: "wells", to: "photos", as: .media)
        for (well, text) in [(4, "four"), (5, "five")] {
          _ = try writer.addMedia(
            Array(text.utf8), as: "text/plain", to: "photos", relatedTo: .integer(Int64(well)),
            by: relation)
        }
        if !isLogged {
          _ = try writer.addMedia(Array("none".utf8), as: "text/plain", to: "photos")
        }
        try writer.createLayer(
          Schema(
            layer: "layer_styles", idColumn: "id",
            columns: [
              ColumnDefinition("f_table_name", .text()), ColumnDefinition("styleQML", .text()),
            ]))
        try writer.create(
          Feature(attributes: ["f_table_name": "wells", "styleQML": "<qgis/>"]), in: "layer_styles")
        if isLogged { _ = try writer.logEdits(of: "wells") }
      }
      return server
    }

    private func extract(_ query: String, of server: TestServer) async throws -> URL {
      let answer = try await server.get("\(Self.items)?f=gpkg\(query)")
      #expect(answer.status == 200, "\(answer.text)")
      #expect(answer.fields["Content-Type"] == "application/geopackage+sqlite3")
      #expect(answer.fields["Content-Length"] == "\(answer.body.count)")
      #expect(
        answer.fields["Content-Disposition"]
          == "attachment; filename=\"wells.gpkg\"; filename*=UTF-8''wells.gpkg")
      let file = server.folder.file("extract.gpkg")
      try Data(answer.body).write(to: file)
      return file
    }

    /// Clean for our own check and for GDAL's validator.
    private func expectValid(_ file: URL) async throws {
      let report = try GeoPackageChecker(path: file.path, store: "x").run()
      #expect(report.groups.map { "\($0)" } == [])
      for validator in Programs.validators where validator.knowsVersion14 {
        let result = try await Program.run(
          validator.python,
          ["-m", "osgeo_utils.samples.validate_gpkg", "-k", "--extra", file.path])
        #expect(result.status == 0, "\(validator.python): \(result)")
      }
    }

    private func rows(_ sql: String, in file: URL) async throws -> [String] {
      let store = try await GeoPackageStore(path: file.path, id: "extract")
      let rows = try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
        try snapshot.rows(sql).map { row in
          row.map { $0.textValue ?? $0.integerValue.map { "\($0)" } ?? "-" }.joined(separator: " ")
        }
      }
      await store.close()
      return rows
    }

    @Test func `a layer comes whole, with index, media, links and styles`() async throws {
      let server = try await server()
      let file = try await extract("", of: server)
      try await expectValid(file)
      #expect(
        try await rows("SELECT count(*), min(fid), max(fid), max(name) FROM wells", in: file)
          == ["20 1 20 well 9"])
      #expect(try await rows("SELECT count(*) FROM rtree_wells_geom", in: file) == ["19"])
      // Photo 3 is of no well.
      #expect(
        try await rows("SELECT id, CAST(data AS TEXT) FROM photos ORDER BY id", in: file)
          == ["1 four", "2 five"])
      #expect(
        try await rows("SELECT base_id, related_id FROM wells_photos ORDER BY 1", in: file)
          == ["4 1", "5 2"])
      #expect(
        try await rows("SELECT f_table_name, styleQML FROM layer_styles", in: file)
          == ["wells <qgis/>"])
      await server.close()
    }

    private static let choices: [(query: String, ids: [Int])] = [
      ("&bbox=1.5,0,3.5,9", [3, 4, 20]), ("&filter=depth%3E3&limit=2", [5, 7]),
      ("&datetime=1970-01-03/1970-01-04", [3, 4]), ("&offset=18", [19, 20]), ("&fid=5", [5]),
      ("&properties=name&fid=5", [5]), ("&sortby=-fid&limit=2", [19, 20]), ("&fid=99", []),
      ("&crs=http://www.opengis.net/def/crs/EPSG/0/25832&bbox=8.5,0,9.5,9", [10, 20]),
    ]

    @Test(arguments: choices)
    func `parameters choose what is in it`(query: String, ids: [Int]) async throws {
      let server = try await server(isLogged: true)
      let file = try await extract(query, of: server)
      try await expectValid(file)
      #expect(
        try await rows("SELECT fid FROM wells ORDER BY fid", in: file) == ids.map { "\($0)" })
      // A part cannot be synchronised, so that it has no log.
      #expect(
        try await rows("SELECT name FROM sqlite_master WHERE name LIKE '%audit%'", in: file) == [])
      let photos = ids.filter { [4, 5].contains($0) }.map { "\($0 - 3)" }
      #expect(try await rows("SELECT id FROM photos", in: file) == photos)
      if query.contains("properties") {
        let columns = "SELECT name FROM pragma_table_info('wells')"
        #expect(try await rows(columns, in: file) == ["fid", "geom", "name"])
      }
      if query.contains("25832") {
        #expect(
          try await rows(
            "SELECT organization_coordsys_id FROM gpkg_geometry_columns JOIN gpkg_spatial_ref_sys "
              + "USING (srs_id)", in: file) == ["25832"])
      }
      await server.close()
    }

    @Test(.enabled(if: Programs.ogr2ogr != nil, Comment(rawValue: Programs.noOGR)))
    func `GDAL reads it`() async throws {
      let server = try await server()
      let file = try await extract("&bbox=1.5,0,3.5,9", of: server)
      let result = try await Program.run(
        Programs.ogr2ogr ?? "",
        [
          "-f", "CSV", "/vsistdout/", file.path, "wells", "-lco", "GEOMETRY=AS_XY", "-select",
          "name",
        ])
      // One version of GDAL writes 3.0 where the other writes 3.
      let lines = result.output.split(separator: "\n").map { $0.replacing("3.0,", with: "3,") }
      #expect(lines.dropFirst() == ["2,1,well 2", "3,1.5,well 3", ",,well 19"])
      await server.close()
    }

    @Test func `a layer with its log goes to the field and back`() async throws {
      let server = try await server(isLogged: true)
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(7, in: "wells", set: ["name": "before"])
        try writer.delete(8, in: "wells")
      }
      let file = try await extract("", of: server)
      try await expectValid(file)
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(3, in: "wells", set: ["name": "from the office"])
        try writer.delete(9, in: "wells")
        try writer.create(
          Feature(geometry: .point(x: 1, y: 1), attributes: ["name": "new here"]), in: "wells")
      }
      let device = try await GeoPackageStore(path: file.path, id: "device")
      try await device.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(7, in: "wells", set: ["name": "from the field"])
        try writer.update(4, in: "wells", set: ["depth": 99.5])
        try writer.create(
          Feature(geometry: .point(x: 2, y: 2), attributes: ["name": "new there"]), in: "wells")
      }
      let report = try await SyncRun(
        of: device, with: try HTTPSyncPeer(server.address + "/sync")
      ).run()
      let wells = report.layers.first { $0.name == "wells" }
      #expect(wells?.sent == 3)
      #expect(report.conflicts.isEmpty)
      let sql = "SELECT name, depth FROM wells ORDER BY name"
      let there = try await device.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
        try snapshot.rows(sql)
      }
      let here = try await server.store.read {
        (snapshot: GeoPackageSnapshot) throws(FieldpackError) in try snapshot.rows(sql)
      }
      #expect(there == here)
      #expect(here.count == 20)
      let names = here.compactMap { $0[0].textValue }
      #expect(
        names.filter { !$0.hasPrefix("well") }
          == ["from the field", "from the office", "new here", "new there"])
      await device.close()
      await server.close()
    }

    @Test func `a head tells the type and makes nothing`() async throws {
      let server = try await server()
      let head = try await server.get("\(Self.items)?f=gpkg", "HEAD")
      #expect(head.status == 200)
      #expect(head.fields["Content-Type"] == "application/geopackage+sqlite3")
      #expect(head.body.isEmpty)
      await server.close()
    }

    @Test func `names of layers make no other fields`() {
      #expect(
        ServerRouter.disposition(of: "a\"b\r\nSet-Cookie: x=/ü")
          == "attachment; filename=\"a_b__Set-Cookie__x___.gpkg\"; "
          + "filename*=UTF-8''a%22b%0D%0ASet-Cookie%3A%20x%3D%2F%C3%BC.gpkg")
    }
  }
#endif
