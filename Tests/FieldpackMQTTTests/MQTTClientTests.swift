#if MQTT
  import Fieldpack
  import FieldpackCore
  import FieldpackField
  import FieldpackServices
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackMQTT

  /// The events of a client, as a test waits for them.
  struct ClientEvents {
    private var iterator: AsyncStream<BrokerEvent>.Iterator

    init(_ stream: AsyncStream<BrokerEvent>) { iterator = stream.makeAsyncIterator() }

    /// The next event in few words.
    mutating func next(isolation: isolated (any Actor)? = #isolation) async -> String? {
      switch await iterator.next(isolation: isolation) {
      case .connected: "connected"
      case .disconnected(let error): "\(error.code): \(error.message)"
      case .missed(let count): "missed \(count)"
      case .message(let message):
        "\(message.topic) \(String(decoding: message.bytes.prefix(20), as: UTF8.self)) "
          + "\(message.quality.rawValue)"
      case nil: nil
      }
    }

    /// Waits for an event, and gives those on the way.
    mutating func until(
      _ wanted: String, isolation: isolated (any Actor)? = #isolation
    ) async -> [String] {
      var before: [String] = []
      while let event = await next(), event != wanted { before.append(event) }
      return before
    }
  }

  extension BrokerSession {
    init(
      _ id: String, at port: Int, isEncrypted: Bool = false, host: String = "127.0.0.1",
      will: BrokerMessage? = nil, topics: [String] = [], _ credentials: BrokerCredentials? = nil
    ) {
      self.init(
        address: .init(isEncrypted: isEncrypted, host: host, port: port), clientID: id, will: will,
        topics: topics
      ) { () throws(FieldpackError) in credentials }
    }
  }

  extension BrokerMessage {
    init(_ topic: String, _ text: String, _ quality: DeliveryQuality = .exactlyOnce) {
      self.init(topic: topic, bytes: Array(text.utf8), quality: quality)
    }
  }

  @Suite(.programs, .enabled(if: TestBroker.program != nil, Comment(rawValue: TestBroker.missing)))
  struct MQTTClientTests {
    private func client(_ change: (inout MQTTConfiguration) -> Void = { _ in }) -> MQTTClient {
      var configuration = MQTTConfiguration(
        backOff: BackOff(first: .milliseconds(5), limit: .milliseconds(20)))
      change(&configuration)
      return MQTTClient(configuration)
    }

    @Test func `messages of each quality come back, in their order`() async throws {
      let broker = try await TestBroker()
      let client = client()
      var events = ClientEvents(
        try await client.connect(.init("D1", at: broker.port, topics: ["/a", "/b"])))
      #expect(await events.next() == "connected")
      for quality in DeliveryQuality.allCases {
        try await client.publish(BrokerMessage("/b", "text", quality))
        #expect(await events.next() == "/b text \(quality.rawValue)")
      }
      for number in 0..<100 { try await client.publish(BrokerMessage("/a", "\(number)")) }
      for number in 0..<100 { #expect(await events.next() == "/a \(number) 2") }
      await client.disconnect()
      #expect(await events.next() == nil)
      let error = await #expect(throws: FieldpackError.self) {
        try await client.publish(BrokerMessage("/a", "late"))
      }
      #expect(error?.code == .unavailable)
    }

    @Test func `after a broken connection all topics are subscribed to again`() async throws {
      let broker = try await TestBroker()
      let client = client()
      var events = ClientEvents(
        try await client.connect(.init("D1", at: broker.port, topics: ["/a", "/b"])))
      #expect(await events.next() == "connected")
      for _ in 0..<3 {
        try await broker.kill()
        #expect(await events.next()?.hasPrefix("unavailable: ") == true)
        try await broker.start()
        _ = await events.until("connected")
        for topic in ["/a", "/b"] {
          try await client.publish(BrokerMessage(topic, "again"))
          #expect(await events.next() == "\(topic) again 2")
        }
      }
      await client.disconnect()
    }

    @Test func `a message that the broker does not get is told`() async throws {
      // It takes the connection, and acknowledges nothing.
      let server = try RawServer { connection in
        _ = RawServer.packet(connection)
        RawServer.send([0x20, 3, 0, 0, 0], to: connection)
        _ = RawServer.packet(connection)
      }
      let client = client()
      var events = ClientEvents(try await client.connect(.init("D1", at: server.port)))
      #expect(await events.next() == "connected")
      let error = await #expect(throws: FieldpackError.self) {
        try await client.publish(BrokerMessage("/a", "lost"))
      }
      #expect(error?.code == .unavailable)
      await client.disconnect()
    }

    @Test func `the last will is sent for who breaks off, not for who leaves`() async throws {
      let broker = try await TestBroker()
      let (watching, leaving) = (client(), client())
      let breaking = client { $0.backOff = BackOff(first: .seconds(600), limit: .seconds(600)) }
      var events = ClientEvents(
        try await watching.connect(.init("W", at: broker.port, topics: ["/will", "/end"])))
      #expect(await events.next() == "connected")
      for (id, client) in [("L", leaving), ("B", breaking)] {
        let will = BrokerMessage("/will", "\(id) offline")
        var others = ClientEvents(
          try await client.connect(.init(id, at: broker.port, will: will)))
        #expect(await others.next() == "connected")
      }
      await leaving.disconnect()
      // Another connection of the same id ends the first.
      let taking = client()
      var taken = ClientEvents(try await taking.connect(.init("B", at: broker.port)))
      #expect(await taken.next() == "connected")
      try await watching.publish(BrokerMessage("/end", "."))
      #expect(await events.next() == "/will B offline 2")
      #expect(await events.next() == "/end . 2")
      for client in [watching, breaking, taking] { await client.disconnect() }
    }

    @Test func `a login that is refused is told, and tried again`() async throws {
      let folder = try TemporaryFolder()
      let passwords = folder.file("passwords").path
      let made = try await Program.run(
        "mosquitto_passwd", ["-c", "-b", passwords, "token", "anypass"])
      #expect(made.status == 0)
      let broker = try await TestBroker(["password_file \(passwords)"], in: folder)
      let (right, wrong) = (client(), client())
      var refused = ClientEvents(
        try await wrong.connect(
          .init("W", at: broker.port, .init(user: "token", password: "other"))))
      let reason =
        "permission: the broker 127.0.0.1:\(broker.port) refused the connection: Not authorized"
      for _ in 0..<2 { #expect(await refused.next() == reason) }
      var taken = ClientEvents(
        try await right.connect(
          .init("R", at: broker.port, .init(user: "token", password: "anypass"))))
      #expect(await taken.next() == "connected")
      for client in [right, wrong] { await client.disconnect() }
    }

    @Test func `topics with wildcards or control characters are not sent`() async throws {
      let broker = try await TestBroker()
      let client = client()
      var events = ClientEvents(try await client.connect(.init("D1", at: broker.port)))
      #expect(await events.next() == "connected")
      let long = String(repeating: "x", count: 65_536)
      for topic in ["/a/+", "#", "/a\u{0}b", "\u{1f}", "", long] {
        let error = await #expect(throws: FieldpackError.self) {
          try await client.publish(BrokerMessage(topic, ""))
        }
        #expect(error?.code == .invalidArgument)
      }
      try await client.publish(BrokerMessage("/fine", ""))
      await client.disconnect()
    }

    @Test func `messages that are too long are neither sent nor taken`() async throws {
      let broker = try await TestBroker()
      let (strict, free) = (client { $0.maximumLength = 1000 }, client())
      var events = ClientEvents(
        try await strict.connect(.init("D1", at: broker.port, topics: ["/a"])))
      #expect(await events.next() == "connected")
      var others = ClientEvents(try await free.connect(.init("D2", at: broker.port)))
      #expect(await others.next() == "connected")
      for count in [1001, 1 << 20, 1000] {
        try await free.publish(
          BrokerMessage(
            "/a",
            String(repeating: "\(count)", count: 1)
              + String(repeating: "x", count: count - "\(count)".count)))
      }
      #expect(await events.next() == "/a 1000xxxxxxxxxxxxxxxx 2")
      let error = await #expect(throws: FieldpackError.self) {
        try await strict.publish(BrokerMessage("/a", String(repeating: "x", count: 1001)))
      }
      #expect(error?.message == "the message has 1001 bytes, more than the limit of 1000")
      for client in [strict, free] { await client.disconnect() }
    }

    @Test func `a flood drops the oldest messages, and tells how many`() async throws {
      let broker = try await TestBroker(["allow_anonymous true", "max_queued_messages 0"])
      let (slow, fast) = (client { $0.maximumWaiting = 16 }, client())
      var events = ClientEvents(
        try await slow.connect(.init("D1", at: broker.port, topics: ["/flood", "/end"])))
      #expect(await events.next() == "connected")
      var others = ClientEvents(
        try await fast.connect(.init("D2", at: broker.port, topics: ["/end"])))
      #expect(await others.next() == "connected")
      for number in 0..<1000 {
        try await fast.publish(BrokerMessage("/flood", "\(number)", .atMostOnce))
      }
      try await fast.publish(BrokerMessage("/end", "."))
      #expect(await others.next() == "/end . 2")
      let seen = await events.until("/end . 2")
      let missed = seen.compactMap { $0.hasPrefix("missed ") ? Int($0.dropFirst(7)) : nil }
      let messages = seen.filter { $0.hasPrefix("/flood ") }
      #expect(missed.reduce(0, +) + messages.count == 1000)
      #expect(messages.last == "/flood 999 0")
      for client in [slow, fast] { await client.disconnect() }
    }
  }
#endif
