import FieldpackCore
import FieldpackHTTP

/// Reads from the head of a request how long the request is and who sends it.
enum RequestFraming {
  /// Why a head is refused: a proxy could have read another request from the same bytes. `nil` where the
  /// head is sound.
  static func problem(of fields: HTTPFields) -> String? {
    var lengths = 0
    var codings: [String] = []
    var hosts = 0
    for field in fields.fields {
      guard field.name.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
        return "The name of a field has a blank or a control character."
      }
      guard field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 9 }) else {
        return "The value of a field has a control character."
      }
      // The lengths of the three names below: most other fields need no comparison.
      guard [4, 14, 17].contains(field.name.utf8.count) else { continue }
      switch field.name.lowercased() {
      case "content-length":
        lengths += 1
        guard !field.value.isEmpty, field.value.utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return "Content-Length is no number." }
      case "transfer-encoding": codings.append(field.value.lowercased())
      case "host": hosts += 1
      default: break
      }
    }
    guard lengths + codings.count <= 1 else { return "The request has two lengths." }
    guard codings.isEmpty || codings == ["chunked"] else {
      return "The body has a coding that the server does not know."
    }
    return hosts <= 1 ? nil : "The request has two fields Host."
  }

  // MARK: Tokens

  /// The token of a field `Authorization`: of the scheme Bearer, or the password of Basic.
  static func token(in text: String) -> String? {
    let parts = text.split(separator: " ", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    let value = parts[1].trimmingPrefix { $0 == " " }
    switch parts[0].lowercased() {
    case "bearer": return String(value)
    case "basic":
      guard let bytes = Base64.decode(value.utf8),
        let colon = bytes.firstIndex(of: UInt8(ascii: ":"))
      else { return nil }
      return String(decoding: bytes[(colon + 1)...], as: UTF8.self)
    default: return nil
    }
  }

  static func cookie(_ name: String, in fields: HTTPFields) -> String? {
    for field in fields.values(of: "Cookie") {
      for pair in field.split(separator: ";") {
        let sides = pair.trimmingPrefix { $0 == " " }.split(separator: "=", maxSplits: 1)
        if sides.count == 2, sides[0] == name { return String(sides[1]) }
      }
    }
    return nil
  }

  // MARK: Addresses

  /// The last address of a field `X-Forwarded-For` or `Forwarded` (RFC 7239).
  static func lastClient(in text: String) -> String? {
    guard let last = text.split(separator: ",").last else { return nil }
    var value = last.trimmingPrefix { $0 == " " }
    for part in value.split(separator: ";") {
      let part = part.trimmingPrefix { $0 == " " }
      if part.lowercased().hasPrefix("for=") { value = part.dropFirst(4) }
    }
    var name = value.filter { $0 != "\"" && $0 != " " }
    if name.first == "[" {
      name = String(name.dropFirst().prefix { $0 != "]" })
    } else if name.count(where: { $0 == ":" }) == 1 {
      name = String(name.prefix { $0 != ":" })
    }
    return NetworkAddress.version4(name) ?? NetworkAddress.version6(name) == nil ? nil : name
  }

  /// What the addresses of one client have in common: a client of version 6 has a network of 2^64.
  static func network(of address: String) -> String {
    guard let bytes = NetworkAddress.version6(address) else { return address }
    // A socket of version 6 shows an address of version 4 so (RFC 4291, 2.5.5.2).
    if bytes.prefix(12) == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff] {
      return bytes.suffix(4).map(String.init).joined(separator: ".")
    }
    return String(hex: bytes.prefix(8))
  }
}
