import FieldpackCore
import FieldpackHTTP
import FieldpackTestSupport
import Testing

@testable import FieldpackServer

#if Server
  /// What the official tests ask of a server that answers, beyond its documents.
  @Suite(.programs) struct ConformanceTests {
    private static let items = "/collections/wells/items"

    @Test func `the root answers whatever is accepted`() async throws {
      let server = try await TestServer()
      for accept in ["*/*", "image/png", "application/json", "text/html", "x", ""] {
        let answer = try await server.get("/", fields: ["Accept": accept])
        #expect(answer.status == 200, "\(accept)")
        let isPage = accept == "text/html"
        #expect(
          answer.fields["Content-Type"]
            == (isPage ? "text/html; charset=utf-8" : "application/json"))
      }
      await server.close()
    }

    /// The boxes of the official tests: Greenwich, the equator, the antimeridian, and both polar caps.
    @Test(
      arguments: [
        ("-1.5,50.0,1.5,53.0", []), ("-90,-1,90,1", [1, 2, 3]), ("177,65,-177,70", []),
        ("-180,85,180,90", []), ("-180,-90,180,-85", []), ("-180,-90,180,90", Array(1...19)),
      ] as [(String, [Int64])])
    func `all boxes are answered, and features without geometry meet each`(
      box: String, ids: [Int64]
    ) async throws {
      let server = try await TestServer()
      #expect(try await server.ids("\(Self.items)?bbox=\(box)") == ids + [20])
      await server.close()
    }

    /// The tests set `limit` in links to next pages anew, so that it is there twice.
    @Test func `next takes another limit, and as many features come as were counted`() async throws
    {
      let server = try await TestServer(wells: 300)
      for query in ["limit=10", "limit=10&sortby=-depth", "limit=10&filter=depth%3E2"] {
        let first = try await server.get("\(Self.items)?\(query)").json
        var found = first["features"]?.items.count ?? 0
        #expect(first["numberReturned"] == JSONValue(found))
        var next = first
        while let href = next["links"]?.items.first(where: { $0["rel"]?.string == "next" }) {
          let path = href["href"]?.string?.dropFirst(server.address.count) ?? ""
          next = try await server.get(path + "&limit=10000").json
          found += next["features"]?.items.count ?? 0
        }
        #expect(first["numberMatched"] == JSONValue(found))
      }
      // A limit above the maximum is no mistake.
      let all = try await server.get("\(Self.items)?limit=1000000").json
      #expect(all["numberReturned"] == 300 && all["numberMatched"] == 300)
      await server.close()
    }

    @Test func `the system of an answer is told, also that of the default`() async throws {
      let server = try await TestServer()
      let crs84 = "<http://www.opengis.net/def/crs/OGC/1.3/CRS84>"
      for path in [Self.items, "\(Self.items)/4", "\(Self.items)?f=csv", "\(Self.items)?f=html"] {
        #expect(try await server.get(path).fields["Content-Crs"] == crs84, "\(path)")
      }
      await server.close()
    }

    @Test func `an answer leads to each of its other encodings`() async throws {
      let server = try await TestServer()
      for (path, operation) in [
        (Self.items, ServerOperation.getItems), ("\(Self.items)/4", .getItem),
      ] {
        let links = try await server.get(path).json["links"]?.items ?? []
        let encodings = links.filter { ["self", "alternate"].contains($0["rel"]?.string) }
        #expect(
          encodings.map { $0["type"]?.string } == operation.formats.map { MediaType.name($0.type) })
        for link in encodings {
          let href = link["href"]?.string?.dropFirst(server.address.count) ?? ""
          let answer = try await server.get(String(href))
          #expect(answer.status == 200, "\(href)")
          #expect(
            answer.fields["Content-Type"]?.hasPrefix(link["type"]?.string ?? "-") == true, "\(href)"
          )
        }
      }
      await server.close()
    }

    // MARK: CQL2

    @Test(arguments: [
      ("fid", "10"), ("name", "'well 10'"), ("depth", "3"),
      ("seen", "TIMESTAMP('1970-01-10T00:00:00Z')"),
    ])
    func `each queryable is compared in each way`(column: String, value: String) async throws {
      let server = try await TestServer()
      func ids(_ condition: String) async throws -> [Int64] {
        let filter = PercentText.encode("\(column) \(condition)")
        return try await server.ids("\(Self.items)?filter=\(filter)")
      }
      let known = try await ids("IS NOT NULL")
      #expect(try await (known + ids("IS NULL")).sorted() == Array(1...20))
      let less = try await ids("< \(value)")
      let equal = try await ids("= \(value)")
      let more = try await ids("> \(value)")
      #expect(!equal.isEmpty && (less + equal + more).sorted() == known)
      #expect(try await ids("<= \(value)") == (less + equal).sorted())
      #expect(try await ids(">= \(value)") == (equal + more).sorted())
      #expect(try await ids("<> \(value)") == (less + more).sorted())
      await server.close()
    }

    @Test(arguments: CQL2Predicates.wells)
    func `conditions mean what CQL2 says`(filter: String, ids: [Int64]) async throws {
      let server = try await TestServer()
      let text = PercentText.encode(filter)
      #expect(try await server.ids("\(Self.items)?filter=\(text)") == ids)
      // The same, as JSON.
      let json = PercentText.encode(try Filter(cql2: filter).cql2JSON)
      #expect(
        try await server.ids("\(Self.items)?filter-lang=cql2-json&filter=\(json)") == ids)
      // Together with a box, both count.
      #expect(
        try await server.ids("\(Self.items)?bbox=1.5,0,3.5,9&filter=\(text)")
          == ids.filter { [3, 4, 20].contains($0) })
      await server.close()
    }

    @Test(arguments: CQL2Predicates.mistakes)
    func `positions that are none, and what cannot be read, are mistakes`(
      filter: String
    ) async throws {
      let server = try await TestServer()
      let answer = try await server.get("\(Self.items)?filter=\(PercentText.encode(filter))")
      #expect(answer.status == 400, "\(answer.text)")
      await server.close()
    }

    // MARK: Schemas

    /// Python's jsonschema checks the answers.
    @Test(
      .enabled(
        if: Programs.jsonschemaPython != nil, Comment(rawValue: Programs.noJSONSchemaPython)))
    func `every feature fits the schema`() async throws {
      let server = try await TestServer()
      let schema = try await server.get("/collections/wells/schema")
      #expect(schema.fields["Content-Type"] == "application/schema+json")
      let script = """
        import json, sys, urllib.request, jsonschema
        def read(path):
          return json.load(urllib.request.urlopen(sys.argv[1] + path))
        schema = read("/collections/wells/schema")
        judge = jsonschema.Draft202012Validator(schema)
        judge.check_schema(schema)
        features = read("/collections/wells/items?limit=100")["features"]
        for one in features:
          given = {k: v for k, v in one["properties"].items() if v is not None}
          judge.validate(dict(given, fid=one["id"]))
        print(len(features))
        """
      let result = try await Program.run(
        Programs.jsonschemaPython ?? "", ["-c", script, server.address])
      #expect(result.output == "20\n", "\(result)")
      await server.close()
    }
  }
#endif
