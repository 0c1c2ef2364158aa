public import FieldpackGeometry

/// A geometry in longitude and latitude, prepared for geodesic distances.
///
/// Positions are in degrees, longitudes from -540 to 540. Edges are straight in longitude and
/// latitude, as in GeoJSON (RFC 7946 section 3.1.1) and GeoPackage, so that a shape lies in its
/// envelope and distances agree with the spatial relations. Longitudes that differ by 360° are the
/// same: a shape that ends at 180° touches one that starts at -180°. Curves are linearised; z and m
/// are ignored.
///
/// ### Method
/// The shortest path from a position to an edge meets the edge at a right angle, where the
/// derivative of the distance along the edge is zero. Karney's inverse problem gives this
/// derivative together with the distance. Edges are halved until they are shorter than a tenth of a
/// degree in longitude and latitude, but only those that a lower bound does not exclude: a
/// great-circle angle between reduced latitudes times the polar radius is never longer than the
/// geodesic.
///
/// The error is below a millimetre where one of the shapes consists of points, or where the edges
/// of both are shorter than 100 m. Between longer edges of two shapes the distance is measured from
/// the ends of their pieces, and is at most `L² tan|φ| / 4R` too long: 5 m at 45° for pieces of 11
/// km, 4 cm for edges of 1 km.
public struct GeodesicShape: Sendable {
  public let ellipsoid: Geodesic
  /// The box around all positions, in degrees; empty where there are none.
  public private(set) var envelope = Envelope.empty
  var vertices: [GeodesicVertex] = []
  /// The positions of each point, line or ring.
  var paths: [Range<Int>] = []
  /// The rings of each polygon, as indexes of `paths`.
  var polygons: [Range<Int>] = []

  /// Reads one geometry in well-known binary.
  /// - Throws: ``ProjectionError/Kind/invalidGeometry`` for damaged bytes and for positions that do
  ///   not exist on Earth.
  public init(wkb: RawSpan, on ellipsoid: Geodesic = .wgs84) throws(ProjectionError) {
    var builder = ShapeBuilder(on: ellipsoid)
    do throws(GeometryError) {
      try WKB.visit(wkb, with: &builder)
      if builder.hasCurves {
        let straight = try WKB.read(wkb).linearized()
        builder = ShapeBuilder(on: ellipsoid)
        straight.visit(with: &builder)
      }
    } catch {
      throw ProjectionError(.invalidGeometry, "the geometry is damaged: \(error)")
    }
    try self.init(builder)
  }

  public init(_ geometry: Geometry, on ellipsoid: Geodesic = .wgs84) throws(ProjectionError) {
    var builder = ShapeBuilder(on: ellipsoid)
    geometry.linearized().visit(with: &builder)
    try self.init(builder)
  }

  private init(_ builder: ShapeBuilder) throws(ProjectionError) {
    if let (x, y) = builder.misplaced {
      throw ProjectionError(
        .invalidGeometry, "the position (\(x) \(y)) is no longitude and latitude in degrees")
    }
    self = builder.shape
  }

  fileprivate init(on ellipsoid: Geodesic) { self.ellipsoid = ellipsoid }

  /// The largest longitude allowed, in either direction: one and a half turns from Greenwich.
  static let widest = 540.0

  /// Whether the shape has no position.
  public var isEmpty: Bool { vertices.isEmpty }

  fileprivate mutating func append(_ x: Double, _ y: Double) {
    vertices.append(GeodesicVertex(x, y, on: ellipsoid))
    envelope.extend(x: x, y: y)
  }
}

/// A position, also as a point on the unit sphere of reduced latitudes.
struct GeodesicVertex: Sendable {
  let x: Double
  let y: Double
  let spherePoint: SIMD3<Double>

  init(_ x: Double, _ y: Double, on ellipsoid: Geodesic) {
    self.x = x
    self.y = y
    spherePoint = ellipsoid.spherePoint(x, y)
  }
}

/// Gathers paths and polygons.
private struct ShapeBuilder: GeometryVisitor {
  var shape: GeodesicShape
  var hasCurves = false
  var misplaced: (Double, Double)?
  private var start = 0
  private var firstRing = 0

  init(on ellipsoid: Geodesic) { shape = GeodesicShape(on: ellipsoid) }

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    start = shape.vertices.count
    firstRing = shape.paths.count
    if type.isCurved { hasCurves = true }
  }

  mutating func beginRing(count: Int?) { start = shape.vertices.count }

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    guard abs(x) <= GeodesicShape.widest, abs(y) <= 90 else {
      if misplaced == nil { misplaced = (x, y) }
      return
    }
    shape.append(x, y)
  }

  mutating func endRing() { endPath() }

  mutating func end(_ type: GeometryType) {
    switch type {
    case .point, .lineString: endPath()
    case .polygon, .triangle:
      if shape.paths.count > firstRing { shape.polygons.append(firstRing..<shape.paths.count) }
    default: break
    }
    start = shape.vertices.count
    firstRing = shape.paths.count
  }

  private mutating func endPath() {
    if start < shape.vertices.count { shape.paths.append(start..<shape.vertices.count) }
    start = shape.vertices.count
  }
}
