import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// The features of a collection, as clients read them.
  @Suite struct ItemsTests {
    private static let items = "/collections/wells/items"

    @Test func `a page is GeoJSON with its numbers and links`() async throws {
      let server = try await TestServer()
      let answer = try await server.get("\(Self.items)?limit=2&filter=depth%3E2")
      #expect(answer.status == 200)
      #expect(answer.fields["Content-Type"] == "application/geo+json")
      #expect(answer.fields["Content-Crs"] == "<http://www.opengis.net/def/crs/OGC/1.3/CRS84>")
      let page = try answer.json
      #expect(page["numberReturned"] == .integer(2))
      #expect(page["numberMatched"] == .integer(9))
      #expect(page["timeStamp"].flatMap(\.string).flatMap { Instant($0) } != nil)
      guard case .array(let features)? = page["features"] else { throw TestFailure() }
      var bytes: [UInt8] = []
      features[0].append(to: &bytes)
      #expect(
        String(decoding: bytes, as: UTF8.self)
          == #"{"type":"Feature","id":4,"properties":{"name":"well 3","depth":3,"#
          + #""seen":"1970-01-04T00:00:00.000Z"},"geometry":{"type":"Point","coordinates":[3,1.5]}}"#
      )
      guard case .array(let links)? = page["links"] else { throw TestFailure() }
      let relations = links.compactMap { $0["rel"]?.string }
      #expect(relations.filter { $0 != "alternate" } == ["self", "next", "collection"])
      await server.close()
    }

    @Test(arguments: [
      "", "&sortby=name", "&sortby=-depth,name", "&sortby=depth,-seen", "&bbox=1,0,30,30",
      "&filter=depth%3E1&sortby=-seen", "&properties=name&sortby=-depth",
    ])
    func `following next gives each feature once, in order`(query: String) async throws {
      let server = try await TestServer(wells: 40)
      let all = try await server.ids("\(Self.items)?limit=100\(query)")
      var (found, next) = ([Int64](), "\(Self.items)?limit=3\(query)" as String?)
      while let path = next {
        let answer = try await server.get(path)
        found += try await server.ids(path)
        guard case .array(let links)? = try answer.json["links"] else { throw TestFailure() }
        let href = links.first { $0["rel"]?.string == "next" }?["href"]?.string
        next = href.map { String($0.dropFirst(server.address.count)) }
      }
      #expect(found == all)
      #expect(all.count > 3)
      await server.close()
    }

    private static let choices: [(query: String, ids: [Int64])] = [
      ("bbox=1.5,0,3.5,9", [3, 4, 20]), ("bbox=-1,-1,0.5,1", [1, 20]),
      ("bbox=177,65,-177,70", [20]), ("bbox=0,1,2,0,9,9", [20]),
      ("bbox=0,1.5,9,4&bbox-crs=http://www.opengis.net/def/crs/EPSG/0/4326", [3, 4, 5, 20]),
      ("datetime=1970-01-03T00:00:00Z", [3]), ("datetime=1970-01-03", [3]),
      ("datetime=../1970-01-02T00:00:00Z", [1, 2]), ("datetime=1970-01-18/..", [18, 19, 20]),
      ("datetime=1970-01-03T00:00:00Z/P1DT12H", [3, 4]),
      ("name=well%207", [8]), ("fid=5", [5]), ("filter=name%20LIKE%20'%251'", [2, 12]),
      ("filter=S_INTERSECTS(geometry,POINT(4%202))", [5]),
      (
        "filter=S_INTERSECTS(geometry,POINT(2%204))"
          + "&filter-crs=http://www.opengis.net/def/crs/EPSG/0/4326", [5]
      ),
      (
        "filter-lang=cql2-json&filter=%7B%22op%22:%22=%22,%22args%22:%5B"
          + "%7B%22property%22:%22name%22%7D,%22well%201%22%5D%7D", [2]
      ),
      ("offset=18", [19, 20]), ("sortby=-seen&limit=2", [20, 19]),
    ]

    @Test(arguments: choices)
    func `parameters choose features`(query: String, ids: [Int64]) async throws {
      let server = try await TestServer()
      #expect(try await server.ids("\(Self.items)?\(query)") == ids)
      await server.close()
    }

    @Test(arguments: [
      "nothing=1", "limit=foo", "limit=0", "limit=-1", "offset=-1", "bbox=1,2,3", "bbox=1,5,3,4",
      "bbox=1,2,3,x", "bbox-crs=x", "crs=x", "crs=http://www.opengis.net/def/crs/EPSG/0/999999",
      "datetime=yesterday", "datetime=2024-01-02/2024-01-01", "filter=depth%3E", "filter=deep%3E1",
      "filter-lang=sql&filter=depth%3E1", "sortby=deep", "properties=deep", "after=x", "depth=x",
      "f=shp", "sortby=name&after=5", "sortby=geom", "datetime=2024-01-01T00:00:00Z/P9000Y",
      "f=gpx&crs=http://www.opengis.net/def/crs/EPSG/0/3857",
      "f=csv&crs=http://www.opengis.net/def/crs/EPSG/0/4326",
    ])
    func `what cannot be answered is refused with its reason`(query: String) async throws {
      let server = try await TestServer()
      let answer = try await server.get("\(Self.items)?\(query)")
      #expect(answer.status == 400, "\(answer.text)")
      #expect(answer.fields["Content-Type"] == "application/problem+json")
      #expect(try answer.json["detail"].flatMap(\.string)?.isEmpty == false)
      await server.close()
    }

    @Test func `a feature comes in its own system, with the axes of that`() async throws {
      let server = try await TestServer()
      let systems = ["OGC/1.3/CRS84": "[3,1.5]", "EPSG/0/4326": "[1.5,3]"]
      for (name, position) in systems {
        let uri = "http://www.opengis.net/def/crs/\(name)"
        let answer = try await server.get("\(Self.items)/4?crs=\(uri)")
        #expect(answer.fields["Content-Crs"] == "<\(uri)>")
        #expect(answer.text.contains(#""coordinates":\#(position)"#), "\(answer.text)")
      }
      #expect(try await server.get("\(Self.items)/99").status == 404)
      #expect(try await server.get("\(Self.items)/x").status == 404)
      #expect(try await server.get("/collections/none/items").status == 404)
      await server.close()
    }

    @Test func `the links of a feature keep its system, and its page has another tag`() async throws
    {
      let server = try await TestServer()
      let crs = "crs=http%3A%2F%2Fwww.opengis.net%2Fdef%2Fcrs%2FEPSG%2F0%2F4326"
      let feature = try await server.get("\(Self.items)/4?\(crs)")
      #expect(feature.text.contains(#""href":"\#(server.address)\#(Self.items)/4?\#(crs)&f=json""#))
      let page = try await server.get("\(Self.items)/4?\(crs)&f=html")
      #expect(page.fields["ETag"] != nil && page.fields["ETag"] != feature.fields["ETag"])
      await server.close()
    }

    @Test func `a page of long texts is a page, too`() async throws {
      let server = try await TestServer()
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        let name = Value.text(String(repeating: "x", count: 100_000))
        for id in 1...3 { try writer.update(.integer(Int64(id)), in: "wells", set: ["name": name]) }
      }
      let page = try await server.get("\(Self.items)?f=html")
      #expect(page.status == 200)
      #expect(page.text.hasSuffix("</html>\n"))
      await server.close()
    }

    @Test func `a geometry that cannot be read is no mistake of who asks`() async throws {
      let server = try await TestServer()
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.execute("UPDATE wells SET geom = x'47500001E6100000010900' WHERE fid = 4")
      }
      for path in ["\(Self.items)/4", "\(Self.items)?fid=4", "\(Self.items)?fid=4&f=html"] {
        let answer = try await server.get(path)
        #expect(answer.status == 500, "\(path): \(answer.text)")
        #expect(!answer.text.contains("geom"))
      }
      await server.close()
    }

    @Test func `a view without a key has pages, too`() async throws {
      let server = try await TestServer()
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.execute("CREATE VIEW names AS SELECT name FROM wells")
        try writer.execute(
          "INSERT INTO gpkg_contents (table_name, data_type, identifier) "
            + "VALUES ('names', 'attributes', 'names')")
      }
      let keyless = try await GeoPackageStore(path: server.store.path, id: "keyless")
      let other = FieldServer(of: keyless)
      let address = "http://\(try other.listen(on: ListenAddress(port: 0)))"
      let client = try HTTPClient()
      var (names, next) = ([String](), "\(address)/collections/names/items?limit=8" as String?)
      while let url = next {
        let answer = try await client.send(HTTPRequest(.get, url))
        let page = try JSONValueReader.read(String(decoding: answer.body, as: UTF8.self))
        guard case .array(let features)? = page["features"], case .array(let links)? = page["links"]
        else { throw TestFailure() }
        names += features.compactMap { $0["properties"]?["name"]?.string }
        next = links.first { $0["rel"]?.string == "next" }?["href"]?.string
      }
      #expect(names == (0..<20).map { "well \($0)" })
      await other.close()
      await keyless.close()
      await server.close()
    }

    @Test func `what has not changed is not sent again`() async throws {
      let server = try await TestServer()
      for path in ["/", "/collections", "/conformance", "\(Self.items)?limit=3", "\(Self.items)/4"]
      {
        let first = try await server.get(path)
        let tag = try #require(first.fields["ETag"])
        let again = try await server.get(path, fields: ["If-None-Match": "\"other\", \(tag)"])
        #expect(again.status == 304, "\(path)")
        #expect(again.body.isEmpty)
        #expect(again.fields["ETag"] == tag)
      }
      let before = try await server.get("\(Self.items)/4").fields["ETag"]
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(4, in: "wells", set: ["name": "another"])
      }
      let page = try await server.get(
        "\(Self.items)?limit=3", fields: ["If-None-Match": before ?? ""])
      #expect(page.status == 200)
      #expect(try await server.get("\(Self.items)/4").fields["ETag"] != before)
      await server.close()
    }

    @Test func `a long page is streamed and whole`() async throws {
      let server = try await TestServer(wells: 5_000)
      let answer = try await server.get("\(Self.items)?limit=20000")
      #expect(answer.fields["Content-Length"] == nil)
      #expect(answer.body.count > 64 << 10)
      #expect(try answer.json["numberReturned"] == .integer(5_000))
      for (format, type) in [("csv", "text/csv"), ("geojsonl", "application/x-ndjson")] {
        let all = try await server.get("\(Self.items)?f=\(format)")
        #expect(all.fields["Content-Type"] == type)
        let lines = all.body.count { $0 == UInt8(ascii: "\n") }
        #expect(lines == (format == "csv" ? 5_001 : 5_000))
      }
      await server.close()
    }
  }

  struct TestFailure: Error {}
#endif
