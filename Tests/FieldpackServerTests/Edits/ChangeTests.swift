import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// `PUT`, `PATCH` and `DELETE` of a feature.
  @Suite struct ChangeTests {
    private static let point = #""geometry":{"type":"Point","coordinates":[7.5,51.25]}}"#

    @Test func `PUT replaces the whole feature`() async throws {
      let server = try await TestServer.withRules()
      let path = try await server.addSite("a", #","depth":5,"state":"new","tags":{"x":1}"#)
      let answer = try await server.edit(
        "PUT", path,
        #"{"type":"Feature","id":"1","geometry":null,"properties":"#
          + #"{"fid":1,"name":"b","visits":2,"label":"x"}}"#)
      #expect(answer.status == 204 && answer.body == [])
      let item = try await server.get("/collections/\(path)")
      #expect(answer.fields["ETag"] == item.fields["ETag"])
      #expect(
        try await server.feature(path)
          == #"{"type":"Feature","id":1,"properties":{"name":"b","depth":null,"state":null,"#
          + #""visits":2,"dry":null,"drilled":null,"seen":null,"tags":null,"photo":null,"#
          + #""label":"B"},"geometry":null}"#)
      #expect(try await server.texts("SELECT count(*) FROM rtree_sites_geom") == ["0"])
      let log = try await server.texts(
        "SELECT audit_op, author FROM sites_audit WHERE audit_op > 0 ORDER BY audit_id")
      #expect(log == ["1|Ada", "2|Ada"])
      await server.close()
    }

    @Test func `a column that cannot be NULL gets its default`() async throws {
      let server = try await TestServer.withRules()
      let body = #"{"type":"Feature","geometry":null,"properties":{"use":"field"}}"#
      #expect(try await server.edit("POST", "plots/items", body).status == 201)
      let bare = #"{"type":"Feature","geometry":null,"properties":null}"#
      #expect(try await server.edit("PUT", "plots/items/1", bare).status == 204)
      #expect(try await server.texts("SELECT use FROM plots") == ["none"])
      await server.close()
    }

    private static let patches: [(patch: String, properties: String)] = [
      (#"{}"#, #""depth":5.0,"state":"new","visits":null,"tags":{"x":1,"y":{"z":2}}"#),
      (
        #"{"type":"Feature","id":1,"properties":{"depth":null,"visits":4,"label":"x"}}"#,
        #""depth":null,"state":"new","visits":4,"tags":{"x":1,"y":{"z":2}}"#
      ),
      (
        #"{"properties":{"tags":{"x":null,"y":{"w":[null]},"v":1.0}}}"#,
        #""depth":5.0,"state":"new","visits":null,"tags":{"y":{"z":2,"w":[null]},"v":1.0}"#
      ),
      (
        #"{"properties":{"tags":"text"}}"#,
        #""depth":5.0,"state":"new","visits":null,"tags":"text""#
      ),
      (
        #"{"properties":{"tags":null,"DEPTH":7}}"#,
        #""depth":7.0,"state":"new","visits":null,"tags":null"#
      ),
    ]

    @Test(arguments: patches)
    func `PATCH changes what it names, and null takes away`(
      patch: String, properties: String
    ) async throws {
      let server = try await TestServer.withRules()
      let path = try await server.addSite(
        "a", #","depth":5,"state":"new","tags":{"x":1,"y":{"z":2}}"#)
      let answer = try await server.edit("PATCH", path, patch)
      #expect(answer.status == 204, "\(answer.text)")
      let feature = try await server.feature(path)
      let shown = feature.replacing(#""dry":null,"drilled":null,"seen":null,"#, with: "")
      #expect(
        shown
          == #"{"type":"Feature","id":1,"properties":{"name":"a",\#(properties),"#
          + #""photo":null,"label":"A"},\#(Self.point)"#)
      let item = try await server.get("/collections/\(path)")
      #expect(answer.fields["ETag"] == item.fields["ETag"])
      await server.close()
    }

    @Test func `a patch moves and removes the geometry`() async throws {
      let server = try await TestServer.withRules()
      let path = try await server.addSite("a")
      let north = "<http://www.opengis.net/def/crs/EPSG/0/4326>"
      let moved = try await server.edit(
        "PATCH", path, #"{"geometry":{"type":"Point","coordinates":[50,8]}}"#,
        fields: ["Content-Crs": north])
      #expect(moved.status == 204)
      #expect(try await server.ids("/collections/sites/items?bbox=7.9,49,8.1,51") == [1])
      #expect(try await server.ids("/collections/sites/items?bbox=7,51,7.6,52") == [])
      let extent = try await server.texts(
        "SELECT min_x, max_y FROM gpkg_contents WHERE table_name = 'sites'")
      #expect(extent == ["8.0|50.0"])
      #expect(try await server.edit("PATCH", path, #"{"geometry":null}"#).status == 204)
      #expect(try await server.feature(path).hasSuffix(#""geometry":null}"#))
      // The patch removes all properties, and one of them is required.
      #expect(try await server.edit("PATCH", path, #"{"properties":null}"#).status == 422)
      await server.close()
    }

    @Test func `DELETE removes a feature from all that knows it`() async throws {
      let server = try await TestServer.withRules()
      let path = try await server.addSite("a")
      let answer = try await server.edit("DELETE", path)
      #expect(answer.status == 204 && answer.body == [])
      #expect(try await server.feature(path) == "404")
      #expect(try await server.edit("DELETE", path).status == 404)
      #expect(try await server.texts("SELECT count(*) FROM rtree_sites_geom") == ["0"])
      let log = try await server.texts(
        "SELECT audit_op, author FROM sites_audit WHERE audit_op > 0 ORDER BY audit_id")
      #expect(log == ["1|Ada", "3|Ada"])
      await server.close()
    }

    /// The geometries of `plots` are in UTM: on the way to degrees and back they would be rounded.
    @Test(arguments: ["", "?crs=http://www.opengis.net/def/crs/EPSG/0/4326"])
    func `a geometry that comes back as it was given stays byte for byte`(
      query: String
    ) async throws {
      let server = try await TestServer.withRules()
      let ring = "((500000.1 1.3,500001.7 1.9,500000 2.2,500000.1 1.3))"
      let plot = try WKT.read("MULTIPOLYGON(\(ring))")
      let path = try WKT.read("LINESTRING M (7.1 50.1 3,7.2 50.2 4)")
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.create(Feature(geometry: plot), in: "plots")
        try writer.create(Feature(geometry: path), in: "paths")
      }
      func stored() async throws -> [String] {
        try await server.texts("SELECT hex(geom) FROM plots UNION ALL SELECT hex(geom) FROM paths")
      }
      let before = try await stored()
      for (layer, properties) in [("plots", #""use":"a""#), ("paths", #""name":"a""#)] {
        let item = try await server.get("/collections/\(layer)/items/1\(query)")
        let geometry = try #require(try item.json["geometry"]).text
        let body = #"{"type":"Feature","geometry":\#(geometry),"properties":{\#(properties)}}"#
        let crs = try #require(item.fields["Content-Crs"])
        let answer = try await server.edit(
          "PUT", "\(layer)/items/1", body, fields: ["Content-Crs": crs])
        #expect(answer.status == 204, "\(answer.text)")
        // Lists have their positions rounded.
        let page = try await server.get("/collections/\(layer)/items\(query)").json
        let listed = try #require(page["features"]?.items.first?["geometry"]).text
        let patch = try await server.edit(
          "PATCH", "\(layer)/items/1", #"{"geometry":\#(listed)}"#, fields: ["Content-Crs": crs])
        #expect(patch.status == 204, "\(patch.text)")
      }
      #expect(try await stored() == before)
      #expect(try await server.texts("SELECT use FROM plots") == ["a"])
      await server.close()
    }

    @Test func `values of m that GeoJSON cannot carry are not lost`() async throws {
      let server = try await TestServer.withRules()
      let path = try WKT.read("LINESTRING M (7.1 50.1 3,7.2 50.2 4)")
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        _ = try writer.create(Feature(geometry: path), in: "paths")
      }
      let answer = try await server.edit(
        "PATCH", "paths/items/1",
        #"{"geometry":{"type":"LineString","coordinates":[[7.1,50.1],[7.3,50.2]]}}"#)
      #expect(answer.status == 400)
      #expect(
        try answer.json["detail"]?.string
          == "the geometry of feature 1 in layer 'paths' has m values, which the new one has not "
          + "and GeoJSON cannot carry")
      await server.close()
    }
  }
#endif
