import FieldpackCore
import FieldpackField
import FieldpackHTTP

/// Brings events to the receiver of a webhook, one after the other.
protocol EventSender: Sendable {
  /// - Returns: why the receiver did not take the event; `nil` where it did.
  func send(_ event: LiveEvent) async -> EventRefusal?

  /// Gives up what connects to the receiver.
  func close() async
}

/// Why a receiver did not take an event.
struct EventRefusal: Hashable, Sendable {
  var reason: String
  /// Whether the receiver takes no event any more.
  var isFinal = false
  /// Whether the event itself is what is refused, so that no other try helps.
  var isOfEvent = false
  /// How long the receiver asks to wait.
  var asked: Duration?
}

/// Sends events by POST. A receiver takes an event by a status of 200 to 299.
struct HTTPEventSender: EventSender {
  let webhook: Webhook
  let client: HTTPClient
  var clock = FieldClock.system

  func send(_ event: LiveEvent) async -> EventRefusal? {
    let body = event.json()
    let time = String(clock.now.milliseconds / 1000)
    var fields: HTTPFields = [
      "Content-Type": "application/cloudevents+json; charset=utf-8", "webhook-id": event.id,
      "webhook-timestamp": time,
    ]
    if let key = webhook.key {
      fields["webhook-signature"] = Self.signature(of: body, id: event.id, time: time, key: key)
    }
    let request = HTTPRequest(
      .post, webhook.url, fields: fields, body: .bytes(body), maximumLength: 1 << 20)
    do throws(FieldpackError) {
      let response = try await client.send(request)
      if response.isSuccess { return nil }
      return EventRefusal(
        reason: "status \(response.status)", isFinal: response.status == 410,
        asked: response.retryAfter(at: clock.now))
    } catch {
      return EventRefusal(reason: error.message)
    }
  }

  func close() async {}

  /// The signature of Standard Webhooks: over id, time and body with dots between them.
  static func signature(of body: [UInt8], id: String, time: String, key: [UInt8]) -> String {
    "v1," + Base64.encode(HMAC.sha256(Array("\(id).\(time).".utf8) + body, key: key))
  }
}
