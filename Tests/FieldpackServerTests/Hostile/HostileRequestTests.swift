import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// All addresses of a server, asked for what they do not give.
  @Suite struct HostileRequestTests {
    private static let script = "<script>alert(1)</script>"
    private static let layers: [LayerID] = [
      LayerID(script), "\"><img src=x onerror=alert(1)>", "x\r\nSet-Cookie: a=b", "a/../b",
      "%2e%2e",
      "'; DROP TABLE wells; --", "\u{202E}gpj.exe",
    ]

    private static let paths = [
      "/", "/conformance", "/api", "/functions", "/tileMatrixSets",
      "/tileMatrixSets/WebMercatorQuad",
      "/collections", "/collections/NAME", "/collections/NAME/queryables",
      "/collections/NAME/schema", "/collections/NAME/sortables", "/collections/NAME/items",
      "/collections/NAME/items/1", "/collections/NAME/items/NAME", "/collections/NAME/tiles",
      "/collections/NAME/tiles/WebMercatorQuad", "/collections/NAME/tiles/WebMercatorQuad/0/0/0",
      "/sync/layers", "/sync/edits?layer=NAME", "/sync/edit?layer=NAME&position=1", "/sync/NAME",
      "/login", "/NAME",
    ]

    /// Addresses whose answers are not made of the layers' names.
    private static let otherPaths = [
      "/captures", "/captures/x", "/captures/x/media", "/tiles", "/tiles/0/0/0.mvt",
      "/fixes", "/upload", "/uploads/x", "/motion", "/bridge", "/bundles/x/",
    ]

    private static let parameters = [
      "f", "limit", "offset", "after", "bbox", "bbox-crs", "crs", "datetime", "filter",
      "filter-lang", "filter-crs", "sortby", "properties", "name", "depth", "nothing", "layer",
      "position",
    ]

    private static let values = [
      "'", "\"", "' OR 1=1 --", "1; DROP TABLE wells", "\u{0}", "\u{FFFE}", "../../../etc/shadow",
      "99999999999999999999", "-1", "NaN", "1e999", "[[[[", "{\"op\":", "name LIKE '%'",
      "name = ''' '",
      String(repeating: "(", count: 2_000), "CAST(name AS BLOB)", "load_extension('x')",
      "http://169.254.169.254/", "file:///etc/shadow", "a\r\nSet-Cookie: a=b", script,
    ]

    private func walk(
      _ server: TestServer, fields: HTTPFields, _ body: (String, TestServer.Answer) -> Void
    ) async throws {
      for name in ["wells"] + Self.layers.map(\.rawValue) {
        for path in Self.paths {
          let path = path.replacingOccurrences(of: "NAME", with: PercentText.encode(name))
          body(path, try await server.get(path, fields: fields))
        }
      }
    }

    /// What an answer must not tell: where files are, and how they are asked.
    private func secrets(_ server: TestServer) -> [String] {
      [
        server.folder.url.path, "SELECT ", "INSERT ", "PRAGMA", "sqlite", "SQLite", "rtree_",
        "gpkg_",
        ".swift", "Set-Cookie", NSHomeDirectory() + "/",
      ]
    }

    @Test func `no answer tells of the machine or of SQL`() async throws {
      let server = try await TestServer(others: Self.layers)
      let secrets = secrets(server)
      for path in Self.paths + Self.otherPaths where !path.hasPrefix("/login") {
        let path = path.replacingOccurrences(of: "NAME", with: "wells")
        for parameter in Self.parameters {
          for value in Self.values {
            let query = "\(path.contains("?") ? "&" : "?")\(parameter)=\(PercentText.encode(value))"
            let answer = try await server.get(path + query)
            #expect(answer.status < 500, "\(path)\(query): \(answer.text)")
            for secret in secrets where !value.contains(secret) {
              // The media type of a GeoPackage is no secret.
              let text = answer.text.replacing("geopackage+sqlite3", with: "")
              #expect(!text.contains(secret), "\(path)\(query): \(answer.text)")
            }
          }
        }
      }
      for method in ["PUT", "PATCH", "DELETE", "POST", "TRACE", "PROPFIND", "QUERY"] {
        for path in Self.paths + Self.otherPaths {
          let answer = try await server.get(path, method, body: Self.script)
          #expect((400..<500).contains(answer.status), "\(method) \(path)")
          for secret in secrets { #expect(!answer.text.contains(secret), "\(method) \(path)") }
        }
      }
      await server.close()
    }

    @Test func `names and values are texts in every page`() async throws {
      let server = try await TestServer(others: Self.layers)
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        for layer in ["wells"] + Self.layers {
          try writer.create(
            Feature(geometry: nil, attributes: ["name": .text(Self.script)]), in: layer)
        }
      }
      var pages = 0
      for accept in ["text/html", "application/json"] {
        try await walk(server, fields: ["Accept": accept]) { path, answer in
          #expect(answer.status < 500, "\(path): \(answer.text)")
          #expect(answer.fields["Set-Cookie"] == nil, "\(path)")
          #expect(answer.fields["X-Content-Type-Options"] == "nosniff", "\(path)")
          guard answer.fields["Content-Type"]?.hasPrefix("text/html") == true else { return }
          pages += 1
          #expect(!answer.text.contains("<script"), "\(path)")
          #expect(!answer.text.contains("<img"), "\(path)")
          #expect(!answer.text.contains("\u{202E}"), "\(path)")
          #expect(
            answer.fields["Content-Security-Policy"]?.hasPrefix("default-src 'none'") == true,
            "\(path)")
        }
      }
      #expect(pages > 100)
      await server.close()
    }

    private static let ranges = [
      "bytes=0-0", "bytes=5-1", "bytes=-99999999999", "bytes=99999999999-", "lines=1-2", "bytes=",
      "bytes=" + (0..<2_000).map { "\($0)-" }.joined(separator: ","),
    ]

    @Test(arguments: ranges)
    func `a range of what has none is the whole, once`(range: String) async throws {
      let server = try await TestServer()
      let whole = try await server.raw("GET", "/collections")
      let answer = try await server.raw("GET", "/collections", fields: ["Range": range])
      #expect(answer.status == 200)
      #expect(answer.text == whole.text)
      await server.close()
    }
  }
#endif
