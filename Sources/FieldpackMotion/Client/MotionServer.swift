public import FieldpackCore
public import FieldpackHTTP

/// The server that a device posts to.
public struct MotionServer: Hashable, Sendable {
  /// `http` or `https`.
  public var scheme: String
  public var host: String
  public var port: UInt16
  /// The path of the address without its first slash.
  public var endPoint: String
  /// Added to every request, after `Content-Type`.
  public var headers: HTTPFields

  public init(
    scheme: String = "https", host: String, port: UInt16, endPoint: String = "",
    headers: HTTPFields = [:]
  ) {
    self.scheme = scheme
    self.host = host
    self.port = port
    self.endPoint = endPoint
    self.headers = headers
  }

  /// The parts of an address `http(s)://host[:port][/end/point]`.
  ///
  /// - Throws: `.invalidArgument` for any other.
  public init(_ address: String, headers: HTTPFields = [:]) throws(FieldpackError) {
    guard let colon = address.firstRange(of: "://") else { throw Self.invalid }
    let scheme = String(address[..<colon.lowerBound])
    let rest = address[colon.upperBound...]
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    var host = rest[..<slash]
    var port = UInt16(scheme == "https" ? 443 : 80)
    if let mark = host.lastIndex(of: ":"), !host.hasSuffix("]") {
      guard let given = UInt16(host[host.index(after: mark)...]) else { throw Self.invalid }
      port = given
      host = host[..<mark]
    }
    self.init(
      scheme: scheme, host: String(host), port: port, endPoint: String(rest[slash...].dropFirst()),
      headers: headers)
    try check()
  }

  var url: String { "\(scheme)://\(host):\(port)/\(endPoint)" }

  /// - Throws: `.invalidArgument` for what gives no address of http or https.
  func check() throws(FieldpackError) {
    let isSound =
      ["http", "https"].contains(scheme) && !host.isEmpty && port > 0
      && url.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
      && !host.contains { "/@?#".contains($0) }
      && (host.hasPrefix("[") ? host.hasSuffix("]") : !host.contains(":"))
    guard isSound else { throw Self.invalid }
  }

  private static let invalid = FieldpackError(
    .invalidArgument, "this is no address of a server. Try: https://host:port/path")

  func request(_ body: [UInt8]) -> HTTPRequest {
    var fields: HTTPFields = ["Content-Type": "application/json"]
    fields.fields += headers.fields
    return HTTPRequest(
      .post, url, fields: fields, body: .bytes(body), maximumLength: 1 << 20)
  }
}
