public import FieldpackGeometry

/// The definition of a spatial reference system in PROJ's database.
public struct SRSDefinition: Hashable, Sendable {
  /// The area for which a reference system is meant.
  public struct Area: Hashable, Sendable {
    public var name: String
    /// The area in degrees of longitude and latitude; `minX > maxX` crosses the antimeridian.
    public var envelope: Envelope

    public init(name: String, envelope: Envelope) {
      self.name = name
      self.envelope = envelope
    }

    /// Whether the area contains a longitude and latitude in degrees, borders included.
    public func contains(longitude: Double, latitude: Double) -> Bool {
      envelope.splitAtAntimeridian.contains {
        $0.contains(Envelope(minX: longitude, minY: latitude, maxX: longitude, maxY: latitude))
      }
    }
  }

  public enum Kind: String, Hashable, Sendable, CaseIterable {
    case geographic, geocentric, projected, vertical, compound, engineering, other
  }

  public var srs: SRS
  public var name: String
  public var kind: Kind
  /// The definition in OGC 01-009 text, as `gpkg_spatial_ref_sys.definition` needs it, in GDAL's
  /// dialect of WKT 1. `nil` where WKT 1 cannot express it, for example for a three-dimensional
  /// geographic system.
  public var wkt1: String?
  /// The definition in WKT 2:2019 (ISO 19162), as `definition_12_063` of the CRS WKT extension
  /// needs it.
  public var wkt2: String
  /// The unit of the first axis, such as `degree`, `metre` or `US survey foot`.
  public var unit: String
  /// The number of radians or metres in one unit.
  public var unitFactor: Double
  public var areaOfUse: Area?
  public var isDeprecated: Bool
  /// Whether the authority names latitude or northing before longitude or easting. Positions in
  /// Fieldpack have them the other way round.
  package var isNorthFirst = false

  /// Whether x and y are longitude and latitude.
  public var isGeographic: Bool { kind == .geographic }
}

extension Envelope {
  /// The area as one box, or as two boxes where it crosses the antimeridian.
  public var splitAtAntimeridian: [Envelope] {
    guard minX > maxX, minX.isFinite, maxX.isFinite, minY <= maxY else {
      return isEmpty ? [] : [self]
    }
    var west = self
    var east = self
    west.maxX = max(180, minX)
    east.minX = min(-180, maxX)
    return [west, east]
  }
}
