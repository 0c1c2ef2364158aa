import FieldpackCore
import FieldpackField

@testable import FieldpackServices

/// A broker with a backend behind it that answers as a script says.
final class FakeBroker: MessageBroker {
  /// What the backend sends when it gets a message.
  typealias Script = @Sendable (_ topic: String, _ message: BackendMessage) -> [BrokerMessage]

  private struct State {
    var sink: AsyncStream<BrokerEvent>.Continuation?
    var session: BrokerSession?
    var sent: [(topic: String, message: BackendMessage, generation: WireGeneration)] = []
    var connects = 0
    var waiting: [(Int, CheckedContinuation<Void, Never>)] = []
  }

  private let state = Locked(State())
  private let script: Script

  init(_ script: @escaping Script) { self.script = script }

  var session: BrokerSession? { state.withLock { $0.session } }
  var sent: [(topic: String, message: BackendMessage, generation: WireGeneration)] {
    state.withLock { $0.sent }
  }
  /// The topics and actions of what was sent.
  var lines: [String] { sent.map { "\($0.topic) \($0.message.action?.description ?? "-")" } }
  var isConnected: Bool { state.withLock { $0.sink != nil } }

  func connect(_ session: BrokerSession) async throws(FieldpackError) -> AsyncStream<BrokerEvent> {
    let (stream, sink) = AsyncStream.makeStream(of: BrokerEvent.self)
    state.withLock { state in
      (state.sink, state.session) = (sink, session)
      state.connects += 1
    }
    do throws(FieldpackError) {
      _ = try await session.credentials()
      sink.yield(.connected)
    } catch { sink.yield(.disconnected(error)) }
    return stream
  }

  func publish(_ message: BrokerMessage) async throws(FieldpackError) {
    var generation = WireGeneration.numbered
    let read = try BackendMessage(message.bytes, &generation)
    let told = generation
    let waiting = state.withLock { state in
      state.sent.append((message.topic, read, told))
      let due = state.waiting.filter { $0.0 <= state.sent.count }
      state.waiting.removeAll { $0.0 <= state.sent.count }
      return due
    }
    for (_, continuation) in waiting { continuation.resume() }
    for reply in script(message.topic, read) { give(.message(reply)) }
  }

  func disconnect() async {
    let sink = state.withLock { state in
      defer { state.sink = nil }
      return state.sink
    }
    sink?.finish()
  }

  func give(_ event: BrokerEvent) { state.withLock { $0.sink }?.yield(event) }

  /// Sends as the backend does.
  func give(
    _ action: BackendAction?, _ payload: String?, to topic: String,
    as generation: WireGeneration = .numbered
  ) {
    let message = BackendMessage(action: action, payload: payload)
    give(.message(BrokerMessage(topic: topic, bytes: message.bytes(generation))))
  }

  /// Waits until so many messages were sent.
  func untilSent(_ count: Int) async {
    await withCheckedContinuation { continuation in
      let isDue = state.withLock { state in
        if state.sent.count < count { state.waiting.append((count, continuation)) }
        return state.sent.count >= count
      }
      if isDue { continuation.resume() }
    }
  }
}

extension BackendMessage {
  /// A reply to the message.
  func reply(
    _ payload: String?, number: Int64? = nil, as generation: WireGeneration = .numbered
  ) -> BrokerMessage {
    let reply = BackendMessage(correlation: number ?? correlation, action: action, payload: payload)
    return BrokerMessage(topic: replyTo ?? "", bytes: reply.bytes(generation))
  }
}

/// The network as a test switches it.
struct FakeNetwork: Reachability {
  private let broadcast: Broadcast<NetworkPath>

  init(_ path: NetworkPath) { broadcast = Broadcast(capacity: 8, present: path) }

  var paths: AsyncStream<NetworkPath> { broadcast.subscribe().stream }

  func set(_ path: NetworkPath) { broadcast.send(path) }
}
