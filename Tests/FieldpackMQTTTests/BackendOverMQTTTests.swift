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
  struct BackendOverMQTTTests {
    @Test(arguments: WireGeneration.allCases)
    func `register, config, edits and a broken flood`(generation: WireGeneration) async throws {
      let broker = try await TestBroker()
      let config = #"{"stores": [{"id": "wells", "store_type": "gpkg", "uri": "wells.gpkg"}]}"#
      let server = TestBackend(generation) { request in
        request.action == .configFull ? config : #"{"result":true,"error":null}"#
      }
      try await server.run(at: broker.port)
      let folder = try TemporaryFolder()
      let device = try await TestDevice(in: folder, broker)
      let (backend, network) = (device.backend, device.network)
      var failures = backend.events().makeAsyncIterator()
      try await backend.start()
      await device.untilReady()
      #expect(device.data.workspace.members.map(\.id) == ["wells"])

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
      try await server.untilConnected()
      network.broadcast.send(.wifi)
      await device.untilReady()
      await device.stop()
      await server.client.disconnect()
    }
  }
#endif
