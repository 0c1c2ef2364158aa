public import FieldpackCore
import FieldpackField

extension BackendService {
  /// Asks the broker for a sign of life.
  ///
  /// - Throws: `.unavailable` where it gives none.
  public func ping() async throws(FieldpackError) {
    try await publish(nil, nil, to: BackendTopics.ping)
  }

  /// Tells the backend where notifications of other services than its own reach this device.
  ///
  /// - Throws: `.unavailable` where the broker does not take it.
  public func update(notificationToken: String) async throws(FieldpackError) {
    try await publish(
      .deviceInfo, await registration(notificationToken: notificationToken),
      to: BackendTopics.deviceInfo)
  }

  /// Sends a message that nobody replies to.
  func publish(
    _ action: BackendAction?, _ payload: String?, to topic: String
  ) async throws(FieldpackError) {
    try await publish(BackendMessage(action: action, payload: payload), to: topic)
  }

  /// Sends a message and waits for its reply.
  ///
  /// - Throws: `.unavailable` where there is no connection, it breaks, or no reply comes in time.
  func request(
    _ action: BackendAction, _ payload: String?, to topic: String
  ) async throws(FieldpackError) -> BackendMessage {
    guard isConnected else {
      throw FieldpackError(.unavailable, "there is no connection to the backend")
    }
    lastRequest += 1
    let number = lastRequest
    let (replies, continuation) = AsyncStream.makeStream(
      of: Result<BackendMessage, FieldpackError>.self, bufferingPolicy: .bufferingOldest(1))
    waiting[number] = continuation
    let (clock, limit) = (clock, replyLimit)
    let ending = Task {
      do throws(CancellationError) { try await clock.sleep(for: limit) } catch { return }
      continuation.yield(
        .failure(
          FieldpackError(
            .unavailable,
            "the backend gave no reply to \(action) within \(limit.components.seconds) s")))
    }
    let message = BackendMessage(
      correlation: number, replyTo: topics.replies, action: action, payload: payload)
    // The limit holds for the sending, too.
    let sending = Task {
      do throws(FieldpackError) { try await publish(message, to: topic) } catch {
        continuation.yield(.failure(error))
      }
    }
    defer {
      waiting[number] = nil
      ending.cancel()
      sending.cancel()
    }
    for await reply in replies { return try reply.get() }
    throw FieldpackError(.interrupted, "the request to the backend was given up")
  }

  private func publish(
    _ message: BackendMessage, to topic: String
  ) async throws(FieldpackError) {
    var message = message
    message.token = try await signedIn.token()
    message.time = clock.now
    try await broker.publish(BrokerMessage(topic: topic, bytes: message.bytes(generation)))
  }

  /// Gives a reply to who waits for it.
  ///
  /// - Throws: `.invalidData` where nobody does, as for a reply that comes late or twice.
  func answer(_ message: BackendMessage) throws(FieldpackError) {
    guard let number = message.correlation,
      let continuation = waiting.removeValue(forKey: number)
    else {
      let number = message.correlation.map { "number \($0)" } ?? "no number"
      throw FieldpackError(
        .invalidData, "a reply of the backend came late, twice or unasked (it has \(number))")
    }
    continuation.yield(.success(message))
    continuation.finish()
  }
}
