#if MQTT
  import FieldpackCore
  import FieldpackField
  import FieldpackServices

  @testable import FieldpackMQTT

  /// A backend at the other end of a broker, which answers in its own messages.
  struct TestBackend: Sendable {
    /// Gives the payload of the reply to a request; `nil` where no reply is sent.
    typealias Answer = @Sendable (_ request: BackendMessage) throws -> String?

    let client = MQTTClient(
      MQTTConfiguration(backOff: BackOff(first: .milliseconds(5), limit: .milliseconds(20))))
    let generation: WireGeneration
    private let answer: Answer

    init(_ generation: WireGeneration, _ answer: @escaping Answer) {
      (self.generation, self.answer) = (generation, answer)
    }

    /// Waits until the broker takes what the backend sends.
    func untilConnected() async throws {
      while (try? await send(.notifications, "{}", to: "/ping")) == nil {
        try await Task.sleep(for: .milliseconds(1))
      }
    }

    /// Answers until the client is disconnected, also after the broker was away.
    func run(at port: Int) async throws {
      let topics = ["/config", "/config/register", "/store/wells", "/store/field"]
      let stream = try await client.connect(.init("BACKEND", at: port, topics: topics))
      Task {
        for await event in stream {
          if case .message(let message) = event { try? await reply(to: message) }
        }
      }
      try await untilConnected()
    }

    private func reply(to message: BrokerMessage) async throws {
      var generation = generation
      let request = try BackendMessage(message.bytes, &generation)
      guard let topic = request.replyTo, let payload = try answer(request) else { return }
      let reply = BackendMessage(correlation: request.correlation, payload: payload)
      try await client.publish(BrokerMessage(topic: topic, bytes: reply.bytes(self.generation)))
    }

    func send(_ action: BackendAction, _ payload: String, to topic: String) async throws {
      let message = BackendMessage(action: action, payload: payload)
      try await client.publish(BrokerMessage(topic: topic, bytes: message.bytes(generation)))
    }
  }
#endif
