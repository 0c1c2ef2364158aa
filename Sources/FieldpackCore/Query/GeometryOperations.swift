public import FieldpackGeometry

/// The operations on the geometries of an answer.
///
/// They are done in this order: made valid, clipped, transformed to the query's SRS, simplified,
/// brought to other dimensions, promoted. A geometry that was not valid, lies on the edge of the
/// clip box, or is simplified goes through GEOS, which drops m and turns curves into lines; all
/// others keep them.
public struct GeometryOperations: Hashable, Sendable {
  /// A box to cut geometries to.
  public struct Clip: Hashable, Sendable {
    /// The box; `minX > maxX` crosses the antimeridian.
    public var box: Envelope
    /// The SRS of the box; `nil` is each layer's own.
    public var srs: SRS?

    public init(_ box: Envelope, srs: SRS? = nil) {
      self.box = box
      self.srs = srs
    }
  }

  /// Mends geometries that are not valid. Parts of a lower dimension, such as the spike of a
  /// polygon, are dropped.
  public var makesValid = false
  /// Cuts geometries to a box. A feature outside the box is dropped, and so is one whose part in
  /// the box has a lower dimension than its geometry.
  public var clip: Clip?
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

  /// Whether single geometries become collections, because cutting or mending may split a geometry
  /// into several.
  package var promotes: Bool { promotesToMulti || makesValid || clip != nil }

  /// The geometry column that the answer has for `column`.
  package func column(_ column: GeometryColumn) -> GeometryColumn {
    var column = column
    if promotes, promotesToMulti || column.type != .point { column.type = column.type.promoted }
    if makesValid || clip != nil || tolerance != nil, column.m == .mandatory {
      column.m = .optional
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
