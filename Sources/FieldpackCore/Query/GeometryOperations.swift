public import FieldpackGeometry

/// What is done to the geometries of an answer on their way out.
///
/// In this order: made valid, clipped, transformed to the query's SRS, simplified, brought to other
/// dimensions, promoted. What goes through GEOS (a geometry that was not valid, lies on the edge of
/// the clip box, or is simplified) loses m, and its curves become lines; all others stay as they are.
public struct GeometryOperations: Hashable, Sendable {
  /// A box to cut geometries to.
  public struct Clip: Hashable, Sendable {
    /// `minX > maxX` crosses the antimeridian.
    public var box: Envelope
    /// `nil` is each layer's own.
    public var srs: SRS?

    public init(_ box: Envelope, srs: SRS? = nil) {
      self.box = box
      self.srs = srs
    }
  }

  /// Mends geometries that are not valid. Parts of a lower dimension that this would leave, such as
  /// the spike of a polygon, go.
  public var makesValid = false
  /// Keeps what lies in a box. A feature of which nothing is left is not in the answer; neither is
  /// one that touches the box in less than its own dimension.
  public var clip: Clip?
  /// Leaves out positions that are no farther than so many metres from the simpler geometry, whose
  /// rings stay rings and do not cross.
  ///
  /// Units of the answer's SRS other than metres are converted, degrees by the length of one along
  /// the equator; without a known SRS they are its units.
  public var tolerance: Double?
  /// Drops ordinates that are too many and gives 0 to those that are missing.
  public var dimensions: Dimensions?
  /// Makes single geometries the members of collections, as their layer's type then says.
  public var promotesToMulti = false

  public init() {}

  public var isEmpty: Bool { self == GeometryOperations() }

  /// Whether single geometries become collections: cutting may make several of one.
  package var promotes: Bool { promotesToMulti || makesValid || clip != nil }

  /// The geometry column of the answer.
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
  /// The type of collections of this type, curves included.
  fileprivate var promoted: GeometryType {
    switch self {
    case .circularString, .compoundCurve, .curve: .multiCurve
    case .curvePolygon, .surface: .multiSurface
    case .triangle: .tin
    default: multi ?? self
    }
  }
}
