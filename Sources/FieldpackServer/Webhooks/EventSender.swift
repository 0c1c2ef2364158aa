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
///
/// All other statuses are failures that may pass, as Standard Webhooks wants, but for two: 410 says that the
/// receiver wants no more, and 413 that the event is too long for it.
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
      let asked = response.retryAfter(at: clock.now)
      // An event gets no shorter, however often it is sent. A receiver that says when to come again has no
      // room now, but will have (RFC 9110, 15.5.14).
      return EventRefusal(
        reason: "status \(response.status)", isFinal: response.status == 410,
        isOfEvent: response.status == 413 && asked == nil, asked: asked)
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
