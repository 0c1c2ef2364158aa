import FieldpackCore
import FieldpackGeometry

/// The `crs` members of GeoJSON before RFC 7946, which removed them.
struct CRSMember {
  private(set) var srs: SRS?
  /// A name that is none we know.
  private(set) var unknown: String?
  /// A second SRS in the same file.
  private(set) var other: SRS?
  private var lastName: [UInt8] = []

  /// Takes the value of a `crs` member; null says nothing.
  mutating func parse(_ scanner: inout JSONScanner) throws(FieldpackError) {
    guard try scanner.peek() == UInt8(ascii: "{") else { return try scanner.skipValue() }
    try scanner.enter()
    var isFirst = true
    while let name = try scanner.nextMember(&isFirst) {
      let isProperties = name.equals("properties")
      if try scanner.peek() == UInt8(ascii: "{"), isProperties {
        try parseProperties(&scanner)
      } else {
        try scanner.skipValue()
      }
    }
  }

  private mutating func parseProperties(_ scanner: inout JSONScanner) throws(FieldpackError) {
    try scanner.enter()
    var isFirst = true
    while let member = try scanner.nextMember(&isFirst) {
      let isName = member.equals("name")
      let isCode = member.equals("code")
      let isLink = member.equals("href")
      switch try scanner.peek() {
      case UInt8(ascii: "\"") where isName || isLink: note(try scanner.scanString())
      case UInt8(ascii: "0")...UInt8(ascii: "9") where isCode:
        try scanner.scanNumber()
        note(Array("EPSG:".utf8) + Array(scanner.numberText))
      default: try scanner.skipValue()
      }
    }
  }

  private mutating func note(_ name: some Collection<UInt8>) {
    // Features of one file repeat it; what is known is not worked out again.
    if lastName.elementsEqual(name) { return }
    lastName = Array(name.prefix(200))
    let text = String(decoding: lastName, as: UTF8.self)
    guard let found = Self.srs(named: text) else {
      unknown = unknown ?? text
      return
    }
    if let srs, srs != found { other = found }
    if srs == nil { srs = found }
  }

  /// Reads `EPSG:n`, the URN forms, the URLs of www.opengis.net, and `CRS84`.
  static func srs(named name: String) -> SRS? {
    if let srs = SRS(name) { return srs }
    guard let range = name.firstRange(of: "/def/crs/") else {
      let parts = name.split(separator: ":", omittingEmptySubsequences: false)
      // `urn:x-ogc:def:crs:EPSG:3857` has no place for a version.
      return parts.count == 6 && parts[0] == "urn" ? SRS("\(parts[4]):\(parts[5])") : nil
    }
    let parts = name[range.upperBound...].split(separator: "/")
    return parts.count == 3 ? SRS("\(parts[0]):\(parts[2])") : nil
  }
}
