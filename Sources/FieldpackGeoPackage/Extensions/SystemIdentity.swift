import FieldpackGeometry

/// Which reference system a row of `gpkg_spatial_ref_sys` means.
struct SystemIdentity {
  var id: Int64
  var name: String
  var organization: String
  var code: Int64
  /// WKT 1 or WKT 2.
  var definition: String

  var srs: SRS {
    if id == 0 { return .undefinedGeographic }
    if id == -1 || isUndefined { return .undefinedCartesian }
    let stated = SRS(organization, Int32(clamping: code))
    guard stated.organization != "EPSG" else { return stated }
    return Self.epsgCode(in: definition).map { SRS("EPSG", $0) } ?? stated
  }

  /// GDAL gives a layer without a reference system the row `Undefined SRS` of the organization
  /// GDAL, whose WKT has a unit of no length (`ogrgeopackagedatasource.cpp`, `GetSrsId`).
  private var isUndefined: Bool {
    let organization = organization.uppercased()
    if organization == "GDAL" || organization == "NONE", name == "Undefined SRS" { return true }
    return organization == "NONE" && ReferenceSystems.isUndefined(definition)
  }

  /// The EPSG code that WKT gives the system as a whole, not one of its parts: the element
  /// `AUTHORITY["EPSG","…"]` of WKT 1 or `ID["EPSG",…]` of WKT 2 within the outermost brackets.
  static func epsgCode(in wkt: String) -> Int32? {
    var depth = 0
    var word: [UInt8] = []
    var rest = wkt.utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "["), UInt8(ascii: "("):
        depth += 1
        let name = String(decoding: word, as: UTF8.self).uppercased()
        if depth == 2, name == "AUTHORITY" || name == "ID" { return code(in: rest) }
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
