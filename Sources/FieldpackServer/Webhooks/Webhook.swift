import Fieldpack
public import FieldpackCore
import FieldpackHTTP

/// An address that gets the events of the file: by POST, or as messages of an MQTT broker.
///
/// Each request, or message, has one event as a CloudEvent in JSON (structured mode). Requests have the fields
/// of Standard Webhooks: `webhook-id`, `webhook-timestamp`, and where there is a secret `webhook-signature`.
/// Messages go to the topics `PREFIX/LAYER/EVENT`.
public struct Webhook: Hashable, Sendable {
  /// An address of http or https, or `mqtts://HOST:PORT/PREFIX` or `mqtt://…` of a broker.
  public var url: String
  /// The user that a broker knows, whose password is the secret.
  public var user: String?
  /// The secret that signs the requests, and that the receiver knows, too.
  ///
  /// After the prefix `whsec_`, the secret is base64, as Standard Webhooks writes secrets. Without the
  /// prefix, the key is the text itself.
  public var secret: String?
  /// The layers whose events are sent; `nil` for all layers but those about people, whose names begin with
  /// `bio_`. Detections belong to the layer `detection`.
  public var layers: [LayerID]?
  /// Some of `created`, `updated`, `deleted`, and of `entered`, `left` and the like; `nil` for all but
  /// `position`, the newest state of a device, which only brokers get: as a message that they retain.
  public var events: [String]?
  /// A condition in CQL2.
  public var filter: String?

  public init(_ url: String) { self.url = url }

  /// Reads a list of webhooks from JSON: `[{"url": …, "user": …, "secretFile": …, "collections": […],
  /// "events": […], "filter": …}]`.
  ///
  /// - Parameter read: gives the text of a file that holds a secret.
  /// - Throws: `.configuration`.
  package static func list(
    _ text: String, reading read: (String) throws(FieldpackError) -> String
  ) throws(FieldpackError) -> [Webhook] {
    guard let json = try? JSONValueReader.read(text), case .array(let items) = json else {
      throw FieldpackError(.configuration, "the webhooks are no list in JSON")
    }
    var webhooks: [Webhook] = []
    for item in items { webhooks.append(try webhook(item, reading: read)) }
    return webhooks
  }

  private static func webhook(
    _ item: JSONValue, reading read: (String) throws(FieldpackError) -> String
  ) throws(FieldpackError) -> Webhook {
    guard case .object(let members) = item, let url = item["url"]?.string else {
      throw FieldpackError(.configuration, "a webhook has no text 'url'")
    }
    let known: Set = ["url", "user", "secretFile", "collections", "events", "filter"]
    if let other = members.first(where: { !known.contains($0.name) }) {
      throw FieldpackError(.configuration, "a webhook has no member '\(other.name)'")
    }
    func texts(_ name: String) throws(FieldpackError) -> [String]? {
      guard let value = item[name] else { return nil }
      guard case .array(let items) = value, items.allSatisfy({ $0.string != nil }) else {
        throw FieldpackError(.configuration, "'\(name)' of a webhook is no list of texts")
      }
      return items.compactMap(\.string)
    }
    var webhook = Webhook(url)
    webhook.user = item["user"]?.string
    if let path = item["secretFile"]?.string {
      let secret = try read(path)
      webhook.secret = String(secret.split(whereSeparator: \.isNewline).first ?? "")
    }
    webhook.layers = try texts("collections")?.map { LayerID($0) }
    webhook.events = try texts("events")
    webhook.filter = item["filter"]?.string
    return webhook
  }

  /// Checks that events may be sent to the address.
  ///
  /// - Throws: `.invalidArgument` for what is no address, or an event or condition that is none,
  ///   `.permission` where the events would go to another machine without encryption.
  func check(allowsUnencrypted: Bool) throws(FieldpackError) {
    let target = try BrokerTarget(url)
    if let target {
      try Self.check(
        target.broker.host, isSafe: target.broker.isEncrypted || target.isLoopback,
        allowsUnencrypted, better: "mqtts")
      guard user != nil || secret == nil else {
        throw FieldpackError(
          .invalidArgument, "the secret of a broker is the password of a 'user', which is missing")
      }
    } else {
      let address = try HTTPAddress(url)
      try Self.check(
        address.host, isSafe: address.scheme == "https" || address.isLoopback, allowsUnencrypted,
        better: "https")
      guard user == nil else {
        throw FieldpackError(.invalidArgument, "only a webhook of a broker has a 'user'")
      }
    }
    let query = try query()
    guard target != nil || !query.kinds.contains(.position) else {
      throw FieldpackError(
        .invalidArgument, "the event 'position' goes to brokers only, which retain it")
    }
  }

  private static func check(
    _ host: String, isSafe: Bool, _ allowsUnencrypted: Bool, better scheme: String
  ) throws(FieldpackError) {
    guard !isSafe, !allowsUnencrypted else { return }
    throw FieldpackError(
      .permission,
      "events would go to \(host) without encryption. Try: an address of \(scheme)")
  }

  /// The query for the events that the receiver wants.
  func query() throws(FieldpackError) -> EventQuery {
    var query = EventQuery()
    query.layers = layers.map { Set($0) }
    query.hasBio = false
    if let events {
      query.kinds = []
      for name in events {
        guard let kind = LiveEvent.Kind(rawValue: name) else {
          throw FieldpackError(
            .invalidArgument,
            "there is no event '\(name)'"
              + NearNames.question(name, in: LiveEvent.Kind.allCases.map(\.rawValue)))
        }
        query.kinds.insert(kind)
      }
    }
    if let filter { query.filter = try Filter(cql2: filter) }
    return query
  }

  /// The bytes of the secret.
  var key: [UInt8]? {
    guard let secret, !secret.isEmpty else { return nil }
    guard secret.hasPrefix("whsec_") else { return Array(secret.utf8) }
    return Base64.decode(secret.utf8.dropFirst("whsec_".utf8.count)) ?? Array(secret.utf8)
  }

  /// The name of the state of the deliveries, which differs for each address and choice of events.
  var name: String {
    let texts = [url, layers?.description ?? "", events?.description ?? "", filter ?? ""]
    return SHA256.hex(Array(texts.joined(separator: "\n").utf8)).prefix(32).description
  }

  /// Scheme, host and port. The rest of an address may hold a key.
  var origin: String {
    if let target = try? BrokerTarget(url) {
      let scheme = target.broker.isEncrypted ? "mqtts" : "mqtt"
      return "\(scheme)://\(target.broker.host):\(target.broker.port)"
    }
    return (try? HTTPAddress(url).origin) ?? "?"
  }
}
