/// A position: x (longitude or easting), y (latitude or northing), and z and m where it has them.
public struct Position: Hashable, Sendable {
  public var x: Double
  public var y: Double
  public var z: Double?
  public var m: Double?

  public init(x: Double, y: Double, z: Double? = nil, m: Double? = nil) {
    self.x = x
    self.y = y
    self.z = z
    self.m = m
  }
}

/// Positions of the same dimensions, their ordinates interleaved in one array.
public struct CoordinateSequence: Hashable, Sendable {
  public let dimensions: Dimensions
  /// `count * dimensions.count` ordinates in the order x y z m.
  public private(set) var ordinates: [Double]

  public init(dimensions: Dimensions = .xy) {
    self.dimensions = dimensions
    self.ordinates = []
  }

  /// - Precondition: the number of ordinates is a multiple of `dimensions.count`.
  public init(dimensions: Dimensions, ordinates: [Double]) {
    precondition(ordinates.count % dimensions.count == 0)
    self.dimensions = dimensions
    self.ordinates = ordinates
  }

  /// Some positions in `dimensions`; a missing z or m becomes NaN.
  public init(_ positions: some Sequence<Position>, dimensions: Dimensions) {
    self.init(dimensions: dimensions)
    for position in positions { append(position) }
  }

  public mutating func append(_ position: Position) {
    ordinates.append(position.x)
    ordinates.append(position.y)
    if dimensions.hasZ { ordinates.append(position.z ?? .nan) }
    if dimensions.hasM { ordinates.append(position.m ?? .nan) }
  }
}

extension CoordinateSequence: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { ordinates.count / dimensions.count }

  public subscript(index: Int) -> Position {
    let base = index * dimensions.count
    return Position(
      x: ordinates[base], y: ordinates[base + 1],
      z: dimensions.hasZ ? ordinates[base + 2] : nil,
      m: dimensions.hasM ? ordinates[base + dimensions.count - 1] : nil)
  }
}

/// A geometry of OGC Simple Features, curves included. Each case may be EMPTY.
///
///     let path = Geometry.lineString(
///       CoordinateSequence([Position(x: 13, y: 51), Position(x: 14, y: 52)], dimensions: .xy))
///     let same = try WKT.read("LINESTRING (13 51,14 52)")
///     let box = path.envelope
///     let text = WKT.text(of: .point(x: 13.9, y: 51.95))
public indirect enum Geometry: Hashable, Sendable {
  /// A point; `nil` is `POINT EMPTY`.
  case point(Position?, Dimensions)
  case lineString(CoordinateSequence)
  /// A polygon whose first ring is the shell; without rings it is `POLYGON EMPTY`.
  case polygon([CoordinateSequence], Dimensions)
  case multiPoint([Position?], Dimensions)
  case multiLineString([CoordinateSequence], Dimensions)
  case multiPolygon([[CoordinateSequence]], Dimensions)
  case geometryCollection([Geometry], Dimensions)
  case circularString(CoordinateSequence)
  /// `compoundCurve`, `curvePolygon`, `multiCurve`, `multiSurface`, `polyhedralSurface`, `tin` and
  /// `triangle`: a type with members (rings or parts) that carry their own types.
  case composite(GeometryType, [Geometry], Dimensions)

  /// A two-dimensional point.
  public static func point(x: Double, y: Double) -> Geometry {
    .point(Position(x: x, y: y), .xy)
  }

  public var type: GeometryType {
    switch self {
    case .point: .point
    case .lineString: .lineString
    case .polygon: .polygon
    case .multiPoint: .multiPoint
    case .multiLineString: .multiLineString
    case .multiPolygon: .multiPolygon
    case .geometryCollection: .geometryCollection
    case .circularString: .circularString
    case .composite(let type, _, _): type
    }
  }

  public var dimensions: Dimensions {
    switch self {
    case .lineString(let line), .circularString(let line): line.dimensions
    case .point(_, let dimensions), .polygon(_, let dimensions), .multiPoint(_, let dimensions),
      .multiLineString(_, let dimensions), .multiPolygon(_, let dimensions),
      .geometryCollection(_, let dimensions), .composite(_, _, let dimensions):
      dimensions
    }
  }
}
