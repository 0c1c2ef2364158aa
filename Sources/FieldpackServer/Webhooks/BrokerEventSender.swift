import FieldpackCore
import FieldpackField
import FieldpackServices

/// Publishes events to a broker of MQTT. The broker takes an event by its acknowledgement (QoS 1).
///
/// A message is a CloudEvent in structured mode. The newest state of a device is retained, so that whoever
/// subscribes later gets it at once.
actor BrokerEventSender: EventSender {
  private let target: BrokerTarget
  private let broker: any MessageBroker
  private let session: BrokerSession
  private var listening: Task<Void, Never>?
  /// Why there is no connection.
  private let failure = Locked<String?>(nil)

  init(_ webhook: Webhook, _ target: BrokerTarget, by broker: any MessageBroker) {
    self.target = target
    self.broker = broker
    let credentials = webhook.user.map {
      BrokerCredentials(user: $0, password: webhook.secret ?? "")
    }
    // A broker of 3.1.1 need not take more than 23 letters and digits.
    let id = "fieldpack" + RandomID.make().filter { $0 != "-" }.prefix(14)
    session = BrokerSession(address: target.broker, clientID: id) { () in credentials }
  }

  func send(_ event: LiveEvent) async -> EventRefusal? {
    do throws(FieldpackError) {
      if listening == nil { try await connect() }
      var message = BrokerMessage(
        topic: target.topic(of: event), bytes: event.json(), quality: .atLeastOnce)
      message.isRetained = event.kind == .position
      message.contentType = "application/cloudevents+json; charset=utf-8"
      try await broker.publish(message)
      return nil
    } catch {
      let isOfEvent = error.code == .invalidArgument
      let reason = isOfEvent ? error.message : failure.withLock { $0 } ?? error.message
      return EventRefusal(
        reason: reason, isFinal: error.code == .unsupported, isOfEvent: isOfEvent)
    }
  }

  /// Comes back once the broker has answered or cannot be reached; the connection is made again from then
  /// on whenever it breaks.
  private func connect() async throws(FieldpackError) {
    let events = try await broker.connect(session)
    let failure = failure
    for await event in events {
      Self.note(event, in: failure)
      break
    }
    listening = Task {
      for await event in events { Self.note(event, in: failure) }
    }
  }

  private static func note(_ event: BrokerEvent, in failure: Locked<String?>) {
    switch event {
    case .connected: failure.withLock { $0 = nil }
    case .disconnected(let error): failure.withLock { $0 = error.message }
    case .message, .missed: break
    }
  }

  func close() async {
    await broker.disconnect()
    listening?.cancel()
    await listening?.value
    listening = nil
  }
}
