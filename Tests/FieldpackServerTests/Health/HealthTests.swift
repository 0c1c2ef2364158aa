import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// What the server tells of itself.
  @Suite struct HealthTests {
    @Test func `requests are counted by kind and status`() {
      let moment = Locked(Duration.zero)
      let journal = ServerJournal(uptime: { moment.withLock { $0 } }, line: nil)
      func note(_ path: [String], _ status: Int, _ bytes: Int, milliseconds: Int) {
        moment.withLock { $0 += .milliseconds(milliseconds) }
        journal.note(
          ServerRequest("GET", path), status, bytes: bytes,
          since: moment.withLock { $0 } - .milliseconds(milliseconds))
      }
      note(["collections", "people", "items"], 200, 100, milliseconds: 2)
      note(["collections", "people", "items"], 200, 50, milliseconds: 500)
      note(["collections", "people", "items", "7"], 404, 7, milliseconds: 1)
      note(["nothing"], 404, 0, milliseconds: 20_000)
      let text = journal.text([("connections", "Open connections.", 3)])
      #expect(
        text.split(separator: "\n").filter { !$0.contains("_bucket") } == [
          "# HELP fieldpack_requests_total Requests that were answered.",
          "# TYPE fieldpack_requests_total counter",
          #"fieldpack_requests_total{operation="item",status="404"} 1"#,
          #"fieldpack_requests_total{operation="items",status="200"} 2"#,
          #"fieldpack_requests_total{operation="other",status="404"} 1"#,
          "# HELP fieldpack_request_seconds From the head of a request to the end of its answer.",
          "# TYPE fieldpack_request_seconds histogram",
          #"fieldpack_request_seconds_sum{operation="item"} 0.001"#,
          #"fieldpack_request_seconds_count{operation="item"} 1"#,
          #"fieldpack_request_seconds_sum{operation="items"} 0.502"#,
          #"fieldpack_request_seconds_count{operation="items"} 2"#,
          #"fieldpack_request_seconds_sum{operation="other"} 20.0"#,
          #"fieldpack_request_seconds_count{operation="other"} 1"#,
          "# HELP fieldpack_response_bytes_total Bytes of the bodies of answers.",
          "# TYPE fieldpack_response_bytes_total counter", "fieldpack_response_bytes_total 157",
          "# HELP fieldpack_connections Open connections.",
          "# TYPE fieldpack_connections gauge", "fieldpack_connections 3",
        ])
      let buckets = text.split(separator: "\n").filter { $0.contains(#""items",le="#) }
      #expect(
        buckets.map { $0.split(separator: " ").last } == ["0", "1", "1", "1", "2", "2", "2", "2"])
      // Nobody's name is in it.
      #expect(!text.contains("people"))
    }

    private static let lines: [(target: String, line: String)] = [
      ("/collections/wells/items?limit=2&f=json", "GET /collections/wells/items?limit=2&f=json"),
      (
        "/collections/wells/items?name=Ann&filter=a%3D1",
        "GET /collections/wells/items?name=...&filter=..."
      ),
      ("/captures/338d2c23?key=x", "GET /captures/...?key=..."),
      ("/fixes?token=fp_x&lat=1", "GET /fixes?token=...&lat=..."),
      ("/%1B%5B31m%0Ax", "GET /%1B%5B31m%0Ax"), ("/", "GET /"),
    ]

    @Test(arguments: lines)
    func `a line of the journal has nothing secret`(target: String, line: String) throws {
      let target = try #require(RequestTarget(target))
      let request = ServerRequest(
        "GET", target.path, query: target.query, fields: ["Authorization": "Bearer secret"])
      #expect(ServerJournal.line(request, 200, 0.0123) == line + " 200 12 ms")
    }

    @Test func `the health of a server is told on an address of its own`() async throws {
      let lines = Locked<[String]>([])
      let server = try await TestServer { options, _ in
        options.health = ListenAddress(port: 0)
        options.journal = { line in lines.withLock { $0.append(line) } }
      }
      let health = "http://\(try #require(server.server.healthAddress))"
      func ask(_ path: String, _ method: String = "GET") async throws -> String {
        await (try RawConnection(health)).exchange(
          "\(method) \(path) HTTP/1.1\r\nHost: any.example\r\nConnection: close\r\n\r\n")
      }
      #expect(try await ask("/healthz").hasSuffix("\r\n\r\nok\n"))
      #expect(try await ask("/readyz").hasSuffix("\r\n\r\nready\n"))
      #expect(statuses(try await ask("/collections")) == [404])
      #expect(statuses(try await ask("/metrics", "DELETE")) == [405])
      // The connection is closed once the request has been noted.
      let answer = try await server.raw("GET", "/collections/wells/items?name=well%201")
      #expect(answer.status == 200)
      let metrics = try await ask("/metrics")
      #expect(metrics.contains("Content-Type: text/plain; version=0.0.4"))
      #expect(metrics.contains(#"fieldpack_requests_total{operation="items",status="200"} 1"#))
      #expect(metrics.contains("fieldpack_file_version "))
      #expect(!metrics.contains("wells"))
      let line = try #require(lines.withLock { $0.first })
      #expect(line.hasPrefix("GET /collections/wells/items?name=... 200 "))
      #expect(lines.withLock { $0.count } == 1)
      await server.close()
    }

    @Test func `a webhook that is switched off is told, without its path`() async throws {
      let receiver = try LoopbackServer { _ in .text(410, "") }
      let webhook = Webhook(receiver.address + "/secret")
      let server = try await TestServer(
        isWritable: true, webhooks: [webhook],
        configure: { options, _ in options.health = ListenAddress(port: 0) },
        preparing: { (writer) throws(FieldpackError) in _ = try writer.logEdits(of: "wells") })
      let state = WebhookState(
        webhook, of: server.store.path, in: server.folder.file("state").path)
      while state.read() == nil { try await Task.sleep(for: .milliseconds(5)) }
      let health = "http://\(try #require(server.server.healthAddress))"
      func ask(_ path: String) async throws -> String {
        await (try RawConnection(health)).exchange(
          "GET \(path) HTTP/1.1\r\nHost: any.example\r\nConnection: close\r\n\r\n")
      }
      #expect(try await ask("/readyz").hasSuffix("\r\n\r\nready\n"))
      #expect(try await ask("/metrics").contains("\nfieldpack_webhooks_switched_off 0\n"))
      try await server.set("told", of: 1)
      var answer = ""
      while !answer.contains("switched off") {
        try await Task.sleep(for: .milliseconds(10))
        answer = try await ask("/readyz")
      }
      #expect(statuses(answer) == [200])
      #expect(
        answer.hasSuffix(
          "\r\n\r\nready\nswitched off until the next start: webhook \(receiver.address)\n"))
      #expect(try await ask("/metrics").contains("\nfieldpack_webhooks_switched_off 1\n"))
      await server.close()
    }

    @Test func `a server that closes is not ready`() async throws {
      let server = try await TestServer()
      let handler = HealthHandler(
        published: PublishedStore(server.store, .init(title: "field")) { .zero },
        journal: ServerJournal(uptime: { .zero }, line: nil), connections: { nil })
      #expect(handler.answerAtOnce(ServerRequest("GET", ["readyz"]))?.status == 503)
      #expect(handler.answerAtOnce(ServerRequest("GET", ["healthz"]))?.status == 200)
      await server.close()
    }
  }
#endif
