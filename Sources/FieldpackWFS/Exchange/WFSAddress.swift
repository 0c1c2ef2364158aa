/// The address of a service, to which the parameters of requests are joined.
///
/// Parameters of the address stay, such as `map=` of MapServer, except those that requests set
/// themselves.
struct WFSAddress: Hashable, Sendable {
  /// What comes before the question mark.
  let path: String
  /// The parameters of the address as they stand there.
  private(set) var parameters: [String]

  private static let own: Set<String> = [
    "service", "version", "request", "acceptversions", "typename", "typenames", "outputformat",
    "srsname", "bbox", "filter", "count", "maxfeatures", "startindex", "resulttype", "resourceid",
    "featureid", "namespaces", "namespace", "propertyname", "sortby",
  ]

  init(_ text: String) {
    let withoutFragment = text.split(separator: "#", maxSplits: 1).first.map(String.init) ?? ""
    let parts = withoutFragment.split(
      separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    path = Self.ascii(parts[0])
    let query = parts.count == 2 ? parts[1] : ""
    parameters = query.split(separator: "&").map { Self.ascii($0) }.filter { parameter in
      !Self.own.contains(Self.name(of: parameter))
    }
  }

  private static func name(of parameter: String) -> String {
    parameter.prefix { $0 != "=" }.lowercased()
  }

  /// The address with the parameters of another one that it lacks.
  func adding(parametersOf other: WFSAddress) -> WFSAddress {
    let names = Set(parameters.map(Self.name))
    var joined = self
    joined.parameters += other.parameters.filter { !names.contains(Self.name(of: $0)) }
    return joined
  }

  /// The address for a request with the parameters; a parameter without a value is left out.
  func url(_ added: [(name: String, value: String?)]) -> String {
    let new = added.compactMap { name, value in value.map { "\(name)=\(Self.encoded($0))" } }
    let all = parameters + new
    return all.isEmpty ? path : path + "?" + all.joined(separator: "&")
  }

  /// The address for requests whose parameters are in the body.
  var plainURL: String { url([]) }

  /// The address of a request for people: without a user, and without the values of parameters that
  /// requests do not set themselves, which may be secrets.
  static func shown(_ url: String) -> String {
    let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    var places = parts[0].split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    if places.count >= 3, let at = places[2].lastIndex(of: "@") {
      places[2] = places[2][places[2].index(after: at)...]
    }
    let path = places.joined(separator: "/")
    guard parts.count == 2 else { return path }
    let parameters = parts[1].split(separator: "&").map { (parameter) -> String in
      if own.contains(name(of: String(parameter))) { return String(parameter) }
      guard let equals = parameter.firstIndex(of: "=") else { return "…" }
      return String(parameter[...equals]) + "…"
    }
    return path + "?" + parameters.joined(separator: "&")
  }

  /// Whether another address leads to the same server by the same protocol.
  func isOnSameServer(as other: WFSAddress) -> Bool { origin != nil && origin == other.origin }

  /// Scheme, host and port in lower case.
  private var origin: String? {
    let parts = path.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count >= 3, parts[1].isEmpty else { return nil }
    let scheme = parts[0].lowercased()
    let host = parts[2].lowercased()
    let standard = scheme == "https:" ? ":443" : ":80"
    return scheme + "//" + (host.hasSuffix(standard) ? String(host.dropLast(standard.count)) : host)
  }

  /// Percent-encodes what an address cannot have and leaves the rest.
  private static func ascii(_ text: some StringProtocol) -> String {
    encoded(text) { $0 > 0x20 && $0 < 0x7F }
  }

  private static func encoded(_ value: String) -> String {
    encoded(value) { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: ","), UInt8(ascii: ":"):
        true
      default: false
      }
    }
  }

  private static func encoded(
    _ text: some StringProtocol, keeping isKept: (UInt8) -> Bool
  ) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in text.utf8 {
      if isKept(byte) {
        bytes.append(byte)
      } else {
        bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
