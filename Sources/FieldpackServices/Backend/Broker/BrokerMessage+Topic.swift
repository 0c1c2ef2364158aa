package import Fieldpack
package import FieldpackCore

extension BrokerMessage {
  /// - Throws: `.invalidArgument` for a topic that nothing can be sent to.
  package static func check(topic: String) throws(FieldpackError) {
    let isPlain = topic.unicodeScalars.allSatisfy { scalar in
      scalar != "+" && scalar != "#" && scalar.value >= 0x20 && !(0x7f...0x9f ~= scalar.value)
    }
    guard isPlain, !topic.isEmpty, topic.utf8.count <= 65_535 else {
      throw FieldpackError(
        .invalidArgument,
        "'\(DisplayText.visible(topic))' cannot be the topic of a message: it is empty, too long, or "
          + "has '+', '#' or a control character")
    }
  }
}

extension RemoteConfig.Broker {
  /// - Throws: `.permission` where others could read along.
  package func checkSecrecy(allowsUnencrypted: Bool) throws(FieldpackError) {
    if isEncrypted || allowsUnencrypted || isLoopback { return }
    throw FieldpackError(
      .permission,
      "the broker \(host):\(port) is not encrypted, so that others could read the token. Try: "
        + "'mqtt_protocol' \"tls\" in the config")
  }

  /// Whether the host is this machine by its name or address.
  private var isLoopback: Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return host == "localhost" || host == "::1" || host == "[::1]"
      || parts.first == "127" && parts.count == 4 && parts.allSatisfy { UInt8($0) != nil }
  }
}
