import Fieldpack
import FieldpackCore
import FieldpackHTTP
import FieldpackServer

/// Who may ask `fieldpack serve`, and how they reach it.
struct ServeAccess: OptionGroup {
  let tokens: String?
  let isOpen: Bool
  let certificate: String?
  let key: String?
  let isBehindProxy: Bool
  let publicURL: String?
  let origins: [String]
  let rate: Int
  let health: ListenAddress?
  let isVerbose: Bool

  init(_ reader: inout OptionReader) {
    tokens = reader.value(
      "token-file", .file("tokens", "json"),
      help: "Ask for one of these tokens, made by 'fieldpack token add'.")
    isOpen = reader.flag(
      "open", help: "Let everybody who reaches the address read, but no layers bio_*.")
    certificate = reader.value(
      "tls-cert", .file("cert", "pem", "crt"),
      help: "Speak HTTPS, with this certificate chain in PEM.")
    key = reader.value(
      "tls-key", .file("key", "pem", "key"), help: "The key of the certificate, in PEM.")
    isBehindProxy = reader.flag(
      "behind-proxy", help: "Believe a proxy that says whose requests it passes on.")
    publicURL = reader.value(
      "public-url", .text("url"), help: "The address that clients know, behind a proxy.")
    origins = reader.values(
      "cors", .text("origin"), help: "Let pages of this site ask, such as https://map.example.")
    rate = reader.value(
      "rate", .integer("n", in: 1...1_000_000), default: 100,
      help: "The requests in a second of one token, or one address under --open.")
    health = reader.value(
      "health", .address, help: "Where to tell how the server is: /healthz, /readyz, /metrics.")
    isVerbose = reader.flag("verbose", help: "Write a line for each request to standard error.")
  }

  /// Whether clients of other machines know an address.
  var isForOthers: Bool {
    get throws(FieldpackError) {
      guard let publicURL else { return false }
      return try !HTTPAddress(publicURL).isLoopback
    }
  }

  /// Refuses what would let others read or write who were not meant to, or see tokens on their way.
  func check(
    _ address: ListenAddress, isWritable: Bool, source: String
  ) throws(FieldpackError) {
    guard (certificate == nil) == (key == nil) else {
      throw refusal("--tls-cert and --tls-key are given together")
    }
    for origin in origins where !Self.isOrigin(origin) {
      throw refusal(
        "'\(origin)' is no site such as https://map.example: a scheme and a name, without a path")
    }
    if let publicURL, try !HTTPAddress(publicURL).isLoopback, isWritable, tokens == nil {
      throw refusal(
        "--writable with a --public-url needs --token-file, so that the server knows who sends edits"
      )
    }
    guard !isBehindProxy || publicURL != nil else {
      throw refusal("--behind-proxy needs --public-url, the address that clients know")
    }
    let isForOthers = try isForOthers
    guard !isForOthers || tokens != nil || isOpen else {
      throw refusal(
        "whoever knows \(publicURL ?? "") could read '\(source)'. Try: --token-file, or --open where "
          + "that is wanted")
    }
    guard !address.isLoopback else { return }
    guard tokens != nil || isOpen else {
      throw refusal(
        "\(address.host) can be reached from other machines, and whoever reaches it could read "
          + "'\(source)'. Try: --token-file, or --open where that is wanted")
    }
    guard tokens != nil || !isWritable else {
      throw refusal(
        "--writable beyond this machine needs --token-file, so that the server knows who sends edits"
      )
    }
    let isProxied = isBehindProxy && publicURL?.lowercased().hasPrefix("https://") == true
    guard tokens == nil || certificate != nil || isProxied else {
      throw refusal(
        "tokens go to other machines encrypted alone. Try: --tls-cert and --tls-key, or --behind-proxy "
          + "with a --public-url that begins with https://")
    }
  }

  private func refusal(_ message: String) -> FieldpackError {
    FieldpackError(.invalidArgument, message)
  }

  /// Browsers write an origin without a slash at its end, and without the usual port.
  private static func isOrigin(_ text: String) -> Bool {
    guard let address = try? HTTPAddress(text), text == text.lowercased() else { return false }
    let usual = address.scheme == "https" ? "443" : "80"
    let port = address.port == usual ? "" : ":\(address.port)"
    return text == "\(address.scheme)://\(address.host)\(port)"
  }

  func apply(
    to settings: inout FieldServer.Options, _ console: Console
  ) throws(FieldpackError) {
    settings.publicURL = publicURL
    settings.tokens = tokens.map { AccessTokens($0) }
    settings.isOpen = isOpen
    settings.requestsPerSecond = rate
    settings.origins = Set(origins)
    settings.isBehindProxy = isBehindProxy
    settings.health = health
    if let certificate, let key {
      settings.certificate = try ServerCertificate(certificate: certificate, key: key)
    }
    if isVerbose { settings.journal = { console.write($0 + "\n") } }
  }

  /// The address for clients.
  func url(_ address: ListenAddress) -> String {
    publicURL ?? "\(certificate == nil ? "http" : "https")://\(address)/"
  }
}

extension ValueForm where Value == ListenAddress {
  static var address: ValueForm {
    ValueForm("host:port") { (text) throws(ValueError) -> ListenAddress in
      guard let address = try? ListenAddress(text) else {
        throw ValueError("is no address of this machine such as 127.0.0.1:8085 or [::1]:8085")
      }
      return address
    }
  }
}
