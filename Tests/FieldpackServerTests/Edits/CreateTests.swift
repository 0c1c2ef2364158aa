import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// `POST …/items`.
  @Suite struct CreateTests {
    private static let lonLat = "http://www.opengis.net/def/crs/OGC/1.3/CRS84"

    @Test func `a new feature is stored with all that belongs to it`() async throws {
      let server = try await TestServer.withRules()
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.execute("UPDATE gpkg_contents SET last_change = '2020-01-01T00:00:00.000Z'")
      }
      let values =
        #""depth":12.5,"state":"new","visits":3,"dry":true,"drilled":"2024-01-31","#
        + #""seen":"2024-01-31T08:00:00.000Z","tags":{"a":[1,2.0]},"photo":"AAEC""#
      let answer = try await server.edit(
        "POST", "sites/items", TestServer.site("Mitte", "," + values + #","label":"ignored""#))
      #expect(answer.status == 201, "\(answer.text)")
      #expect(answer.text == #"["\#(server.address)/collections/sites/items/1"]"#)
      #expect(answer.fields["Location"] == server.address + "/collections/sites/items/1")
      let item = try await server.get("/collections/sites/items/1")
      #expect(answer.fields["ETag"] == item.fields["ETag"])
      #expect(
        try await server.feature("sites/items/1")
          == #"{"type":"Feature","id":1,"properties":{"name":"Mitte",\#(values),"label":"MITTE"},"#
          + #""geometry":{"type":"Point","coordinates":[7.5,51.25]}}"#)
      // The spatial index, the extent, the date of the last change and the log have it.
      #expect(try await server.ids("/collections/sites/items?bbox=7,51,8,52") == [1])
      let contents = try await server.texts(
        "SELECT min_x, max_y, last_change > '2024' FROM gpkg_contents WHERE table_name = 'sites'")
      #expect(contents == ["7.5|51.25|1"])
      let log = try await server.texts(
        "SELECT audit_op, author FROM sites_audit WHERE audit_op > 0")
      #expect(log == ["1|Ada"])
      await server.close()
    }

    @Test func `the features of a collection come together, or none does`() async throws {
      let server = try await TestServer.withRules()
      func collection(_ names: String...) -> String {
        #"{"type":"FeatureCollection","features":["#
          + names.map { TestServer.site($0) }.joined(separator: ",") + "]}"
      }
      let good = try await server.edit("POST", "sites/items", collection("a", "b", "c"))
      #expect(good.status == 201)
      #expect(good.fields["Content-Type"] == "application/json")
      let items = server.address + "/collections/sites/items"
      #expect(try good.json == ["\(items)/1", "\(items)/2", "\(items)/3"].json)
      let bad = try await server.edit("POST", "sites/items", collection("d", "e", "b"))
      #expect(bad.status == 409)
      #expect(
        try bad.json["detail"]?.string
          == "feature 3: another feature has that value of property 'name'", "\(bad.text)")
      #expect(try await server.texts("SELECT name FROM sites ORDER BY 1") == ["a", "b", "c"])
      #expect(try await server.texts("SELECT count(*) FROM rtree_sites_geom") == ["3"])
      #expect(
        try await server.texts("SELECT count(*) FROM sites_audit WHERE audit_op > 0") == ["3"])
      let none = try await server.edit("POST", "sites/items", collection())
      #expect(none.status == 201 && none.text == "[]")
      await server.close()
    }

    private static let places: [(layer: String, crs: String?, geometry: String, stored: String)] = [
      ("sites", nil, #""Point","coordinates":[7.5,51.25]"#, "POINT (7.5 51.25)"),
      ("sites", "OGC/1.3/CRS84", #""Point","coordinates":[7.5,51.25]"#, "POINT (7.5 51.25)"),
      ("sites", "EPSG/0/4326", #""Point","coordinates":[51.25,7.5]"#, "POINT (7.5 51.25)"),
      ("sites", "EPSG/0/4326", #""Point","coordinates":[51.25,7.5,9]"#, "POINT Z (7.5 51.25 9)"),
      ("sites", "EPSG/0/25832", #""Point","coordinates":[500000,0]"#, "POINT (9 0)"),
      (
        "plots", "EPSG/0/25832",
        #""Polygon","coordinates":[[[500000,1],[500001,1],[500000,2],[500000,1]]]"#,
        "MULTIPOLYGON (((500000 1,500001 1,500000 2,500000 1)))"
      ),
      (
        "plots", nil, #""Polygon","coordinates":[[[9,0],[9.1,0],[9,0.1],[9,0]]]"#,
        "MULTIPOLYGON (((500000 0,511128 0,500000 11053,500000 0)))"
      ),
    ]

    @Test(arguments: places)
    func `positions are taken to the system of the layer`(
      layer: String, crs: String?, geometry: String, stored: String
    ) async throws {
      let server = try await TestServer.withRules()
      var fields: HTTPFields = [:]
      if let crs { fields["Content-Crs"] = "<http://www.opengis.net/def/crs/\(crs)>" }
      let properties = layer == "sites" ? #"{"name":"a"}"# : "null"
      let answer = try await server.edit(
        "POST", "\(layer)/items",
        #"{"type":"Feature","geometry":{"type":\#(geometry)},"properties":\#(properties)}"#,
        fields: fields)
      #expect(answer.status == 201, "\(answer.text)")
      let feature = try await server.store.feature(1, in: LayerID(layer))
      let moved = try #require(feature?.geometry)
      let digits = layer == "sites" ? 9 : 0
      #expect(WKT.text(of: moved, decimals: digits) == stored)
      await server.close()
    }

    @Test(arguments: [
      "7.5", "<", "<>", "http://x", "<nothing>", "<http://www.opengis.net/def/crs/EPSG/0/1>",
    ])
    func `an unknown reference system is refused`(crs: String) async throws {
      let server = try await TestServer.withRules()
      let answer = try await server.edit(
        "POST", "sites/items", TestServer.site("a"), fields: ["Content-Crs": crs])
      #expect(answer.status == 400, "\(answer.text)")
      #expect(try await server.texts("SELECT count(*) FROM sites") == ["0"])
      await server.close()
    }

    @Test func `a feature without geometry, and a layer without any`() async throws {
      let server = try await TestServer.withRules()
      let bare = try await server.edit(
        "POST", "sites/items", #"{"type":"Feature","geometry":null,"properties":{"name":"a"}}"#)
      #expect(bare.status == 201)
      #expect(try await server.feature("sites/items/1").hasSuffix(#""geometry":null}"#))
      let note = try await server.edit(
        "POST", "notes/items", #"{"type":"Feature","geometry":null,"properties":{"text":"é"}}"#)
      #expect(note.status == 201)
      #expect(
        try await server.feature("notes/items/1")
          == #"{"type":"Feature","id":1,"properties":{"text":"é"},"geometry":null}"#)
      await server.close()
    }

    @Test func `a lock of another program is waited for, and then told`() async throws {
      let server = try await TestServer.withRules(busyTimeout: .milliseconds(20))
      let other = try Connection(path: server.store.path, mode: .readWrite)
      try other.executeScript("BEGIN IMMEDIATE")
      let busy = try await server.edit("POST", "sites/items", TestServer.site("a"))
      #expect(busy.status == 503)
      #expect(busy.fields["Retry-After"] == "1")
      try other.executeScript("ROLLBACK")
      #expect(try await server.edit("POST", "sites/items", TestServer.site("a")).status == 201)
      await server.close()
    }
  }

  extension [String] {
    fileprivate var json: JSONValue { JSONValue(self) }
  }
#endif
