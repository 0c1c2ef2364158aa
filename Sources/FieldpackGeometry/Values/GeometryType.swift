/// The geometry types of OGC Simple Features with the codes of ISO 13249-3 WKB (without Z and M).
public enum GeometryType: UInt32, Hashable, Sendable, CaseIterable {
  case geometry = 0
  case point = 1
  case lineString = 2
  case polygon = 3
  case multiPoint = 4
  case multiLineString = 5
  case multiPolygon = 6
  case geometryCollection = 7
  case circularString = 8
  case compoundCurve = 9
  case curvePolygon = 10
  case multiCurve = 11
  case multiSurface = 12
  case curve = 13
  case surface = 14
  case polyhedralSurface = 15
  case tin = 16
  case triangle = 17

  /// The name in WKT and in `gpkg_geometry_columns`, in capitals.
  public var name: String {
    switch self {
    case .geometry: "GEOMETRY"
    case .point: "POINT"
    case .lineString: "LINESTRING"
    case .polygon: "POLYGON"
    case .multiPoint: "MULTIPOINT"
    case .multiLineString: "MULTILINESTRING"
    case .multiPolygon: "MULTIPOLYGON"
    case .geometryCollection: "GEOMETRYCOLLECTION"
    case .circularString: "CIRCULARSTRING"
    case .compoundCurve: "COMPOUNDCURVE"
    case .curvePolygon: "CURVEPOLYGON"
    case .multiCurve: "MULTICURVE"
    case .multiSurface: "MULTISURFACE"
    case .curve: "CURVE"
    case .surface: "SURFACE"
    case .polyhedralSurface: "POLYHEDRALSURFACE"
    case .tin: "TIN"
    case .triangle: "TRIANGLE"
    }
  }

  /// The type with this name in upper or lower case; `GEOMCOLLECTION` is an older spelling of
  /// GeoPackage.
  public init?(name: String) {
    let upper = name.uppercased()
    if upper == "GEOMCOLLECTION" {
      self = .geometryCollection
      return
    }
    guard let found = Self.allCases.first(where: { $0.name == upper }) else { return nil }
    self = found
  }

  /// The narrowest type of a column that holds both; the multi type where singles can be promoted.
  package static func holding(_ a: GeometryType, _ b: GeometryType) -> GeometryType {
    if a == b { return a }
    if a.multi == b { return b }
    return b.multi == a ? a : .geometry
  }

  /// The collection type whose members are of this type: `.point` gives `.multiPoint`.
  public var multi: GeometryType? {
    switch self {
    case .point: .multiPoint
    case .lineString: .multiLineString
    case .polygon: .multiPolygon
    default: nil
    }
  }

  /// The GeoPackage type with the same rings. GeoPackage (annex G) has no TRIANGLE, TIN and
  /// POLYHEDRALSURFACE; they are POLYGON and MULTIPOLYGON there.
  public var ofGeoPackage: GeometryType {
    switch self {
    case .triangle: .polygon
    case .tin, .polyhedralSurface: .multiPolygon
    default: self
    }
  }

  /// Whether the type is one of the nonlinear types of GeoPackage's extension for them.
  public var isCurved: Bool { rawValue >= 8 && rawValue <= 14 }

  /// Whether geometries can have this type; `GEOMETRY`, `CURVE` and `SURFACE` are abstract.
  public var isConcrete: Bool { self != .geometry && self != .curve && self != .surface }

  /// Whether a column of this type may hold a geometry of type `other`: of the same type, or of a
  /// subtype in the GeoPackage standard's class diagram (annex G).
  public func accepts(_ other: GeometryType) -> Bool {
    if self == other || self == .geometry { return true }
    switch self {
    case .geometryCollection:
      return [.multiPoint, .multiLineString, .multiPolygon, .multiCurve, .multiSurface].contains(
        other)
    case .curve: return [.lineString, .circularString, .compoundCurve].contains(other)
    case .surface: return [.polygon, .curvePolygon].contains(other)
    case .curvePolygon: return other == .polygon
    case .multiCurve: return other == .multiLineString
    case .multiSurface: return other == .multiPolygon
    default: return false
    }
  }

  /// Whether geometries of this type have members with types of their own.
  public var hasMembers: Bool {
    switch self {
    case .multiPoint, .multiLineString, .multiPolygon, .geometryCollection, .compoundCurve,
      .curvePolygon, .multiCurve, .multiSurface, .polyhedralSurface, .tin:
      true
    default: false
    }
  }

  /// Whether a geometry of this type may have a member of type `member`.
  public func canHold(_ member: GeometryType) -> Bool {
    switch self {
    case .multiPoint: member == .point
    case .multiLineString: member == .lineString
    case .multiPolygon, .polyhedralSurface: member == .polygon
    case .tin: member == .triangle
    case .compoundCurve: member == .lineString || member == .circularString
    case .curvePolygon, .multiCurve:
      member == .lineString || member == .circularString || member == .compoundCurve
    case .multiSurface: member == .polygon || member == .curvePolygon
    case .geometryCollection: member.isConcrete
    default: false
    }
  }
}
