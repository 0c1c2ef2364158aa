import CPROJ
public import FieldpackGeometry

/// Distances, azimuths and positions along geodesics of an ellipsoid (Karney's algorithms).
///
/// Longitudes and latitudes are in degrees, lengths in metres, azimuths in degrees clockwise from
/// north, -180 to 180. Results are accurate to some 15 nanometres on WGS 84. A NaN input gives NaN.
public struct Geodesic: Sendable {
  let ellipsoid: geod_geodesic

  /// The WGS 84 ellipsoid.
  public static let wgs84 = Geodesic(semiMajorAxis: 6_378_137, flattening: 1 / 298.257223563)

  /// - Parameter semiMajorAxis: In metres; all lengths have the unit of this one.
  public init(semiMajorAxis: Double, flattening: Double) {
    var ellipsoid = geod_geodesic()
    geod_init(&ellipsoid, semiMajorAxis, flattening)
    self.ellipsoid = ellipsoid
  }

  /// The shortest path between two positions.
  public struct Path: Hashable, Sendable {
    public var distance: Double
    /// The azimuth at the start, forward.
    public var azimuth: Double
    /// The azimuth at the end, forward.
    public var finalAzimuth: Double
  }

  /// The shortest path from one position to another (the inverse problem); z and m are ignored.
  public func path(from start: Position, to end: Position) -> Path {
    var path = Path(distance: 0, azimuth: 0, finalAzimuth: 0)
    withUnsafePointer(to: ellipsoid) {
      geod_inverse(
        $0, start.y, start.x, end.y, end.x, &path.distance, &path.azimuth, &path.finalAzimuth)
    }
    return path
  }

  /// The length of the shortest path in metres.
  public func distance(from start: Position, to end: Position) -> Double {
    var distance = 0.0
    withUnsafePointer(to: ellipsoid) {
      geod_inverse($0, start.y, start.x, end.y, end.x, &distance, nil, nil)
    }
    return distance
  }

  /// The azimuth at the start of the shortest path.
  public func azimuth(from start: Position, to end: Position) -> Double {
    path(from: start, to: end).azimuth
  }

  /// The position reached from `start` after `distance` metres (the direct problem).
  ///
  /// Its longitude lies in -180 to 180; it has no z and no m.
  public func position(
    from start: Position, azimuth: Double, distance: Double
  ) -> Position {
    var end = Position(x: 0, y: 0)
    withUnsafePointer(to: ellipsoid) {
      geod_direct($0, start.y, start.x, azimuth, distance, &end.y, &end.x, nil)
    }
    return end
  }

  /// The length in metres of a line whose positions are joined by geodesics.
  public func length(of line: CoordinateSequence) -> Double {
    let step = line.dimensions.count
    let ordinates = line.ordinates
    return withUnsafePointer(to: ellipsoid) { ellipsoid in
      var length = 0.0
      for index in stride(from: step, to: ordinates.count, by: step) {
        var distance = 0.0
        geod_inverse(
          ellipsoid, ordinates[index - step + 1], ordinates[index - step], ordinates[index + 1],
          ordinates[index], &distance, nil, nil)
        length += distance
      }
      return length
    }
  }

  /// The area of a ring in square metres and its perimeter in metres.
  ///
  /// The area is positive where the ring runs counterclockwise. The ring may be open or closed and
  /// may contain a pole.
  public func measure(ring: CoordinateSequence) -> (area: Double, perimeter: Double) {
    var polygon = geod_polygon()
    geod_polygon_init(&polygon, 0)
    var area = 0.0
    var perimeter = 0.0
    withUnsafePointer(to: ellipsoid) { ellipsoid in
      for position in ring.dropLast(ring.first == ring.last ? 1 : 0) {
        geod_polygon_addpoint(ellipsoid, &polygon, position.y, position.x)
      }
      geod_polygon_compute(ellipsoid, &polygon, 0, 1, &area, &perimeter)
    }
    return (area, perimeter)
  }
}
