public import FieldpackGeometry

/// The operations on the geometries of an answer.
///
/// They are done in this order: made valid, clipped, buffered, transformed to the query's SRS,
/// simplified, brought to other dimensions, promoted. A geometry that was not valid, lies on the
/// edge of the clip area, or is simplified goes through GEOS, which drops m and turns curves into
/// lines; all others keep them. A buffer has neither z nor m.
public struct GeometryOperations: Hashable, Sendable {
  /// An area to cut geometries to.
  public struct Clip: Hashable, Sendable {
    public enum Area: Hashable, Sendable {
      /// A box; `minX > maxX` crosses the antimeridian.
      case box(Envelope)
      /// A polygon or several, which have to be valid.
      case polygons(Geometry)
    }

    public var area: Area
    /// The SRS of the area; `nil` is each layer's own.
    public var srs: SRS?

    public init(_ box: Envelope, srs: SRS? = nil) {
      area = .box(box)
      self.srs = srs
    }

    public init(_ polygons: Geometry, srs: SRS? = nil) {
      area = .polygons(polygons)
      self.srs = srs
    }
  }

  /// The area within a distance of geometries.
  public struct Buffer: Hashable, Sendable {
    /// The distance; a negative one shrinks polygons, down to an empty one.
    ///
    /// In longitude and latitude it is measured on the ellipsoid, in a projected system in the
    /// plane. Without a known SRS the number is in the units of the coordinates.
    public var metres: Double
    /// The number of segments of a quarter circle, 1 to 1,000.
    public var quadrantSegments: Int
    /// Whether corners are pointed, up to five times the distance, and not round.
    public var isMitred: Bool

    public init(metres: Double, quadrantSegments: Int = 8, isMitred: Bool = false) {
      self.metres = metres
      self.quadrantSegments = quadrantSegments
      self.isMitred = isMitred
    }
  }

  /// Mends geometries that are not valid. Parts of a lower dimension, such as the spike of a
  /// polygon, are dropped.
  public var makesValid = false
  /// Cuts geometries to an area. A feature outside of it is dropped, and so is one whose part in
  /// the area has a lower dimension than its geometry.
  public var clip: Clip?
  /// Replaces geometries by the area within a distance of them. Conditions and ``clip`` see the
  /// geometries before.
  public var buffer: Buffer?
  /// Simplifies geometries: leaves out positions that are no farther than so many metres from the
  /// simplified geometry. Rings stay rings and do not cross.
  ///
  /// The metres are converted to the units of the answer's SRS; a degree counts as its length along
  /// the equator. Without a known SRS the number is in the units of the coordinates.
  public var tolerance: Double?
  /// Drops z or m that are not in these dimensions; missing ordinates become 0.
  public var dimensions: Dimensions?
  /// Makes each single geometry a collection of one member; the layer's type says so too.
  public var promotesToMulti = false

  public init() {}

  public var isEmpty: Bool { self == GeometryOperations() }

  /// Whether single geometries become collections, because cutting, mending or shrinking may split a geometry
  /// into several.
  package var promotes: Bool {
    promotesToMulti || makesValid || clip != nil || buffer != nil
  }

  /// The geometry column that the answer has for `column`.
  package func column(_ column: GeometryColumn) -> GeometryColumn {
    var column = column
    if promotes, promotesToMulti || column.type != .point { column.type = column.type.promoted }
    if makesValid || clip != nil || tolerance != nil, column.m == .mandatory {
      column.m = .optional
    }
    if buffer != nil {
      column.type = .multiPolygon
      (column.z, column.m) = (.prohibited, .prohibited)
    }
    if let dimensions {
      column.z = dimensions.hasZ ? .mandatory : .prohibited
      column.m = dimensions.hasM ? .mandatory : .prohibited
    }
    return column
  }
}

extension GeometryType {
  /// The collection type of this type, curves included.
  fileprivate var promoted: GeometryType {
    switch self {
    case .circularString, .compoundCurve, .curve: .multiCurve
    case .curvePolygon, .surface: .multiSurface
    case .triangle: .tin
    default: multi ?? self
    }
  }
}
