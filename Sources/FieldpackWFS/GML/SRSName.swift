import FieldpackCore
import FieldpackGeometry
import FieldpackProjection

/// The name of a reference system in an exchange with a service. Its form decides the order of the
/// axes.
struct SRSName: Hashable, Sendable {
  enum AxisOrder: Hashable, Sendable {
    /// The order in which the authority has the axes: `urn:ogc:def:crs:EPSG::4326` and
    /// `http://www.opengis.net/def/crs/EPSG/0/4326`.
    case authority
    /// Longitude or easting first: `http://www.opengis.net/gml/srs/epsg.xml#4326` and CRS84.
    case eastFirst
    /// `EPSG:4326`, which means longitude first where nothing else was asked for.
    case plain
  }

  let text: String
  let srs: SRS
  let order: AxisOrder

  init?(_ given: String) {
    text = given.trimmedOfSpace
    let upper = text.uppercased()
    if upper.hasSuffix("CRS84") {
      (srs, order) = (.wgs84, .eastFirst)
      return
    }
    if let hash = text.lastIndex(of: "#"), upper.contains("EPSG") {
      guard let code = Int32(text[text.index(after: hash)...]) else { return nil }
      (srs, order) = (SRS("EPSG", code), .eastFirst)
      return
    }
    if upper.hasPrefix("HTTP"), let range = text.firstRange(of: "/def/crs/") {
      let parts = text[range.upperBound...].split(separator: "/")
      guard parts.count == 3, let code = Int32(parts[2]) else { return nil }
      (srs, order) = (SRS(String(parts[0]), code), .authority)
      return
    }
    if upper.hasPrefix("URN:") {
      let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count >= 6, parts[3].lowercased() == "crs", let last = parts.last,
        let code = Int32(last)
      else { return nil }
      (srs, order) = (SRS(String(parts[4]), code), .authority)
      return
    }
    guard let found = SRS(text) else { return nil }
    (srs, order) = (found, .plain)
  }

  /// `EPSG:25833`, for requests whose answer has longitude or easting first.
  init(plain srs: SRS) {
    (text, self.srs, order) = (srs.description, srs, .plain)
  }
}

/// Tells of reference systems whether their authority has north before east, and keeps that.
final class AxisOrders: Sendable {
  private let known = Locked<[SRS: Bool]>([.wgs84: true])

  /// Whether positions under a name have y first.
  ///
  /// - Parameter asked: the name in the request. A service that answers with the plain code for it
  ///   means what was asked.
  func isNorthFirst(_ name: SRSName?, asked: SRSName?) -> Bool {
    guard let name = name ?? asked else { return false }
    switch name.order {
    case .eastFirst: return false
    case .authority: return isNorthFirst(name.srs)
    case .plain:
      guard let asked, asked.srs == name.srs, asked.order == .authority else { return false }
      return isNorthFirst(name.srs)
    }
  }

  /// Whether the authority has north first; `false` for systems that PROJ does not know.
  private func isNorthFirst(_ srs: SRS) -> Bool {
    if let known = known.withLock({ $0[srs] }) { return known }
    let found = (try? SRSCatalogue().definition(of: srs))?.isNorthFirst ?? false
    known.withLock { $0[srs] = found }
    return found
  }
}
