package import FieldpackGeometry

/// What `gpkg_geometry_columns` requires of the geometries in a column.
package struct GeometryRules: Hashable, Sendable {
  /// `nil` where the name of the type is not known.
  package var type: GeometryType?
  package var srsID: Int64?
  /// 0 where the ordinate is prohibited, 1 where it is mandatory, 2 where it is optional.
  package var z: Int64?
  package var m: Int64?

  package init(
    type: GeometryType? = nil, srsID: Int64? = nil, z: Int64? = nil, m: Int64? = nil
  ) {
    (self.type, self.srsID, self.z, self.m) = (type, srsID, z, m)
  }

  /// A way in which a geometry does not fit its column.
  package enum Breach: Hashable, Sendable {
    /// The geometry states another `srs_id`.
    case system(Int64)
    /// The WKB has the flags of PostGIS.
    case extendedWKB
    /// The standard has no such type.
    case foreignType(GeometryType)
    case type(GeometryType)
    case prohibitedZ, missingZ, prohibitedM, missingM
  }

  package func breach(of header: GeoPackageBinary) -> Breach? {
    guard let srsID, Int64(header.srsID) != srsID else { return nil }
    return .system(Int64(header.srsID))
  }

  package func breaches(of geometry: WKB.Header) -> [Breach] {
    var found: [Breach] = []
    if geometry.isExtended { found.append(.extendedWKB) }
    if geometry.type.rawValue > GeometryType.surface.rawValue {
      found.append(.foreignType(geometry.type))
    } else if let type, !type.accepts(geometry.type) {
      found.append(.type(geometry.type))
    }
    let (hasZ, hasM) = (geometry.dimensions.hasZ, geometry.dimensions.hasM)
    if hasZ, z == 0 { found.append(.prohibitedZ) }
    if !hasZ, z == 1 { found.append(.missingZ) }
    if hasM, m == 0 { found.append(.prohibitedM) }
    if !hasM, m == 1 { found.append(.missingM) }
    return found
  }

  /// The breach in words, of which `it` is the geometry.
  package func reason(_ breach: Breach) -> String {
    switch breach {
    case .system(let found): "its srs_id is \(found), not \(srsID ?? 0)"
    case .extendedWKB: "it is PostGIS's extended WKB, not ISO WKB"
    case .foreignType(let type): "\(type.name) is no type of GeoPackage"
    case .type(let found): "it is a \(found.name), not a \(type?.name ?? "")"
    case .prohibitedZ: "it has Z, which is prohibited"
    case .missingZ: "it has no Z, which is mandatory"
    case .prohibitedM: "it has M, which is prohibited"
    case .missingM: "it has no M, which is mandatory"
    }
  }
}
