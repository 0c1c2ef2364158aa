#if MQTT
  import Fieldpack
  import FieldpackCore
  import FieldpackField
  import FieldpackServices
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackMQTT

  /// A backend at the other end of a broker, which answers in its own messages.
  private struct TestBackend: Sendable {
    let client = MQTTClient()
    let generation: WireGeneration
    private let connections = Signal()

    init(_ generation: WireGeneration) { self.generation = generation }

    func untilConnected() async { for await _ in connections.stream { return } }

    func run(at port: Int, config: String) async throws {
      let topics = ["/config", "/config/register", "/store/wells"]
      let stream = try await client.connect(.init("BACKEND", at: port, topics: topics))
      Task {
        for await event in stream {
          if case .connected = event { connections.give() }
          if case .message(let message) = event { try? await answer(message, config) }
        }
      }
      await untilConnected()
    }

    private func answer(_ message: BrokerMessage, _ config: String) async throws {
      var generation = generation
      let request = try BackendMessage(message.bytes, &generation)
      guard let topic = request.replyTo else { return }
      let payload = request.action == .configFull ? config : #"{"result":true,"error":null}"#
      let reply = BackendMessage(correlation: request.correlation, payload: payload)
      try await client.publish(BrokerMessage(topic: topic, bytes: reply.bytes(self.generation)))
    }

    func send(_ action: BackendAction, _ payload: String, to topic: String) async throws {
      let message = BackendMessage(action: action, payload: payload)
      try await client.publish(BrokerMessage(topic: topic, bytes: message.bytes(generation)))
    }
  }

  private struct Network: Reachability {
    let broadcast = Broadcast<NetworkPath>(capacity: 8, present: .wan)
    var paths: AsyncStream<NetworkPath> { broadcast.subscribe().stream }
  }

  private struct Nobody: SignedIn {
    var user: String? { nil }
    func token() async throws(FieldpackError) -> String? { nil }
  }

  @Suite(.programs, .enabled(if: TestBroker.program != nil, TestBroker.missing))
  struct BackendOverMQTTTests {
    @Test(arguments: WireGeneration.allCases)
    func `register, config, edits and a broken flood`(generation: WireGeneration) async throws {
      let broker = try await TestBroker()
      let server = TestBackend(generation)
      try await server.run(
        at: broker.port,
        config: #"{"stores": [{"id": "wells", "store_type": "gpkg", "uri": "wells.gpkg"}]}"#)
      let folder = try TemporaryFolder()
      let data = DataService()
      let configs = ConfigService([try folder.write("{}", to: "own.scfg")], data: data)
      try await configs.start()
      let remote = RemoteConfig(
        uri: "http://localhost",
        broker: .init(isEncrypted: false, host: "127.0.0.1", port: broker.port))
      let device = MQTTClient(
        MQTTConfiguration(backOff: BackOff(first: .milliseconds(5), limit: .milliseconds(20))))
      let network = Network()
      let backend = try BackendService(
        remote, broker: device, signedIn: Nobody(), configs: configs, reachability: network,
        folder: folder.file("remote"), device: "D1")
      var failures = backend.events().makeAsyncIterator()
      try await backend.start()
      for await isReady in backend.isReady where isReady { break }
      #expect(data.workspace.members.map(\.id) == ["wells"])

      let feature = Feature(id: 1, geometry: .point(x: 1, y: 2))
      let edits = (1...20).map {
        OutgoingEdit(
          id: "E\($0)", store: "wells", layer: "well", operation: .insert, feature: feature)
      }
      let answers = await backend.transport.send(edits)
      #expect(answers.count { if case .accepted = $0 { true } else { false } } == 20)

      var notifications = backend.notifications.makeAsyncIterator()
      for number in 0..<200 {
        let bytes: [UInt8] = [0x08, UInt8(number), 0x22, 0x7f, 0xff]
        try await server.client.publish(
          BrokerMessage(topic: "/notify", bytes: bytes, quality: .atLeastOnce))
      }
      try await server.send(.notifications, #"{"title":"T"}"#, to: "/notify/D1")
      #expect(await notifications.next(isolation: nil) == BackendNotification(title: "T"))
      var count = 0
      while count < 200, let batch = await failures.next(isolation: nil) {
        if case .events(let events) = batch {
          count += events.count { if case .failed = $0 { true } else { false } }
        }
      }
      #expect(count == 200)

      // The broker forgets all. The device comes back when the other end is there to answer.
      try await broker.kill()
      for await isReady in backend.isReady where !isReady { break }
      network.broadcast.send(.none)
      try await broker.start()
      await server.untilConnected()
      network.broadcast.send(.wifi)
      for await isReady in backend.isReady where isReady { break }
      await backend.stop()
      await server.client.disconnect()
      await data.close()
    }
  }
#endif
