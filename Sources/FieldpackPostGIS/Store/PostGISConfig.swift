package import Fieldpack
package import FieldpackCore
import FieldpackGeoPackage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a config says about a store on PostgreSQL.
package struct PostGISConfig: Sendable {
  package var address: PostgresAddress
  package var scope: PostGISScope
  package var limits: PostgresLimits
  /// The open file that the password is read from, when the store is opened.
  package var passwordDescriptor: Int32?

  /// The uri is `postgresql://[user@][host[:port]][/database][?keyword=value&…]`, as libpq takes it, but
  /// without a password. The options are `schema`, `tables`, `connections`, `statementSeconds`,
  /// `connectSeconds`, `idleSeconds` and `passwordDescriptor`.
  ///
  /// - Throws: `.configuration`.
  package init(_ config: StoreConfig) throws(FieldpackError) {
    try Self.refusePasswords(config)
    address = try PostgresURI(config).address
    scope = try Self.scope(config)
    limits = PostgresLimits()
    let seconds = "a number of seconds from 1 to 86400"
    if let count = try config.number("connections", in: 1...100, "a number from 1 to 100") {
      limits.connections = count
    }
    if let number = try config.number("statementSeconds", in: 1...86_400, seconds) {
      limits.statement = .seconds(number)
    }
    if let number = try config.number("connectSeconds", in: 1...86_400, seconds) {
      limits.connecting = .seconds(number)
    }
    if let number = try config.number("idleSeconds", in: 1...86_400, seconds) {
      limits.idleInTransaction = .seconds(number)
    }
    passwordDescriptor = try config.number(
      "passwordDescriptor", in: 0...65_535, "the number of an open file"
    ).map { Int32($0) }
  }

  private static let wayOut =
    "a config holds no passwords. Try: a line in ~/.pgpass or in the file that PGPASSFILE names, a "
    + "service file (?service=…), or the option 'passwordDescriptor'"

  private static func refusePasswords(_ config: StoreConfig) throws(FieldpackError) {
    let names = (config.options?.members ?? []).map(\.name) + config.unknown.map(\.name)
    if names.contains(where: { $0.lowercased() == "password" || $0.lowercased() == "pgpassword" }) {
      throw config.failure(.configuration, "store '\(config.id)' has a password, but \(wayOut)")
    }
    if PostgresURI.hasPassword(config.uri) {
      throw config.failure(
        .configuration, "the uri of store '\(config.id)' has a password, but \(wayOut)")
    }
  }

  private static func scope(_ config: StoreConfig) throws(FieldpackError) -> PostGISScope {
    var scope = PostGISScope()
    scope.style = config.layerStyle
    if let option = config.options?["schema"], !option.isNull {
      guard let name = option.text, !name.isEmpty else {
        throw config.failure(
          .configuration, "the option 'schema' of store '\(config.id)' is the name of a schema")
      }
      scope.schema = name
    }
    guard let option = config.options?["tables"], !option.isNull else { return scope }
    var tables: [PostGISScope.Table] = []
    for element in option.elements {
      if let name = element.text {
        tables.append(.init(name))
      } else if let name = element["name"]?.text {
        tables.append(.init(name, id: element["id"]?.text))
      } else {
        tables = []
        break
      }
    }
    guard !tables.isEmpty else {
      throw config.failure(
        .configuration,
        "the option 'tables' of store '\(config.id)' is a list of names, or of objects with 'name' "
          + "and 'id'")
    }
    scope.tables = tables
    return scope
  }
}

/// A uri of PostgreSQL, taken apart.
struct PostgresURI {
  let address: PostgresAddress

  private static let keywords: Set<String> = [
    "application_name", "channel_binding", "connect_timeout", "dbname", "host", "keepalives",
    "keepalives_count", "keepalives_idle", "keepalives_interval", "krbsrvname", "options",
    "passfile", "port", "service", "ssl_max_protocol_version", "ssl_min_protocol_version",
    "sslcert", "sslcrl", "sslcrldir", "sslkey", "sslmode", "sslrootcert", "sslsni",
    "target_session_attrs", "tcp_user_timeout", "user",
  ]

  init(_ config: StoreConfig) throws(FieldpackError) {
    func wrong(_ what: String) -> FieldpackError {
      config.failure(
        .configuration,
        "the uri of store '\(config.id)' \(what): it is postgresql://host/database")
    }
    guard let parts = Parts(config.uri) else { throw wrong("is no address of PostgreSQL") }
    var found: [(name: String, value: String)] = []
    for (name, text) in parts.keywords {
      guard let value = Self.decoded(text) else { throw wrong("has a broken percent escape") }
      guard Self.keywords.contains(name) else {
        throw wrong(
          "has a parameter '\(name)' that is not known\(NearNames.question(name, in: Self.keywords))"
        )
      }
      // Text behind a host may be a part of a password, so it is not repeated.
      guard name != "port" || Self.arePorts(value) else {
        throw wrong("has a port that is no number")
      }
      if !value.isEmpty { found.append((name, value)) }
    }
    if found.contains(where: { $0.name == "service" }),
      found.contains(where: { $0.name == "host" || $0.name == "port" })
    {
      throw wrong("has a service and a host, and the service names its own host")
    }
    Self.secure(&found)
    address = PostgresAddress(keywords: found, shown: Self.shown(found))
  }

  /// Whether the uri has a password, also where it is no right uri otherwise.
  static func hasPassword(_ uri: String) -> Bool {
    guard let parts = Parts(uri) else { return uri.contains("password") }
    return parts.hasPassword
  }

  private static func arePorts(_ text: String) -> Bool {
    text.split(separator: ",").allSatisfy { port in
      port.utf8.allSatisfy { (0x30...0x39).contains($0) } && UInt16(port) != nil
    }
  }

  /// The server's certificate and name are verified, unless the uri says otherwise: against the
  /// certificates of the system where the user has named none. Unix sockets have no TLS.
  private static func secure(_ found: inout [(name: String, value: String)]) {
    if !found.contains(where: { $0.name == "sslmode" }) { found.append(("sslmode", "verify-full")) }
    let verifies = found.contains { $0.name == "sslmode" && $0.value.hasPrefix("verify-") }
    if verifies, !hasCertificates(found),
      let bundle = bundles.first(where: { FileSystem.size($0) != nil })
    {
      found.append(("sslrootcert", bundle))
    }
  }

  /// Whether the uri, a service file or libpq's own places may name certificates. A parameter would count
  /// more than these.
  private static func hasCertificates(_ found: [(name: String, value: String)]) -> Bool {
    if found.contains(where: { $0.name == "sslrootcert" || $0.name == "service" }) { return true }
    if getenv("PGSSLROOTCERT") != nil || getenv("PGSERVICE") != nil { return true }
    guard let home = getenv("HOME") else { return false }
    return FileSystem.size(String(cString: home) + "/.postgresql/root.crt") != nil
  }

  /// Where systems have the certificates that they trust.
  private static let bundles = [
    "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem",
  ]

  private static func shown(_ found: [(name: String, value: String)]) -> String {
    func value(_ name: String) -> String? { found.last { $0.name == name }?.value }
    if let service = value("service") { return "the service '\(service)'" }
    let host = value("host") ?? "the local server"
    let port = value("port").map { ":\($0)" } ?? ""
    return "\(host)\(port)" + (value("dbname").map { "/\($0)" } ?? "")
  }

  private static func decoded(_ text: String) -> String? {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      let digits = rest.prefix(2)
      guard digits.count == 2,
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16),
        value != 0
      else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  /// The parts of a uri, escapes and all.
  private struct Parts {
    var keywords: [(String, String)] = []
    var hasPassword = false

    init?(_ uri: String) {
      let lower = uri.lowercased()
      guard let scheme = ["postgresql://", "postgres://"].first(where: lower.hasPrefix) else {
        return nil
      }
      var rest = uri.dropFirst(scheme.count)
      hasPassword = Self.mayHavePassword(Array(rest.utf8))
      var query = ""
      if let mark = rest.firstIndex(of: "?") {
        query = String(rest[rest.index(after: mark)...])
        rest = rest[..<mark]
      }
      var database = ""
      if let slash = rest.firstIndex(of: "/") {
        database = String(rest[rest.index(after: slash)...])
        rest = rest[..<slash]
      }
      if let at = rest.lastIndex(of: "@") {
        let user = rest[..<at]
        keywords.append(("user", String(user.prefix { $0 != ":" })))
        rest = rest[rest.index(after: at)...]
      }
      addHosts(rest)
      keywords.append(("dbname", database))
      for pair in query.split(separator: "&") {
        let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(halves[0])
        if name == "password" || name == "sslpassword" { hasPassword = true }
        keywords.append((name, halves.count == 2 ? String(halves[1]) : ""))
      }
    }

    /// Whether an `@` stands behind a `:` that is not in an address of IPv6. A password may have every
    /// character, such as those that end a host.
    private static func mayHavePassword(_ text: [UInt8]) -> Bool {
      var index = 0
      var beginsHost = true
      while index < text.count, text[index] != UInt8(ascii: ":") {
        if text[index] == UInt8(ascii: "["), beginsHost,
          let end = text[index...].firstIndex(of: UInt8(ascii: "]"))
        {
          index = end
        }
        beginsHost = text[index] == UInt8(ascii: "@") || text[index] == UInt8(ascii: ",")
        index += 1
      }
      return text[index...].contains(UInt8(ascii: "@"))
    }

    /// `host:port,host:port`, where a host may be an address of IPv6 in brackets.
    private mutating func addHosts(_ text: Substring) {
      guard !text.isEmpty else { return }
      var hosts: [String] = []
      var ports: [String] = []
      for item in text.split(separator: ",", omittingEmptySubsequences: false) {
        var (host, port) = (item, Substring())
        let end = item.lastIndex(of: "]") ?? item.startIndex
        if let colon = item[end...].lastIndex(of: ":") {
          host = item[..<colon]
          port = item[item.index(after: colon)...]
        }
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        hosts.append(String(host))
        ports.append(String(port))
      }
      keywords.append(("host", hosts.joined(separator: ",")))
      if ports.contains(where: { !$0.isEmpty }) {
        keywords.append(("port", ports.joined(separator: ",")))
      }
    }
  }
}
