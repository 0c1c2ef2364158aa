/// A spatial reference system by its identity: the organization that defines it and its code there.
///
/// The `srs_id` of a GeoPackage is local to its file; organization and code are what files share.
///
///     let utm = SRS("EPSG", 25833)
///     let same = SRS("urn:ogc:def:crs:EPSG::25833")
///     let query = Query("wells").transformed(to: utm)
public struct SRS: Hashable, Sendable, CustomStringConvertible {
  /// The organization in capitals, such as `EPSG`, `ESRI` or `OGC`; `NONE` for systems without one.
  public let organization: String
  public let code: Int32

  public init(_ organization: String, _ code: Int32) {
    self.organization = organization.uppercased()
    self.code = code
  }

  /// Reads `AUTHORITY:CODE`, such as `EPSG:25833`, and also `urn:ogc:def:crs:EPSG::25833` and
  /// `CRS84`. Any other text gives `nil`, in particular a PROJ string.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    if text.uppercased().hasSuffix("CRS84") {
      self = .wgs84
      return
    }
    guard let last = parts.last, let code = Int32(last), code >= -1 else { return nil }
    let organization: Substring
    switch parts.count {
    case 2: organization = Substring(parts[0])
    case 7 where parts[0].lowercased() == "urn" && parts[3].lowercased() == "crs":
      organization = Substring(parts[4])
    default: return nil
    }
    guard !organization.isEmpty, organization.utf8.allSatisfy(Self.isNameByte) else { return nil }
    self.init(String(organization), code)
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// WGS 84 with longitude first, as GeoPackage, GeoJSON and GPX hold it: `EPSG:4326`.
  public static let wgs84 = SRS("EPSG", 4326)
  /// GeoPackage's `srs_id` -1.
  public static let undefinedCartesian = SRS("NONE", -1)
  /// GeoPackage's `srs_id` 0.
  public static let undefinedGeographic = SRS("NONE", 0)

  /// Whether this is one of GeoPackage's two undefined systems.
  ///
  /// A system that a file defines itself, by WKT alone, has the organization `NONE` as well.
  public var isUndefined: Bool { self == .undefinedCartesian || self == .undefinedGeographic }

  public var description: String { "\(organization):\(code)" }
}
