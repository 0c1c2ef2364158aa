import FieldpackCore

extension ConfigReading {
  /// Reads the backend. One with errors is told of and left out.
  mutating func readRemote(_ remote: ConfigValue?) {
    guard let remote, !remote.isNull else { return }
    let before = toldCount
    let start = remote.range.lowerBound
    switch remote.content {
    case .text(let uri):
      let scheme = uri.firstIndex(of: ":").map { uri[..<$0].lowercased() }
      guard scheme == "http" || scheme == "https" else {
        return tell(.error, at: start, "'remote' is no uri that begins with http: left out")
      }
      add(RemoteConfig(uri: uri, position: document.position(of: start)))
    case .object(let members):
      let known: Set = [
        "http_protocol", "http_host", "http_port", "mqtt_protocol", "mqtt_host", "mqtt_port",
        "auth", "client_id",
      ]
      for member in members where !known.contains(member.name) { tellUnknown(member) }
      let config = config(of: remote)
      if !hasErrors(since: before) { add(config) }
    default:
      tell(.error, at: start, "'remote' is an object or a uri, not \(remote.kind)")
    }
  }

  private mutating func config(of remote: ConfigValue) -> RemoteConfig {
    let authentication = authentication(of: remote)
    var usualPort = 8085
    if case .exchange = authentication { usualPort = 80 }
    let scheme = word("http_protocol", of: remote, from: ["http", "https"])
    var host = host("http_host", of: remote) ?? "localhost"
    // Addresses of IPv6 stand in brackets in a uri.
    if host.contains(":"), !host.hasPrefix("[") { host = "[\(host)]" }
    let port = port("http_port", of: remote) ?? usualPort
    var config = RemoteConfig(
      uri: "\(scheme)://\(host):\(port)", authentication: authentication,
      position: document.position(of: remote.range.lowerBound))
    let transport = word("mqtt_protocol", of: remote, from: ["tcp", "tls", "ssl"])
    let brokerPort = self.port("mqtt_port", of: remote)
    if let host = self.host("mqtt_host", of: remote) {
      config.broker = RemoteConfig.Broker(
        isEncrypted: transport != "tcp", host: host, port: brokerPort ?? 1883)
    }
    return config
  }

  private mutating func authentication(of remote: ConfigValue) -> RemoteConfig.Authentication {
    switch text("auth", of: remote) {
    case "no-auth": return .none
    case "exchange":
      guard let client = text("client_id", of: remote), !client.isEmpty else {
        tell(
          .error, at: remote.range.lowerBound,
          "'remote' has no 'client_id', which signing in at an Exchange needs: left out")
        return .server
      }
      return .exchange(clientID: client)
    default: return .server
    }
  }

  /// One of `words`, the first of them where there is none.
  private mutating func word(
    _ member: String, of remote: ConfigValue, from words: [String]
  ) -> String {
    guard let word = text(member, of: remote) else { return words[0] }
    if words.contains(word) { return word }
    let offset = remote[member]?.range.lowerBound ?? remote.range.lowerBound
    tell(
      .error, at: offset,
      "the '\(member)' of 'remote' is one of \(words.joined(separator: ", ")), not '\(word)'")
    return words[0]
  }

  /// The name or address of a host, which nothing else of a uri can stand in.
  private mutating func host(_ member: String, of remote: ConfigValue) -> String? {
    guard let host = text(member, of: remote), !host.isEmpty else { return nil }
    let isHost = host.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...:
        true
      default: "-._:[]".utf8.contains(byte)
      }
    }
    if isHost { return host }
    let offset = remote[member]?.range.lowerBound ?? remote.range.lowerBound
    tell(.error, at: offset, "the '\(member)' of 'remote' is the name of a host, not '\(host)'")
    return nil
  }

  private mutating func port(_ member: String, of remote: ConfigValue) -> Int? {
    guard let value = remote[member], !value.isNull else { return nil }
    let number = value.integer ?? value.text.flatMap { Int64($0) }
    if let number, 1...65535 ~= number { return Int(number) }
    tell(
      .error, at: value.range.lowerBound,
      "the '\(member)' of 'remote' is a number from 1 to 65535")
    return nil
  }
}
