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
      help: "Ask for a token of this file, which 'fieldpack token add' makes.")
    isOpen = reader.flag(
      "open", help: "Let everybody who reaches the address read all layers but bio_*.")
    certificate = reader.value(
      "tls-cert", .file("cert", "pem", "crt"),
      help: "Speak HTTPS, with this certificate chain in PEM.")
    key = reader.value(
      "tls-key", .file("key", "pem", "key"), help: "The key of the certificate, in PEM.")
    isBehindProxy = reader.flag(
      "behind-proxy", help: "Take the addresses of clients from what a proxy says.")
    publicURL = reader.value(
      "public-url", .text("url"), help: "The address that clients know, behind a proxy.")
    origins = reader.values(
      "cors", .text("origin"),
      help: "Answer pages of this site, such as https://map.example; may be repeated.")
    rate = reader.value(
      "rate", .integer("n", in: 1...1_000_000), default: 100,
      help: "How many requests in a second a token may make, or an address without one.")
    health = reader.value(
      "health", .address, help: "Answer /healthz, /readyz and /metrics at this other address.")
    isVerbose = reader.flag("verbose", help: "Write a line for each request to standard error.")
  }

  /// The address of `--public-url`, unless it is one of this machine.
  var addressForOthers: String? {
    get throws(FieldpackError) {
      guard let publicURL, try !HTTPAddress(publicURL).isLoopback else { return nil }
      return publicURL
    }
  }

  /// Refuses options that would let others read or write without being meant to, or let them see
  /// tokens on the network.
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
    guard !isBehindProxy || publicURL != nil else {
      throw refusal("--behind-proxy needs --public-url, the address that clients know")
    }
    if let url = try addressForOthers {
      guard tokens != nil || !isWritable else {
        throw refusal(
          "--writable with a --public-url needs --token-file, so that the server knows who sends "
            + "edits")
      }
      guard tokens != nil || isOpen else {
        throw refusal("whoever knows \(url) could read '\(source)'. \(Self.advice)")
      }
    }
    guard !address.isLoopback else { return }
    guard tokens != nil || isOpen else {
      throw refusal(
        "\(address.host) can be reached from other machines, and whoever reaches it could read "
          + "'\(source)'. \(Self.advice)")
    }
    guard tokens != nil || !isWritable else {
      throw refusal(
        "--writable beyond this machine needs --token-file, so that the server knows who sends "
          + "edits")
    }
    let isPublicEncrypted =
      try publicURL.map { (url) throws(FieldpackError) in try HTTPAddress(url).isEncrypted }
      ?? false
    let isProxied = isBehindProxy && isPublicEncrypted
    guard tokens == nil || certificate != nil || isProxied else {
      throw refusal(
        "tokens go to other machines encrypted alone. Try: --tls-cert and --tls-key, or --behind-proxy "
          + "with a --public-url that begins with https://")
    }
  }

  private static let advice = "Try: --token-file, or --open where that is wanted"

  private func refusal(_ message: String) -> FieldpackError {
    FieldpackError(.invalidArgument, message)
  }

  /// Browsers write an origin without a slash at its end, and without the usual port.
  private static func isOrigin(_ text: String) -> Bool {
    (try? HTTPAddress(text).webOrigin) == text
  }

  /// Sets what the options say of who may ask, and reads the certificate.
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

  /// The address that clients use for a server that listens on `address`.
  func url(of address: ListenAddress) -> String {
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
