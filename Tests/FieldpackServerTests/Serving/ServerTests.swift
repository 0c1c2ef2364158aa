import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackSQLite
import FieldpackServices
import FieldpackTestSupport
import FieldpackTiles
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// The server as such: addresses, methods, names, and clients of other projects.
  @Suite(.programs) struct ServerTests {
    @Test(arguments: [
      "/collections/../x", "/%2e%2e/x", "/collections/..;/x", "/collections/%2E%2E%3Bx/items", "//",
      "/%00", "/%ff", "/%zz", "/collections//items",
    ])
    func `paths that lead elsewhere are refused`(path: String) async throws {
      #expect(RequestTarget(path) == nil)
    }

    @Test func `a path keeps its escaped slashes`() throws {
      let target = try #require(RequestTarget("/collections/a%2Fb%20c/items/?f=json&x=1+2&y"))
      #expect(target.path == ["collections", "a/b c", "items"])
      #expect(target == RequestTarget("/collections/a%2Fb%20c/items?f=json&x=1+2&y"))
      #expect(target.query == [.init("f", "json"), .init("x", "1 2"), .init("y", "")])
      // A sign that combines with the question mark belongs to the name behind it.
      #expect(RequestTarget("/?\u{301}f=json")?.query == [.init("\u{301}f", "json")])
    }

    @Test func `only names of this machine are answered`() async throws {
      let server = try await TestServer()
      for name in ["localhost", "127.0.0.1:1", "[::1]", "LOCALHOST:80"] {
        #expect(try await server.get("/", fields: ["Host": name]).status == 200, "\(name)")
      }
      for name in ["rebound.example", "127.0.0.1.example", "[::2]:80", ""] {
        #expect(try await server.get("/", fields: ["Host": name]).status != 200, "\(name)")
      }
      await server.close()
    }

    @Test func `a proxy may ask for the name that clients know`() async throws {
      let server = try await TestServer(publicURL: "https://fields.example/data")
      let answer = try await server.get("/collections", fields: ["Host": "fields.example"])
      #expect(answer.status == 200)
      #expect(answer.text.contains(#""href":"https://fields.example/data/collections?f=json""#))
      #expect(try await server.get("/", fields: ["Host": "other.example"]).status == 421)
      // Pages of the same site may ask, others may not.
      for (origin, status) in [("https://fields.example", 200), ("https://fields.exam", 403)] {
        let fields: HTTPFields = ["Host": "fields.example", "Origin": origin]
        #expect(try await server.get("/sync/layers", fields: fields).status == status, "\(origin)")
      }
      await server.close()
    }

    @Test func `methods tell what an address takes`() async throws {
      let server = try await TestServer()
      let options = try await server.get("/collections/wells/items", "OPTIONS")
      #expect(options.status == 200)
      #expect(options.fields["Allow"] == "GET, HEAD, OPTIONS")
      let refused = try await server.get("/collections/wells/items", "DELETE")
      #expect(refused.status == 405)
      #expect(refused.fields["Allow"] == "GET, HEAD, OPTIONS")
      let head = try await server.get("/collections", "HEAD")
      #expect(head.status == 200)
      #expect(head.body.isEmpty)
      await server.close()
    }

    @Test func `a tile is found by its row and column`() async throws {
      let server = try await TestServer()
      let base = "/collections/wells/tiles/WebMercatorQuad"
      let tile = try await server.get("\(base)/0/0/0")
      #expect(tile.status == 200)
      #expect(tile.fields["Content-Type"] == "application/vnd.mapbox-vector-tile")
      let own = try await server.store.vectorTile(
        of: "wells", at: TileAddress(zoom: 0, column: 0, row: 0))
      #expect(tile.body == own.bytes)
      #expect(own.featureCount == 19)
      // 9, 4.5 lies north-east of 0, 0: in the upper row.
      #expect(try await server.get("\(base)/1/0/1").status == 200)
      #expect(try await server.get("\(base)/2/3/0").status == 204)
      for path in ["2/4/0", "2/0/4", "0/2147483647/0", "23/0/0", "x/0/0", "1/-1/0"] {
        #expect(try await server.get("\(base)/\(path)").status == 404, "\(path)")
      }
      let tag = try #require(tile.fields["ETag"])
      #expect(try await server.get("\(base)/0/0/0", fields: ["If-None-Match": tag]).status == 304)
      await server.close()
    }

    @Test func `one feature is answered at once, and not otherwise`() async throws {
      let server = try await TestServer()
      let router = ServerRouter(
        PublishedStore(server.store, .init(title: "field")) { .zero }, publicBase: nil, hosts: nil,
        logger: .silent)
      func request(_ id: String, _ method: String = "GET") -> ServerRequest {
        ServerRequest(method, ["collections", "wells", "items", id])
      }
      // Which layers there are has to be known.
      #expect(router.answerAtOnce(request("1")) == nil)
      for (id, status) in [("1", 200), ("7777", 404)] {
        let answer = await router.answer(request(id))
        let atOnce = try #require(router.answerAtOnce(request(id)))
        #expect((atOnce.status, answer.status) == (status, status))
        #expect(atOnce.fields == answer.fields)
        guard case .bytes(let bytes) = atOnce.body, case .bytes(let others) = answer.body else {
          Issue.record("the bodies are no bytes")
          continue
        }
        #expect(bytes == others)
      }
      // What the server knows of the layers is older than this column.
      try await server.store.write { (writer) throws(FieldpackError) in
        try writer.addColumns([ColumnDefinition("new", .integer)], to: "wells")
      }
      let changed = try #require(router.answerAtOnce(request("1")))
      if case .bytes(let bytes) = changed.body {
        #expect(String(decoding: bytes, as: UTF8.self).contains("\"new\":null}"))
      } else {
        Issue.record("the body is no bytes")
      }
      #expect(router.answerAtOnce(request("1", "DELETE")) == nil)
      #expect(
        router.answerAtOnce(ServerRequest("GET", ["collections", "wells", "items"])) == nil)
      await server.close()
    }

    /// The client takes nothing of a long answer, and does not close its connection.
    @Test func `a client that takes nothing keeps no server open`() async throws {
      let server = try await TestServer(wells: 3_000)
      let listener = try ServerListener(
        ListenAddress(port: 0),
        handler: ServerRouter(
          PublishedStore(server.store, .init(title: "field")) { .zero }, publicBase: nil,
          hosts: nil,
          logger: .silent))
      let client = try HTTPClient()
      let stream = try await client.stream(
        HTTPRequest(.get, "http://127.0.0.1:\(listener.port)/collections/wells/items?f=geojsonl"))
      #expect(stream.head.status == 200)
      await listener.close(grace: .milliseconds(1))
      // What was on its way has come, or the answer was broken off; the server is gone.
      await #expect(throws: FieldpackError.self) {
        _ = try await client.send(HTTPRequest(.get, "http://127.0.0.1:\(listener.port)/"))
      }
      await server.close()
    }

    @Test func `a browser gets pages`() async throws {
      let server = try await TestServer()
      for path in [
        "/", "/collections/wells", "/collections/wells/items", "/collections/wells/items/1",
      ] {
        let page = try await server.get(
          path, fields: ["Accept": "text/html,application/xhtml+xml,*/*;q=0.8"])
        #expect(page.fields["Content-Type"] == "text/html; charset=utf-8", "\(path)")
        #expect(page.text.hasPrefix("<!DOCTYPE html>"), "\(path)")
        #expect(page.fields["Content-Security-Policy"]?.hasPrefix("default-src 'none'") == true)
      }
      let missing = try await server.get("/nothing", fields: ["Accept": "text/html"])
      #expect(missing.status == 404)
      #expect(missing.text.hasPrefix("<!DOCTYPE html>"))
      await server.close()
    }

    @Test func `a busy address is named`() async throws {
      let server = try await TestServer()
      let port = try #require(server.address.split(separator: ":").last.flatMap { Int($0) })
      let error = #expect(throws: FieldpackError.self) {
        try FieldServer(of: server.store).listen(on: ListenAddress(port: port))
      }
      #expect(error?.code == .unavailable)
      #expect(error?.message.contains("another program listens on 127.0.0.1:\(port)") == true)
      await server.close()
    }

    @Test(arguments: [
      ("127.0.0.1:80", "127.0.0.1:80", true), ("[::1]:8085", "[::1]:8085", true),
      ("localhost", "127.0.0.1:8085", true), (":9", "127.0.0.1:9", true),
      ("0.0.0.0:80", "0.0.0.0:80", false), ("[::]", "[::]:8085", false),
    ])
    func `addresses are read`(text: String, shown: String, isLoopback: Bool) throws {
      let address = try ListenAddress(text)
      #expect("\(address)" == shown)
      #expect(address.isLoopback == isLoopback)
    }

    @Test(arguments: ["example.org:80", "127.0.0.1:99999", "[::1", "1.2.3", "::1"])
    func `what is no address is refused`(text: String) {
      #expect(throws: FieldpackError.self) { try ListenAddress(text) }
    }

    @Test func `copies of the file bring their edits where the server takes them`() async throws {
      let server = try await TestServer(isWritable: true)
      let copy = server.folder.file("copy.gpkg").path
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        _ = try writer.logEdits(of: "wells")
      }
      try Connection(path: server.store.path, mode: .readWrite, profile: .bulk)
        .executeScript("VACUUM INTO '\(copy)'")
      let device = try await GeoPackageStore(path: copy, id: "device")
      try await device.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.update(3, in: "wells", set: ["name": "from the field"])
      }
      let peer = try HTTPSyncPeer(server.address + "/sync")
      let report = try await SyncRun(of: device, with: peer).run()
      #expect(report.layers.map(\.sent) == [1])
      #expect(try await server.get("/collections/wells/items/3").text.contains("from the field"))
      let foreign = try await server.get(
        "/sync/layers", fields: ["Origin": "https://other.example"])
      #expect(foreign.status == 403)
      await device.close()
      await server.close()
    }

    @Test func `a server that only reads takes no edits`() async throws {
      let server = try await TestServer()
      let answer = try await server.get("/sync/edits?layer=wells", "POST")
      #expect(answer.status == 403)
      await server.close()
    }

    /// GDAL's driver for OGC API Features pages, filters by box and reads single features.
    @Test(.enabled(if: Programs.ogr2ogr != nil, Comment(rawValue: Programs.noOGR)))
    func `GDAL reads all features and those of a box`() async throws {
      let server = try await TestServer(wells: 2_500)
      let ogr2ogr = Programs.ogr2ogr ?? ""
      let source = "OAPIF:\(server.address)/"
      func ids(_ options: String...) async throws -> [Int64] {
        let result = try await Program.run(
          ogr2ogr, ["-f", "GeoJSON", "/vsistdout/", source, "wells"] + options)
        #expect(result.status == 0, "\(result)")
        guard case .array(let features)? = try JSONValueReader.read(result.output)["features"]
        else {
          throw TestFailure()
        }
        // GDAL 3.6 does not write the ids.
        return features.compactMap { feature in
          feature["properties"]?["name"]?.string.flatMap { Int64($0.dropFirst(5)) }.map { $0 + 1 }
        }
      }
      #expect(try await ids() == Array(1...2_500))
      // Features without geometry meet every box here, but not GDAL's own.
      #expect(try await ids("-spat", "1.5", "0", "3.5", "9") == [3, 4])
      await server.close()
    }
  }
#endif
