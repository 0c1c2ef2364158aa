import Fieldpack
import FieldpackCore
import FieldpackHTTP
import FieldpackServices

/// The broker and the topics of a webhook whose address is `mqtts://HOST:PORT/PREFIX`, or `mqtt://…`.
struct BrokerTarget: Hashable {
  var broker: RemoteConfig.Broker
  /// What all topics begin with; empty for nothing.
  var prefix: String
  var isLoopback: Bool

  /// - Returns: `nil` for an address of another scheme.
  /// - Throws: `.invalidArgument` for a broken address, and for a prefix that no topic can have.
  init?(_ url: String) throws(FieldpackError) {
    guard let mark = url.firstRange(of: "://") else { return nil }
    let scheme = url[..<mark.lowerBound].lowercased()
    guard scheme == "mqtt" || scheme == "mqtts" else { return nil }
    let rest = url[mark.upperBound...]
    let authority = rest.prefix { $0 != "/" }
    guard !authority.contains("@") else {
      throw FieldpackError(
        .invalidArgument,
        "the address of a broker holds no user name. Try: 'user' and 'secretFile' in a list of "
          + "webhooks")
    }
    // The library that reads addresses takes what follows more than two slashes for the host.
    guard !authority.isEmpty, let address = try? HTTPAddress("http://" + rest),
      let given = Int(address.port), !rest.contains(where: { $0 == "?" || $0 == "#" }),
      let path = PercentText.decodePath(rest.dropFirst(authority.count).drop { $0 == "/" })
    else {
      throw FieldpackError(
        .invalidArgument,
        "'\(DisplayText.visible(url))' is no address of a broker. Try: mqtts://broker.example/field"
      )
    }
    // The port of an address in version 6 stands behind the bracket.
    let bracket = authority.lastIndex(of: "]") ?? authority.startIndex
    let hasPort = authority[bracket...].contains(":")
    let isEncrypted = scheme == "mqtts"
    broker = RemoteConfig.Broker(
      isEncrypted: isEncrypted, host: address.host,
      port: hasPort ? given : isEncrypted ? 8883 : 1883)
    isLoopback = address.isLoopback
    prefix = path
    while prefix.hasSuffix("/") { prefix.removeLast() }
    try BrokerMessage.check(topic: prefix + "/topic")
  }

  /// The topic of an event: `PREFIX/LAYER/EVENT`, and for the state of a device also its name. Signs that
  /// have a meaning in topics become escapes such as `%2F`.
  func topic(of event: LiveEvent) -> String {
    var levels = [CollectionName.id(of: event.layer), event.kind.rawValue]
    if event.kind == .position, let device = event.feature?[Column<String>("device")] {
      levels.append(device)
    }
    let topic = levels.map { PercentText.encode($0) }.joined(separator: "/")
    return prefix.isEmpty ? topic : "\(prefix)/\(topic)"
  }
}
