import FieldpackCore
import FieldpackHTTP
import FieldpackLocation
import FieldpackMonitoring
import FieldpackTestSupport
import FieldpackTracks
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Positions that come as the query of an address, as apps send them that cannot send fields.
  @Suite struct PositionAddressTests {
    private func server(_ rights: String...) async throws -> (TestServer, [String]) {
      var texts: [String] = []
      var positions = PositionOptions()
      positions.distance = 1
      let server = try await TestServer(isWritable: true, positions: positions) {
        options, folder in
        let tokens = AccessTokens(folder.file("tokens.json").path)
        for (index, words) in rights.enumerated() {
          let rights = try words.split(separator: " ").map { try AccessRight(String($0)) }
          texts.append(try tokens.add("\(index)", rights))
        }
        options.tokens = tokens
      }
      return (server, texts)
    }

    private func times(_ server: TestServer) async throws -> [String] {
      try await server.store.detections(ofRun: "positions").map {
        "\($0.device) \($0.time?.description ?? "")"
      }
    }

    /// As `LiveSender` of OsmAnd makes the address of its setting "Web address", and the app Traccar Client.
    @Test func `OsmAnd and Traccar bring positions`() async throws {
      let (server, tokens) = try await server("ingest")
      let osmAnd =
        "/fixes?token=\(tokens[0])&id=osm&lat=50.12345&lon=8.5&timestamp=1714557600123&accuracy=4.5"
        + "&altitude=99.0&mps=1.5&bearing=90.0&batproc=55"
      for _ in 0..<2 {
        let answer = try await server.get(osmAnd)
        #expect([answer.text, "\(answer.status)"] == ["", "200"])
        #expect(answer.fields["Cache-Control"] == "no-store")
      }
      let traccar =
        "/fixes?token=\(tokens[0])&id=123456&timestamp=1714557601&lat=50.2&lon=8.6&speed=0.0"
        + "&bearing=0.0&altitude=0.0&accuracy=10.0&batt=80.0"
      for method in ["POST", "GET"] {
        #expect(try await server.get(traccar, method).status == 200)
      }
      #expect(
        try await times(server) == [
          "osm 2024-05-01T10:00:00.123Z", "123456 2024-05-01T10:00:01.000Z",
        ])
      let bad = try await server.get("/fixes?token=\(tokens[0])&id=app&lat=500&lon=8")
      #expect(bad.status == 400)
      await server.close()
    }

    private static let speeds: [(values: String, speed: Double?, accuracy: Double?)] = [
      ("mps=1.5&accuracy=4.5", 1.5, 4.5), ("speed=36000", 18520, nil),
      ("mps=2&speed=3600", 2, nil), ("mps=-1&accuracy=0", nil, nil), ("batt=5", nil, nil),
    ]

    @Test(arguments: speeds)
    func `speeds are in metres per second or in knots`(
      values: String, speed: Double?, accuracy: Double?
    ) throws {
      let query = (Self.query + "&" + values).split(separator: "&").map { pair in
        let parts = pair.split(separator: "=").map(String.init)
        return ServerRequest.Parameter(parts[0], parts[1])
      }
      let body = try FixBody(ServerRequest("GET", ["fixes"], query: query))
      let fix = try #require(body.entries.first?.fixes.first)
      #expect(fix.speed == speed)
      #expect(fix.accuracy == accuracy)
    }

    @Test func `a device with a name that is too long is refused`() throws {
      let name = String(repeating: "n", count: 257)
      let query = [("id", name), ("lat", "50"), ("lon", "8")].map {
        ServerRequest.Parameter($0.0, $0.1)
      }
      let line = #"{"lon":8,"lat":50,"device":"\#(name)"}"#
      for request in [
        ServerRequest("GET", ["fixes"], query: query),
        ServerRequest(
          "POST", ["fixes"], fields: ["Content-Type": "application/json"], body: Array(line.utf8)),
      ] {
        let entries = try FixBody(request).entries
        #expect(entries.map(\.mistake) == ["the name of the device has more than 256 bytes"])
        #expect(entries.allSatisfy { $0.fixes.isEmpty })
      }
    }

    private static let query = "id=app&lat=50&lon=8&timestamp=1714557600"

    @Test func `a GET brings a position with a token that no page can add`() async throws {
      let (server, tokens) = try await server("ingest", "ingest read", "read", "ingest")
      let basic = "Basic " + Base64.encode(Array("any:\(tokens[0])".utf8))
      let login = try await server.raw("POST", "/login", body: "token=\(tokens[0])")
      let cookie = try #require(login.fields["Set-Cookie"]).prefix { $0 != ";" }
      let told = "token=\(tokens[0])&" + Self.query
      let cases: [(query: String, fields: HTTPFields, status: Int)] = [
        (Self.query, [:], 401), ("token=fp_x&" + Self.query, [:], 401),
        ("token=&" + Self.query, ["Cookie": String(cookie)], 401),
        (Self.query, ["Cookie": String(cookie)], 403), (Self.query, ["Authorization": basic], 403),
        ("token=\(tokens[1])&" + Self.query, [:], 403),
        ("token=\(tokens[2])&" + Self.query, [:], 403),
        (told, ["Authorization": basic], 403), (told, ["Sec-Fetch-Site": "cross-site"], 403),
        (told, ["Sec-Fetch-Site": "same-origin"], 403),
        (told, ["Origin": "https://other.example"], 403),
      ]
      for (query, fields, status) in cases {
        let answer = try await server.get("/fixes?" + query, fields: fields)
        #expect(answer.status == status, "\(query) \(fields)")
        #expect(!answer.text.contains("fp_"))
      }
      #expect(try await server.get("/fixes?" + told, "HEAD").status == 405)
      #expect(try await times(server) == [])
      let good: [(query: String, fields: HTTPFields)] = [
        (told, ["Sec-Fetch-Site": "none"]), (told, ["Cookie": String(cookie)]),
        (Self.query, ["Authorization": "Bearer \(tokens[1])"]),
      ]
      for (query, fields) in good {
        #expect(try await server.get("/fixes?" + query, fields: fields).status == 200)
      }
      #expect(try await times(server) == ["app 2024-05-01T10:00:00.000Z"])
      await server.close()
    }

    @Test func `a token in an address counts for positions alone`() async throws {
      let (server, tokens) = try await server("ingest", "read")
      for path in ["/", "/collections", "/events", "/fixes/x", "/sync/layers"] {
        #expect(try await server.get("\(path)?token=\(tokens[1])").status == 401, "\(path)")
      }
      for path in ["/upload", "/motion"] {
        #expect(try await server.get("\(path)?token=\(tokens[0])", "POST").status == 401)
      }
      await server.close()
    }

    /// Where nobody needs a token, any page could send positions to a server of this machine.
    @Test func `without tokens no GET brings a position`() async throws {
      let server = try await TestServer(isWritable: true)
      for query in [Self.query, "token=x&" + Self.query] {
        let answer = try await server.get("/fixes?" + query)
        #expect(answer.status == 405)
      }
      #expect(try await server.get("/fixes?" + Self.query, "POST").status == 200)
      await server.close()
    }
  }
#endif
