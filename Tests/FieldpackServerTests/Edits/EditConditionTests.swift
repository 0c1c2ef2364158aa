import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Entity tags of features, and what may be done by whom.
  @Suite struct EditConditionTests {
    @Test func `a change is made only to the state that the client has read`() async throws {
      let server = try await TestServer.withRules()
      let path = try await server.addSite("a")
      func tag(_ query: String = "") async throws -> String {
        try await server.get("/collections/\(path)\(query)").fields["ETag"] ?? ""
      }
      let patch = #"{"properties":{"visits":1}}"#
      let first = try await tag()
      let cases: [(field: String, value: String, status: Int)] = [
        ("If-Match", "\"other\"", 412), ("If-Match", "W/\(first)", 412), ("If-Match", "", 412),
        ("If-Match", String(first.dropLast()), 412), ("If-None-Match", first, 412),
        ("If-None-Match", "W/\(first)", 412), ("If-None-Match", "*", 412),
        ("If-None-Match", "\"other\"", 204), ("If-Match", "*", 204),
      ]
      for (field, value, status) in cases {
        let answer = try await server.edit("PATCH", path, patch, fields: [field: value])
        #expect(answer.status == status, "\(field): \(value) \(answer.text)")
      }
      let page = try await tag("?f=html")
      let north = try await tag("?crs=http://www.opengis.net/def/crs/EPSG/0/4326")
      let second = try await tag()
      #expect(Set([first, second, page, north]).count == 4)
      // The tags of all representations stand for the same state, also the tag of a packed one.
      let packed = String(second.dropLast()) + "-gzip\""
      for value in ["\"x\", \(second)", "\(second),\"y\"", page, north, packed] {
        let answer = try await server.edit("PATCH", path, "{}", fields: ["If-Match": value])
        #expect(answer.status == 204, "\(value)")
        #expect(answer.fields["ETag"] == second)
      }
      for value in [first, page.replacing("-html", with: "x-html")] {
        let put = try await server.edit(
          "PUT", path, TestServer.site("b"), fields: ["If-Match": value])
        #expect(put.status == 412)
        #expect(try await server.edit("DELETE", path, fields: ["If-Match": value]).status == 412)
      }
      #expect(try await server.edit("DELETE", path, fields: ["If-Match": second]).status == 204)
      #expect(try await server.edit("DELETE", path, fields: ["If-Match": "*"]).status == 412)
      await server.close()
    }

    @Test func `a layer without geometry has tags, too`() async throws {
      let server = try await TestServer.withRules()
      let note = #"{"type":"Feature","geometry":null,"properties":{"text":"a"}}"#
      let path = "notes/items/1"
      let tag = try await server.edit("POST", "notes/items", note).fields["ETag"] ?? ""
      let patch = #"{"properties":{"text":"b"}}"#
      for (value, status) in [("\"x\"", 412), (tag, 204), (tag, 412), ("*", 204)] {
        let answer = try await server.edit("PATCH", path, patch, fields: ["If-Match": value])
        #expect(answer.status == status, "\(value)")
      }
      await server.close()
    }

    @Test func `of many clients that change one state, one does`() async throws {
      let server = try await TestServer.withRules()
      let path = try await server.addSite("a")
      let tag = try await server.get("/collections/\(path)").fields["ETag"] ?? ""
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for index in 1...12 {
          group.addTask {
            try await server.edit(
              "PATCH", path, #"{"properties":{"visits":\#(index)}}"#, fields: ["If-Match": tag]
            ).status
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.sorted() == [204] + Array(repeating: 412, count: 11))
      await server.close()
    }

    @Test func `clients that read again after a conflict lose nothing`() async throws {
      let server = try await TestServer.withRules()
      let path = try await server.addSite("a", #","visits":0"#)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            for _ in 0..<5 { try await Self.increment(path, on: server) }
          }
        }
        try await group.waitForAll()
      }
      #expect(try await server.texts("SELECT visits FROM sites") == ["20"])
      await server.close()
    }

    private static func increment(_ path: String, on server: TestServer) async throws {
      while true {
        let item = try await server.get("/collections/\(path)")
        guard case .integer(let visits)? = try item.json["properties"]?["visits"] else {
          throw TestFailure()
        }
        let answer = try await server.edit(
          "PATCH", path, #"{"properties":{"visits":\#(visits + 1)}}"#,
          fields: ["If-Match": item.fields["ETag"] ?? ""])
        if answer.status == 204 { return }
        guard answer.status == 412 else { throw TestFailure() }
      }
    }

    @Test func `a server can demand the field If-Match, and says so`() async throws {
      let server = try await TestServer.withRules(requiresIfMatch: true)
      let path = try await server.addSite("a")
      let tag = try await server.get("/collections/\(path)").fields["ETag"] ?? ""
      for (method, body) in [("PUT", TestServer.site("b")), ("PATCH", "{}"), ("DELETE", nil)] {
        #expect(try await server.edit(method, path, body).status == 428)
      }
      let patch = try await server.edit("PATCH", path, "{}", fields: ["If-Match": tag])
      #expect(patch.status == 204)
      let classes = try await server.get("/conformance").json["conformsTo"]?.items
      let start = "http://www.opengis.net/spec/ogcapi-features-4/1.0/"
      #expect(
        classes?.compactMap(\.string).filter { $0.hasPrefix(start) } == [
          start + "conf/create-replace-delete", start + "conf/update", start + "conf/features",
          start + "req/optimistic-locking-etags",
        ])
      await server.close()
    }

    private static let methods: [(path: String, allowed: String)] = [
      ("sites/items", "GET, HEAD, OPTIONS, POST"),
      ("sites/items/1", "GET, HEAD, OPTIONS, PUT, PATCH, DELETE"),
      ("names/items", "GET, HEAD, OPTIONS"), ("names/items/1", "GET, HEAD, OPTIONS"),
      ("sites", "GET, HEAD, OPTIONS"), ("sites/queryables", "GET, HEAD, OPTIONS"),
    ]

    @Test func `OPTIONS names what may be done here`() async throws {
      let server = try await TestServer.withRules()
      for (path, allowed) in Self.methods {
        let options = try await server.edit("OPTIONS", path)
        #expect(options.status == 200)
        #expect(options.fields["Allow"] == allowed, "\(path)")
        #expect(
          options.fields["Accept-Post"]
            == (allowed.contains("POST") ? "application/geo+json, application/json" : nil))
        #expect(
          options.fields["Accept-Patch"]
            == (allowed.contains("PATCH") ? "application/merge-patch+json" : nil))
        for method in ["POST", "PUT", "PATCH", "DELETE"] where !allowed.contains(method) {
          let refused = try await server.edit(method, path, method == "DELETE" ? nil : "{}")
          #expect(refused.status == 405, "\(method) \(path)")
          #expect(refused.fields["Allow"] == allowed)
        }
      }
      await server.close()
    }

    @Test func `a server that only reads offers no change`() async throws {
      let server = try await TestServer.withRules(isWritable: false)
      for (path, _) in Self.methods {
        let options = try await server.edit("OPTIONS", path)
        #expect(options.fields["Allow"] == "GET, HEAD, OPTIONS")
        #expect(try await server.edit("POST", path, TestServer.site("a")).status == 405)
      }
      let classes = try await server.get("/conformance").text
      #expect(!classes.contains("ogcapi-features-4"))
      #expect(try await server.get("/api").json["paths"]?.all("post") == [])
      await server.close()
    }

    @Test(.enabled(if: geteuid() != 0, "root can write every file"))
    func `a file that cannot be written is only read, whatever is asked for`() async throws {
      let folder = try TemporaryFolder()
      let path = folder.file("field.gpkg").path
      let writer = try GeoPackageBulkWriter(creating: path, version: .v14, store: "field")
      try writer.create(Schema(layer: "wells", columns: [ColumnDefinition("name", .text())]))
      _ = try writer.commit()
      try FileManager.default.setAttributes([.posixPermissions: 0o444], ofItemAtPath: path)
      let store = try await GeoPackageStore(path: path, id: "field")
      var options = FieldServer.Options()
      options.isWritable = true
      let server = FieldServer(of: store, options: options)
      let address = "http://\(try server.listen(on: ListenAddress(port: 0)))"
      let client = try HTTPClient()
      for path in ["/fixes", "/motion", "/upload", "/sync/edits?layer=wells"] {
        let answer = try await client.send(
          HTTPRequest(.post, address + path, body: .bytes(Array("{}".utf8))))
        #expect(answer.status == 403, "\(path)")
      }
      let allowed = try await client.send(
        HTTPRequest(.init(rawValue: "OPTIONS"), address + "/collections/wells/items"))
      #expect(allowed.fields["Allow"] == "GET, HEAD, OPTIONS")
      await server.close()
      await store.close()
    }

    @Test func `a page of another site changes nothing`() async throws {
      let server = try await TestServer.withRules()
      let path = try await server.addSite("a")
      for (method, body) in [("PUT", TestServer.site("b")), ("PATCH", "{}"), ("DELETE", nil)] {
        let answer = try await server.edit(
          method, path, body, fields: ["Origin": "https://other.example"])
        #expect(answer.status == 403)
      }
      let own = try await server.edit("PATCH", path, "{}", fields: ["Origin": server.address])
      #expect(own.status == 204)
      await server.close()
    }
  }
#endif
