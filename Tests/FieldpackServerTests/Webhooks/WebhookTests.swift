import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Others are told of what happens.
  @Suite(.programs) struct WebhookTests {
    /// Replies in turn; the last one again and again.
    private final class Receiver: Sendable {
      let seen = Locked<[LoopbackServer.Request]>([])
      let replies: Locked<[Int]>

      init(_ replies: [Int]) { self.replies = Locked(replies) }

      func reply(_ request: LoopbackServer.Request) -> LoopbackServer.Reply {
        seen.withLock { $0.append(request) }
        let status = replies.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
        return .text(status, "")
      }

      var names: [String] {
        seen.withLock { $0 }.map { request in
          let json = try? JSONValueReader.read(String(decoding: request.body, as: UTF8.self))
          return json?["data"]?["properties"]?["name"]?.string ?? "-"
        }
      }
    }

    private func delivery(
      _ webhook: Webhook, _ server: TestServer, _ hub: EventHub, clock: FieldClock = .system
    ) throws -> WebhookDelivery {
      var configuration = HTTPConfiguration()
      configuration.maximumRedirects = 0
      let sender = HTTPEventSender(
        webhook: webhook, client: try HTTPClient(configuration), clock: clock)
      let state = WebhookState(
        webhook, of: server.store.path, in: server.folder.file("state").path)
      var delivery = WebhookDelivery(
        webhook, of: hub, keeping: state, by: sender, logger: .silent)
      delivery.clock = clock
      delivery.backOff = BackOff(first: .milliseconds(1), limit: .milliseconds(2))
      return delivery
    }

    @Test func `what fails is told again, in order, and a restart goes on`() async throws {
      let server = try await TestServer.logged()
      let receiver = Receiver([500, 302, 200, 429, 200])
      let loopback = try LoopbackServer { receiver.reply($0) }
      var webhook = Webhook(loopback.address + "/hook")
      webhook.layers = ["wells"]
      webhook.filter = "name LIKE 'tell%'"
      let state = WebhookState(
        webhook, of: server.store.path, in: server.folder.file("state").path)
      var hub = EventHub(of: server.store)
      for round in 1...2 {
        let delivery = try delivery(webhook, server, hub)
        let telling = Task { try await delivery.run() }
        while state.read() == nil { try await Task.sleep(for: .milliseconds(5)) }
        for index in 1...2 { try await server.set("tell \(round) \(index)", of: Int64(index)) }
        try await server.set("hush", of: 9)
        while receiver.names.last != "tell \(round) 2" {
          try await Task.sleep(for: .milliseconds(5))
        }
        await hub.close()
        #expect(try await telling.value == .closed)
        // What happens while nobody tells is told afterwards.
        if round == 1 { try await server.set("tell between", of: 5) }
        hub = EventHub(of: server.store)
      }
      let first = ["tell 1 1", "tell 1 1", "tell 1 1", "tell 1 2", "tell 1 2"]
      #expect(receiver.names == first + ["tell between", "tell 2 1", "tell 2 2"])
      let requests = receiver.seen.withLock { $0 }
      #expect(requests[0]["webhook-id"] == requests[2]["webhook-id"])
      #expect(requests[2]["webhook-id"] != requests[3]["webhook-id"])
      #expect(requests[0]["Content-Type"] == "application/cloudevents+json; charset=utf-8")
      #expect(requests[0]["webhook-signature"] == nil)
      await server.close()
    }

    /// The server starts three times: within the day of failures, after it, and then the receiver is well.
    @Test func `a receiver that fails for a day is told no more until a start`() async throws {
      let server = try await TestServer.logged()
      let receiver = Receiver(Array(repeating: 500, count: 25) + [200])
      let loopback = try LoopbackServer { receiver.reply($0) }
      // Each pause takes an hour of this clock.
      let hours = Locked(0)
      let first = Locked<Task<WebhookDelivery.End, any Error>?>(nil)
      let clock = FieldClock(
        wall: { .seconds(1_700_000_000 + hours.withLock { $0 } * 3600) }, uptime: { .zero },
        sleep: { _ in
          let hour = hours.withLock { hours in
            hours += 1
            return hours
          }
          if hour == 10 { first.withLock { $0 }?.cancel() }
        })
      let webhook = Webhook(loopback.address)
      let hub = EventHub(of: server.store)
      var delivery = try delivery(webhook, server, hub, clock: clock)
      let task = Task { [delivery] in try await delivery.run() }
      first.withLock { $0 = task }
      while delivery.state.read() == nil { try await Task.sleep(for: .milliseconds(5)) }
      try await server.set("lost", of: 1)
      #expect(try await task.value == .closed)
      #expect(receiver.names.count == 10)
      // What interrupts a run does not begin the day anew, neither in the server nor by its start.
      #expect(delivery.state.read()?.failingSince == Instant("2023-11-14T22:13:20Z"))
      delivery = try self.delivery(webhook, server, hub, clock: clock)
      #expect(try await delivery.run() == .switchedOff)
      #expect(receiver.names.count == 25)
      #expect(delivery.state.read()?.failingSince == Instant("2023-11-14T22:13:20Z"))
      delivery = try self.delivery(webhook, server, hub, clock: clock)
      let last = Task { [delivery] in try await delivery.run() }
      while receiver.names.count < 26 { try await Task.sleep(for: .milliseconds(5)) }
      await hub.close()
      #expect(try await last.value == .closed)
      #expect(delivery.state.read()?.failingSince == nil)
      await server.close()
    }

    /// What may pass is sent again; what cannot is left out, so that it keeps back nothing else.
    @Test func `an event that is too long for the receiver is left out`() async throws {
      let server = try await TestServer.logged()
      let receiver = Receiver([413, 200])
      let loopback = try LoopbackServer { receiver.reply($0) }
      let hub = EventHub(of: server.store)
      let delivery = try delivery(Webhook(loopback.address), server, hub)
      let telling = Task { try await delivery.run() }
      while delivery.state.read() == nil { try await Task.sleep(for: .milliseconds(5)) }
      try await server.set("long", of: 1)
      try await server.set("short", of: 2)
      while receiver.names.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
      await hub.close()
      #expect(try await telling.value == .closed)
      #expect(receiver.names == ["long", "short"])
      #expect(delivery.state.read()?.failingSince == nil)
      await server.close()
    }

    @Test func `a status says whether a try later can help`() async throws {
      var table: [(Int, String?, EventRefusal)] = [
        (410, nil, EventRefusal(reason: "status 410", isFinal: true)),
        (413, nil, EventRefusal(reason: "status 413", isOfEvent: true)),
        (413, "7", EventRefusal(reason: "status 413", asked: .seconds(7))),
        (429, "60", EventRefusal(reason: "status 429", asked: .seconds(60))),
      ]
      for status in [301, 400, 401, 403, 404, 405, 415, 422, 429, 500, 502, 503, 504] {
        table.append((status, nil, EventRefusal(reason: "status \(status)")))
      }
      for (status, later, expected) in table {
        let loopback = try LoopbackServer { _ in
          .text(status, "", fields: later.map { [["Retry-After", $0]] } ?? [])
        }
        var configuration = HTTPConfiguration()
        configuration.maximumRedirects = 0
        let sender = HTTPEventSender(
          webhook: Webhook(loopback.address), client: try HTTPClient(configuration))
        let event = LiveEvent(kind: .changed, id: "1", layer: "wells")
        #expect(await sender.send(event) == expected)
      }
    }

    /// Python's own library checks what we sign.
    @Test(.enabled(if: Programs.python != nil, Comment(rawValue: Programs.noPython)))
    func `Python takes the signature`() async throws {
      let script = """
        import base64, hashlib, hmac, http.server, json, sys
        key = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
        class Handler(http.server.BaseHTTPRequestHandler):
          def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            text = (self.headers["webhook-id"] + "." + self.headers["webhook-timestamp"] + ".").encode() + body
            want = "v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest()).decode()
            good = hmac.compare_digest(want, self.headers["webhook-signature"])
            print(good, json.loads(body)["type"], flush=True)
            self.send_response(200 if good else 401)
            self.end_headers()
          def log_message(self, *arguments): pass
        server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
        print(server.server_port, flush=True)
        server.serve_forever()
        """
      let folder = try TemporaryFolder()
      let python = try Program(Programs.python ?? "", ["-c", script], folder: folder.url)
      try await python.wait(for: "its port") { python.outputSoFar.hasSuffix("\n") }
      let port = python.outputSoFar.dropLast()
      var webhook = Webhook("http://127.0.0.1:\(port)/")
      webhook.secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
      let server = try await TestServer(
        isWritable: true, webhooks: [webhook],
        preparing: { (writer) throws(FieldpackError) in _ = try writer.logEdits(of: "wells") })
      let state = WebhookState(
        webhook, of: server.store.path, in: server.folder.file("state").path)
      while state.read() == nil { try await Task.sleep(for: .milliseconds(5)) }
      try await server.set("told", of: 1)
      try await python.wait(for: "the event") { python.outputSoFar.contains("\nTrue") }
      #expect(python.outputSoFar == "\(port)\nTrue fieldpack.feature.updated\n")
      await server.close()
      python.send(SIGKILL)
      _ = try? await python.result()
    }

    /// The example of Standard Webhooks.
    @Test func `the signature is that of the standard`() {
      var webhook = Webhook("http://localhost")
      webhook.secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
      #expect(
        HTTPEventSender.signature(
          of: Array(#"{"test": 2432232314}"#.utf8), id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
          time: "1614265330", key: webhook.key ?? [])
          == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
    }

    @Test(arguments: [
      ("http://192.0.2.1/hook", "without encryption"), ("ftp://localhost/", "not http or https"),
      ("nothing", "no absolute address"), ("mqtt://192.0.2.1/field", "an address of mqtts"),
      ("mqtts://ada:secret@broker.example/field", "'user' and 'secretFile'"),
      ("mqtts://broker.example/field/+", "the topic of a message"),
      ("mqtts://broker.example/field?qos=0", "no address of a broker"),
      ("mqtts:///field", "no address of a broker"),
    ])
    func `addresses that may not be told are refused`(url: String, reason: String) {
      let error = #expect(throws: FieldpackError.self) {
        try Webhook(url).check(allowsUnencrypted: false)
      }
      #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test func `a list of webhooks is read`() throws {
      let list = try Webhook.list(
        #"[{"url":"https://a.example/x","secretFile":"key","collections":["wells"],"events":["created"],"#
          + #""filter":"depth > 3"},{"url":"http://localhost:9"},"#
          + #"{"url":"mqtts://b.example/x","user":"ada","secretFile":"key"}]"#
      ) { $0 == "key" ? "secret\n" : "" }
      var first = Webhook("https://a.example/x")
      first.secret = "secret"
      first.layers = ["wells"]
      first.events = ["created"]
      first.filter = "depth > 3"
      var broker = Webhook("mqtts://b.example/x")
      (broker.user, broker.secret) = ("ada", "secret")
      #expect(list == [first, Webhook("http://localhost:9"), broker])
      for text in ["{}", "[1]", #"[{"url":1}]"#, #"[{"url":"x","secrets":"y"}]"#] {
        #expect(throws: FieldpackError.self) { try Webhook.list(text) { _ in "" } }
      }
    }

    /// RFC 4231, test cases 2 and 6.
    @Test func `HMAC is that of the standard`() {
      #expect(
        String(
          hex: HMAC.sha256(Array("what do ya want for nothing?".utf8), key: Array("Jefe".utf8)))
          == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
      #expect(
        String(
          hex: HMAC.sha256(
            Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            key: [UInt8](repeating: 0xAA, count: 131)))
          == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    }
  }
#endif
