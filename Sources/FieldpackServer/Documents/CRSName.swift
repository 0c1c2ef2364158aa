package import FieldpackCore
package import FieldpackGeometry
package import FieldpackProjection

/// A reference system as OGC API Features Part 2 names it, with the axis order of its authority.
///
///     let name = CRSName("http://www.opengis.net/def/crs/EPSG/0/4326")
///     let isNorthFirst = try name?.isNorthFirst(in: SRSCatalogue())   // true
package enum CRSName: Hashable, Sendable {
  /// WGS 84 with longitude before latitude, the default everywhere.
  case crs84
  case code(SRS)

  /// Reads a URI, a URN or a name such as `[EPSG:25832]`; `nil` for any other text.
  package init?(_ text: String) {
    guard let parts = Self.parts(of: text) else { return nil }
    if parts.code == "CRS84", parts.authority.uppercased() == "OGC" {
      self = .crs84
      return
    }
    // Through the text, which refuses authorities that are no plain words.
    guard let code = Int32(parts.code), code > 0, parts.authority.uppercased() != "NONE",
      let srs = SRS("\(parts.authority):\(code)")
    else { return nil }
    self = .code(srs)
  }

  /// How the system of stored positions is named; `nil` for a system that has no name outside of
  /// its file. They have x before y, for which only WGS 84 has a name of its own.
  package init?(storage srs: SRS) {
    guard srs.organization != "NONE", srs.code > 0 else { return nil }
    self = srs == .wgs84 ? .crs84 : .code(srs)
  }

  private static func parts(of text: String) -> (authority: String, code: String)? {
    if text.hasPrefix("["), text.hasSuffix("]") {
      let parts = text.dropFirst().dropLast().split(
        separator: ":", omittingEmptySubsequences: false)
      return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }
    if text.lowercased().hasPrefix("urn:ogc:def:crs:") {
      let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      return parts.count == 7 ? (String(parts[4]), String(parts[6])) : nil
    }
    for start in ["http://www.opengis.net/def/crs/", "https://www.opengis.net/def/crs/"]
    where text.hasPrefix(start) {
      // Authority, version and code.
      let parts = text.dropFirst(start.count).split(
        separator: "/", omittingEmptySubsequences: false)
      return parts.count == 3 && !parts[1].isEmpty ? (String(parts[0]), String(parts[2])) : nil
    }
    return nil
  }

  package static let webMercator = CRSName.code(SRS("EPSG", 3857))
  package static let wgs84 = CRSName.code(.wgs84)

  /// The name that documents and `Content-Crs` have.
  package var uri: String {
    switch self {
    case .crs84: "http://www.opengis.net/def/crs/OGC/1.3/CRS84"
    case .code(let srs): "http://www.opengis.net/def/crs/\(srs.organization)/0/\(srs.code)"
    }
  }

  /// The system, in which Fieldpack has x before y.
  package var srs: SRS {
    switch self {
    case .crs84: .wgs84
    case .code(let srs): srs
    }
  }

  /// Whether positions have latitude or northing first.
  ///
  /// - Throws: `.invalidArgument` for a system that PROJ does not know, and for one without positions on a
  ///   plane or a globe.
  package func isNorthFirst(in catalogue: SRSCatalogue) throws(FieldpackError) -> Bool {
    guard case .code(let srs) = self else { return false }
    do throws(ProjectionError) {
      let definition = try catalogue.definition(of: srs)
      if [.geographic, .projected, .compound].contains(definition.kind) {
        return definition.isNorthFirst
      }
    } catch {
      throw FieldpackError(
        error.kind == .unavailable ? .unavailable : .invalidArgument, error.message,
        underlying: error)
    }
    throw FieldpackError(
      .invalidArgument, "the system '\(uri)' has no longitude and latitude, or easting and northing"
    )
  }
}
