import Fieldpack
import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackServices
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// What brokers of MQTT are told, and where. Tests with a real broker stand beside the command `serve`.
  @Suite struct BrokerWebhookTests {
    /// A broker that keeps what it takes, and refuses the first messages.
    private actor KeptBroker: MessageBroker {
      private(set) var messages: [BrokerMessage] = []
      private(set) var sessions: [BrokerSession] = []
      private var refusals: Int
      private var events: AsyncStream<BrokerEvent>.Continuation?

      private let longest: Int

      init(refusing refusals: Int = 0, longest: Int = .max) {
        (self.refusals, self.longest) = (refusals, longest)
      }

      func connect(
        _ session: BrokerSession
      ) async throws(FieldpackError) -> AsyncStream<BrokerEvent> {
        sessions.append(session)
        let (stream, events) = AsyncStream.makeStream(of: BrokerEvent.self)
        events.yield(.connected)
        self.events = events
        return stream
      }

      func publish(_ message: BrokerMessage) async throws(FieldpackError) {
        if refusals > 0 {
          refusals -= 1
          throw FieldpackError(.unavailable, "not now")
        }
        guard message.bytes.count <= longest else {
          throw FieldpackError(.invalidArgument, "too long")
        }
        messages.append(message)
      }

      func disconnect() async { events?.finish() }

      func messages(_ count: Int) async throws -> [BrokerMessage] {
        while messages.count < count { try await Task.sleep(for: .milliseconds(5)) }
        return messages
      }
    }

    private func server(
      _ webhook: Webhook, _ broker: KeptBroker
    ) async throws -> TestServer {
      var positions = PositionOptions()
      positions.distance = 1
      let server = try await TestServer(
        isWritable: true, positions: positions, webhooks: [webhook],
        configure: { options, _ in options.broker = { () in broker } },
        preparing: { (writer) throws(FieldpackError) in _ = try writer.logEdits(of: "wells") })
      let state = WebhookState(
        webhook, of: server.store.path, in: server.folder.file("state").path)
      while state.read() == nil { try await Task.sleep(for: .milliseconds(5)) }
      return server
    }

    @Test func `events go to the topics of their layers, in order`() async throws {
      let broker = KeptBroker(refusing: 2)
      var webhook = Webhook("mqtt://127.0.0.1/field/a%20b/")
      (webhook.user, webhook.secret) = ("ada", "secret")
      let server = try await server(webhook, broker)
      for index in 1...3 { try await server.set("well \(index)", of: Int64(index)) }
      let messages = try await broker.messages(3)
      #expect(messages.map(\.topic) == Array(repeating: "field/a b/wells/updated", count: 3))
      #expect(Set(messages.map(\.quality)) == [.atLeastOnce])
      #expect(Set(messages.map(\.isRetained)) == [false])
      #expect(
        Set(messages.map(\.contentType)) == ["application/cloudevents+json; charset=utf-8"])
      let names = messages.map { message in
        let json = try? JSONValueReader.read(String(decoding: message.bytes, as: UTF8.self))
        return json?["data"]?["properties"]?["name"]?.string
      }
      #expect(names == ["well 1", "well 2", "well 3"])
      await server.close()
      // One connection serves all tries.
      let sessions = await broker.sessions
      #expect(sessions.count == 1)
      #expect(sessions[0].address == .init(isEncrypted: false, host: "127.0.0.1", port: 1883))
      #expect(sessions[0].clientID.utf8.count == 23)
      #expect(
        try await sessions[0].credentials() == BrokerCredentials(user: "ada", password: "secret"))
    }

    @Test func `the newest state of each device is retained`() async throws {
      let broker = KeptBroker()
      var webhook = Webhook("mqtt://localhost")
      webhook.events = ["moved", "position"]
      let server = try await server(webhook, broker)
      var told: [[String]] = []
      for (second, longitude) in [(10, 7), (20, 8)] {
        for device in ["car", "a/b"] {
          let line =
            #"{"lon":\#(longitude),"lat":50,"time":"2024-05-01T10:00:\#(second)Z","device":"\#(device)"}"#
          #expect(try await server.post("/fixes", "application/json", line).status == 200)
          // The event of a move and the state go out in either order.
          let count = told.joined().count + (second == 10 ? 1 : 2)
          let messages = try await broker.messages(count)
          #expect(messages.allSatisfy { $0.isRetained == ($0.topic.contains("position")) })
          told.append(messages[told.joined().count...].map(\.topic).sorted())
        }
      }
      let states = ["monitor_state/position/car", "monitor_state/position/a%2Fb"]
      #expect(
        told == [
          [states[0]], [states[1]], ["detection/moved", states[0]], ["detection/moved", states[1]],
        ])
      await server.close()
    }

    private static let targets: [(url: String, target: String?)] = [
      ("mqtt://127.0.0.1/field", "127.0.0.1:1883 field"),
      ("mqtts://Broker.example:9000/a/b%2Fc/", "broker.example:9000 encrypted a/b/c"),
      ("MQTTS://[::1]", "[::1]:8883 encrypted "), ("mqtt://[::1]:80/", "[::1]:80 "),
      ("https://broker.example/field", nil),
    ]

    @Test(arguments: targets)
    func `an address names a broker and the beginning of its topics`(
      url: String, target: String?
    ) throws {
      let found = try BrokerTarget(url).map { found in
        "\(found.broker.host):\(found.broker.port) "
          + (found.broker.isEncrypted ? "encrypted " : "") + found.prefix
      }
      #expect(found == target)
    }

    @Test func `names of layers make no other topics`() throws {
      let target = try #require(try BrokerTarget("mqtt://localhost/field"))
      let topics = ["a/b", "+", "#", "a b", "..", "$x"].map { name in
        target.topic(of: LiveEvent(kind: .created, id: "1", layer: LayerID(name)))
      }
      #expect(
        topics == ["a%2Fb", "%2B", "%23", "a%20b", "~..", "%24x"].map { "field/\($0)/created" })
    }

    @Test func `layers about people are told only where they are named`() throws {
      let layers: [LayerID] = ["wells", "bio_item", "BIO_person"]
      var webhook = Webhook("mqtt://localhost")
      let all = try webhook.query()
      #expect(layers.map { all.asks(.created, in: $0) } == [true, false, false])
      webhook.layers = ["bio_item"]
      let named = try webhook.query()
      #expect(layers.map { named.asks(.created, in: $0) } == [false, true, false])
    }

    @Test func `an event that the broker refuses for itself is left out`() async throws {
      let broker = KeptBroker(longest: 5000)
      let server = try await server(Webhook("mqtt://localhost"), broker)
      try await server.set(String(repeating: "x", count: 9000), of: 1)
      try await server.set("short", of: 2)
      let messages = try await broker.messages(1)
      let json = try JSONValueReader.read(String(decoding: messages[0].bytes, as: UTF8.self))
      #expect(json["data"]?["properties"]?["name"] == "short")
      await server.close()
    }

    @Test func `what cannot be told is refused before the server listens`() async throws {
      var position = Webhook("http://localhost/hook")
      position.events = ["position"]
      var stranger = Webhook("https://hook.example/")
      stranger.user = "ada"
      var nobody = Webhook("mqtt://localhost/field")
      nobody.secret = "secret"
      let cases: [(Webhook, String)] = [
        (position, "goes to brokers only"), (stranger, "only a webhook of a broker has a 'user'"),
        (nobody, "'user', which is missing"),
        (Webhook("mqtt://localhost/field"), "Try: set the option 'broker'"),
      ]
      for (webhook, reason) in cases {
        let error = await #expect(throws: FieldpackError.self) {
          try await TestServer(webhooks: [webhook])
        }
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
      }
    }
  }
#endif
