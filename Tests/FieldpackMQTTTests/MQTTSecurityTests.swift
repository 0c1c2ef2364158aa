#if MQTT
  import Fieldpack
  import FieldpackCore
  import FieldpackField
  import FieldpackServices
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackMQTT

  @Suite(.programs, .enabled(if: TestBroker.program != nil, Comment(rawValue: TestBroker.missing)))
  struct MQTTSecurityTests {
    /// An authority of the test, and a certificate of it for a host.
    private struct Authority {
      let folder: TemporaryFolder

      init() async throws {
        folder = try TemporaryFolder()
        for name in ["ca", "other"] {
          try await openssl(
            "req", "-x509", "-subj", "/CN=\(name)", "-keyout", "\(name).key", "-out", "\(name).pem")
        }
      }

      private func openssl(_ command: String, _ arguments: String...) async throws {
        let new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        let result = try await Program.run(
          "openssl", [command] + (command == "req" ? new : []) + arguments, folder: folder.url)
        #expect(result.status == 0, "\(result)")
      }

      /// The settings of a broker that is called so.
      func broker(_ name: String) async throws -> [String] {
        _ = try folder.write("subjectAltName=\(name)\n", to: "names")
        try await openssl("req", "-subj", "/CN=broker", "-keyout", "b.key", "-out", "b.csr")
        try await openssl(
          "x509", "-req", "-in", "b.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
          "-days", "30", "-extfile", "names", "-out", "b.pem")
        return [
          "allow_anonymous true", "certfile \(folder.file("b.pem").path)",
          "keyfile \(folder.file("b.key").path)",
        ]
      }
    }

    private func first(
      _ session: BrokerSession, certificates: String?
    ) async throws -> String? {
      let client = MQTTClient(
        MQTTConfiguration(
          certificates: certificates,
          backOff: BackOff(first: .seconds(600), limit: .seconds(600))))
      var events = ClientEvents(try await client.connect(session))
      let first = await events.next()
      await client.disconnect()
      return first
    }

    @Test func `the broker's certificate and name are verified`() async throws {
      let authority = try await Authority()
      let folder = authority.folder
      let (ca, other) = (folder.file("ca.pem").path, folder.file("other.pem").path)
      let right = try await TestBroker(authority.broker("IP:127.0.0.1"), in: authority.folder)
      let session = BrokerSession("D1", at: right.port, isEncrypted: true)
      #expect(try await first(session, certificates: ca) == "connected")
      let refused = "no encrypted connection to the broker 127.0.0.1:\(right.port): it is not who"
      for unknown in [other, nil] {
        #expect(
          try await first(session, certificates: unknown)?.hasPrefix("unavailable: " + refused)
            == true)
      }
      // One that does not encrypt is no broker of that session.
      let plain = try await TestBroker()
      #expect(
        try await first(.init("D1", at: plain.port, isEncrypted: true), certificates: ca)?
          .hasPrefix("unavailable: ") == true)
    }

    @Test func `a broker of another name is refused`() async throws {
      let authority = try await Authority()
      let ca = authority.folder.file("ca.pem").path
      let broker = try await TestBroker(
        authority.broker("DNS:broker.example.org"), in: authority.folder)
      for host in ["127.0.0.1", "localhost"] {
        let session = BrokerSession("D1", at: broker.port, isEncrypted: true, host: host)
        #expect(
          try await first(session, certificates: ca)?.hasPrefix(
            "unavailable: no encrypted connection to the broker \(host):\(broker.port): it is not")
            == true)
      }
    }

    @Test func `a broker elsewhere has to encrypt`() async throws {
      let client = MQTTClient()
      let error = await #expect(throws: FieldpackError.self) {
        try await client.connect(.init("D1", at: 1883, host: "broker.example.org"))
      }
      #expect(error?.code == .permission)
    }

    @Test func `a payload of 256 MB breaks the connection`() async throws {
      let server = try RawServer { connection in
        _ = RawServer.packet(connection)
        RawServer.send([0x20, 3, 0, 0, 0], to: connection)
        // The head of a message with the longest length there is.
        RawServer.send([0x30, 0xff, 0xff, 0xff, 0x7f, 0, 2] + Array("/a".utf8), to: connection)
        let piece = [UInt8](repeating: 0, count: 1 << 20)
        while RawServer.send(piece, to: connection) {}
      }
      let session = BrokerSession("D1", at: server.port)
      let client = MQTTClient(
        MQTTConfiguration(backOff: BackOff(first: .seconds(600), limit: .seconds(600))))
      var events = ClientEvents(try await client.connect(session))
      var event = await events.next()
      // The connection may break before anybody hears that there is one.
      if event == "connected" { event = await events.next() }
      #expect(
        event
          == "invalidData: the broker 127.0.0.1:\(server.port) sent a message of more than "
          + "16777216 bytes")
      await client.disconnect()
    }

    @Test func `a broker that acknowledges nothing is left`() async throws {
      let server = try RawServer { connection in
        _ = RawServer.packet(connection)
        RawServer.send([0x20, 3, 0, 0, 0], to: connection)
        while !RawServer.packet(connection).isEmpty {}
      }
      // Half a minute of this clock is short, and the pause before the next try is long.
      let clock = FieldClock(
        wall: { .zero }, uptime: { .zero },
        sleep: { try await Task.sleep(for: $0 > .seconds(60) ? $0 : .milliseconds(300)) })
      let client = MQTTClient(
        MQTTConfiguration(
          backOff: BackOff(first: .seconds(600), limit: .seconds(600)), clock: clock))
      var events = ClientEvents(try await client.connect(.init("D1", at: server.port)))
      #expect(await events.next() == "connected")
      let reason = "the broker 127.0.0.1:\(server.port) does not acknowledge a message"
      let error = await #expect(throws: FieldpackError.self) {
        try await client.publish(BrokerMessage("/a", "."))
      }
      #expect(error?.message == reason)
      #expect(await events.next() == "unavailable: " + reason)
      await client.disconnect()
    }

    @Test func `a refusal of a message for itself is told apart`() async throws {
      let server = try RawServer { connection in
        _ = RawServer.packet(connection)
        RawServer.send([0x20, 3, 0, 0, 0], to: connection)
        for reason: UInt8 in [0x90, 0x87] {
          // The topic has two bytes, and the number of the message follows.
          let message = RawServer.packet(connection)
          guard message.count > 7 else { return }
          RawServer.send([0x40, 4, message[6], message[7], reason, 0], to: connection)
        }
        _ = RawServer.packet(connection)
      }
      let client = MQTTClient()
      var events = ClientEvents(try await client.connect(.init("D1", at: server.port)))
      #expect(await events.next() == "connected")
      for code in [FieldpackError.Code.invalidArgument, .permission] {
        let error = await #expect(throws: FieldpackError.self) {
          try await client.publish(BrokerMessage("/a", ".", .atLeastOnce))
        }
        #expect(error?.code == code)
      }
      await client.disconnect()
    }

    @Test func `a broker of MQTT 3.1.1 is spoken to in that`() async throws {
      let levels = Locked<[UInt8]>([])
      let server = try RawServer { connection in
        let connect = RawServer.packet(connection)
        guard connect.count > 8 else { return }
        levels.withLock { $0.append(connect[8]) }
        // "Unacceptable protocol version", or welcome.
        RawServer.send([0x20, 2, 0, connect[8] == 5 ? 1 : 0], to: connection)
        _ = RawServer.packet(connection)
      }
      let client = MQTTClient(
        MQTTConfiguration(backOff: BackOff(first: .milliseconds(5), limit: .milliseconds(5))))
      var events = ClientEvents(try await client.connect(.init("D1", at: server.port)))
      #expect(await events.next()?.contains("refused the connection") == true)
      #expect(await events.next() == "connected")
      await client.disconnect()
      #expect(levels.withLock { $0 } == [5, 4])
    }
  }
#endif
