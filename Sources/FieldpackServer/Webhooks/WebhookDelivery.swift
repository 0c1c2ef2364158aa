import FieldpackCore
import FieldpackField
import FieldpackHTTP

/// Sends all events to one webhook, one after the other, each until the receiver has taken it.
///
/// A receiver takes an event by a status of 200 to 299. After a kill of the server, the last event may be
/// sent again, with the same `webhook-id`.
struct WebhookDelivery: Sendable {
  let webhook: Webhook
  let hub: EventHub
  let state: WebhookState
  let client: HTTPClient
  var clock = FieldClock.system
  var backOff = BackOff(first: .seconds(1), limit: .seconds(300), jitter: 0.3)
  let logger: Logger

  /// How long a receiver may fail before its webhook is switched off, in milliseconds. The next start of the
  /// server switches the webhook on again.
  static let patience: Int64 = 86_400_000

  /// Why the delivery ended.
  enum End: Hashable, Sendable {
    case closed
    /// The receiver failed for a day, or answered with the status 410.
    case switchedOff
  }

  /// Goes on until the hub is closed, the task is cancelled or the receiver has failed for a day.
  func run() async throws(FieldpackError) -> End {
    let (channel, follower) = try await hub.follow(try webhook.query())
    defer { channel.leave(follower) }
    var kept = state.read() ?? WebhookState.Kept(place: channel.position.place)
    // A day begins anew with each start of the server.
    kept.failingSince = nil
    try state.write(kept)
    while !Task.isCancelled {
      let missed = try await hub.missed(after: kept.place, in: channel)
      for event in missed.events {
        guard let place = event.place else { continue }
        guard try await tell(event, &kept) else { return Task.isCancelled ? .closed : .switchedOff }
        kept = WebhookState.Kept(place: place)
        try state.write(kept)
      }
      if kept.place != missed.place {
        kept.place = missed.place
        try state.write(kept)
      }
      if let next = missed.next, await !wait(for: next, of: channel, follower) { return .closed }
    }
    return .closed
  }

  /// Waits until the channel has a chunk of that number; false at its end.
  private func wait(for number: Int, of channel: EventChannel, _ follower: Int) async -> Bool {
    await withCheckedContinuation { continuation in
      let taken = channel.take(number, for: follower) { { continuation.resume(returning: true) } }
      switch taken {
      case .nothing: break
      case .end: continuation.resume(returning: false)
      case .chunk, .lost: continuation.resume(returning: true)
      }
    }
  }

  // MARK: One event

  /// Tries until the receiver has taken the event; false where the tries end without that.
  private func tell(
    _ event: LiveEvent, _ kept: inout WebhookState.Kept
  ) async throws(FieldpackError) -> Bool {
    let body = event.json()
    var failures = 0
    while !Task.isCancelled {
      let (reason, isFinal, asked) = await send(body, event.id)
      guard let reason else { return true }
      let now = clock.now
      if kept.failingSince == nil {
        kept.failingSince = now
        try state.write(kept)
      }
      let failing = now.milliseconds - (kept.failingSince ?? now).milliseconds
      if isFinal || failing >= Self.patience {
        logger.error(
          "a webhook is switched off until the next start",
          ["url": .text(Job.target(ofAddress: webhook.url)), "reason": .text(reason)])
        return false
      }
      failures += 1
      if failures == 1 {
        logger.warning(
          "a webhook did not take an event, which is sent again",
          ["url": .text(Job.target(ofAddress: webhook.url)), "reason": .text(reason)])
      }
      let pause = backOff.pause(after: failures, asked: asked)
      do throws(CancellationError) { try await clock.sleep(for: pause) } catch { return false }
    }
    return false
  }

  /// - Returns: why the receiver did not take the event; `nil` where it did.
  private func send(
    _ body: [UInt8], _ id: String
  ) async -> (reason: String?, isFinal: Bool, asked: Duration?) {
    let time = String(clock.now.milliseconds / 1000)
    var fields: HTTPFields = [
      "Content-Type": "application/cloudevents+json; charset=utf-8", "webhook-id": id,
      "webhook-timestamp": time,
    ]
    if let key = webhook.key {
      fields["webhook-signature"] = Self.signature(of: body, id: id, time: time, key: key)
    }
    let request = HTTPRequest(
      .post, webhook.url, fields: fields, body: .bytes(body), maximumLength: 1 << 20)
    do throws(FieldpackError) {
      let response = try await client.send(request)
      if response.isSuccess { return (nil, false, nil) }
      return (
        "status \(response.status)", response.status == 410, response.retryAfter(at: clock.now)
      )
    } catch {
      return (error.message, false, nil)
    }
  }

  /// The signature of Standard Webhooks: over id, time and body with dots between them.
  static func signature(of body: [UInt8], id: String, time: String, key: [UInt8]) -> String {
    "v1," + Base64.encode(HMAC.sha256(Array("\(id).\(time).".utf8) + body, key: key))
  }
}
