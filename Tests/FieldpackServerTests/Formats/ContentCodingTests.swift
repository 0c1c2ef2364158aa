import FieldpackHTTP
import FieldpackTestSupport
import Testing

@testable import FieldpackServer

#if Server
  /// gzip for the clients that take it.
  @Suite(.programs) struct ContentCodingTests {
    @Test(
      arguments: [
        (nil, false), ("gzip", true), ("GZIP, br", true), ("x-gzip", true), ("br", false),
        ("", false), ("gzip;q=0", false), ("gzip ; Q=0.0", false), ("*", true), ("*;q=0", false),
        ("gzip;q=0, *", false), ("*;q=0, gzip;q=0.1", true), ("identity", false),
        ("deflate, gzip;q=1.0, *;q=0.5", true),
      ] as [(String?, Bool)])
    func `a client says what it takes`(field: String?, takes: Bool) {
      let fields: HTTPFields = field.map { ["Accept-Encoding": $0] } ?? [:]
      #expect(ContentCoding.takesGzip(ServerRequest("GET", [], fields: fields)) == takes)
    }

    private static let paths = [
      "/api", "/collections?f=html", "/collections/wells/items?limit=100",
      "/collections/wells/items?limit=10000&f=json", "/collections/wells/items?f=geojsonl",
      "/collections/wells/items?f=csv", "/collections/wells/items?f=gpx&bbox=0,0,150,80",
      "/collections/wells/items?f=html", "/collections/wells/tiles/WebMercatorQuad/0/0/0",
    ]

    /// curl unpacks what it asked for by `--compressed`.
    @Test(.enabled(if: Programs.curl != nil, Comment(rawValue: Programs.noCurl)), arguments: paths)
    func `curl unpacks to the same bytes`(path: String) async throws {
      let server = try await TestServer(wells: 3_000)
      let curl = Programs.curl ?? ""
      let plain = try await server.get(path)
      #expect(plain.fields["Content-Encoding"] == nil)
      #expect(plain.fields["Vary"] == "Accept, Accept-Encoding")
      let packed = try await server.get(path, fields: ["Accept-Encoding": "gzip"])
      #expect(packed.fields["Content-Encoding"] == "gzip")
      #expect(packed.fields["Vary"] == "Accept, Accept-Encoding")
      #expect(packed.body.count < plain.body.count)
      let unpacked = try await Program.run(curl, ["-s", "--compressed", server.address + path])
      // The time of the answer is another one.
      func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes, as: UTF8.self).replacing(/"timeStamp":"[^"]*"/, with: "")
          .replacing(/timeStamp.*?Z/, with: "")
      }
      #expect(text(Array(unpacked.outputBytes)) == text(plain.body))
      await server.close()
    }

    @Test func `each coding has its own strong tag, and a weak one stands for both`() async throws {
      let server = try await TestServer(wells: 200)
      let gzip: HTTPFields = ["Accept-Encoding": "gzip"]
      let tag = try #require(try await server.get("/api").fields["ETag"])
      let packedTag = try await server.get("/api", fields: gzip).fields["ETag"]
      #expect(packedTag == String(tag.dropLast()) + "-gzip\"")
      for (fields, status) in [
        (["If-None-Match": tag] as HTTPFields, 304), (["If-None-Match": packedTag ?? ""], 200),
        (["If-None-Match": packedTag ?? "", "Accept-Encoding": "gzip"], 304),
        (["If-None-Match": tag, "Accept-Encoding": "gzip"], 200),
      ] {
        let answer = try await server.get("/api", fields: fields)
        #expect(answer.status == status, "\(fields)")
      }
      let items = "/collections/wells/items"
      let weak = try #require(try await server.get(items).fields["ETag"])
      #expect(weak.hasPrefix("W/"))
      #expect(try await server.get(items, fields: gzip).fields["ETag"] == weak)
      let again = try await server.get(
        items, fields: ["If-None-Match": weak, "Accept-Encoding": "gzip"])
      #expect(again.status == 304)
      #expect(again.fields["Content-Encoding"] == nil)
      await server.close()
    }

    @Test func `what is short is sent as it is, and so is one feature, whose tag edits name`()
      async throws
    {
      let server = try await TestServer()
      let gzip: HTTPFields = ["Accept-Encoding": "gzip"]
      for path in ["/collections/wells/items?limit=1&f=csv", "/collections/wells/items/1"] {
        #expect(try await server.get(path, fields: gzip).fields["Content-Encoding"] == nil)
      }
      let head = try await server.get("/api", "HEAD", fields: gzip)
      #expect(head.fields["Content-Encoding"] == "gzip")
      #expect(head.body.isEmpty)
      await server.close()
    }
  }
#endif
