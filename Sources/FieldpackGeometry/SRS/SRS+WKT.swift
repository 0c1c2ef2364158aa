extension SRS {
  /// The system of EPSG that WKT names for the system as a whole, not for one of its parts: by the
  /// element `AUTHORITY["EPSG","…"]` of WKT 1 or `ID["EPSG",…]` of WKT 2 within the outermost brackets.
  package static func epsg(inWKT wkt: String) -> SRS? {
    var depth = 0
    var word: [UInt8] = []
    var rest = wkt.utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "["), UInt8(ascii: "("):
        depth += 1
        let name = String(decoding: word, as: UTF8.self).uppercased()
        if depth == 2, name == "AUTHORITY" || name == "ID" {
          return code(in: rest).map { SRS("EPSG", $0) }
        }
        word = []
      case UInt8(ascii: "]"), UInt8(ascii: ")"):
        depth -= 1
        word = []
      case UInt8(ascii: "\""):
        // A quote in a name is written twice, which ends one name and begins the next.
        while let next = rest.popFirst(), next != UInt8(ascii: "\"") {}
      case UInt8(ascii: ","): word = []
      case 0x20, 0x09...0x0D: break
      default: word.append(byte)
      }
    }
    return nil
  }

  private static func code(in element: Substring.UTF8View) -> Int32? {
    let text = element.prefix { $0 != UInt8(ascii: "]") && $0 != UInt8(ascii: ")") }
    let parts = String(Substring(text)).split(separator: ",").map { part in
      part.filter { $0 != "\"" && !$0.isWhitespace }
    }
    guard parts.count >= 2, parts[0].uppercased() == "EPSG" else { return nil }
    return Int32(parts[1])
  }
}
