import CPROJ
package import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A position in degrees with its sines and cosines, so that paths from it and to it need not
/// compute them.
package struct GeodesicPosition: Hashable, Sendable {
  package let longitude: Double
  package let latitude: Double
  /// The sine of the reduced latitude; `run` is the cosine.
  let rise: Double
  let run: Double
  /// The sine of the longitude; `cosine` is its cosine.
  let sine: Double
  let cosine: Double

  package init(longitude: Double, latitude: Double, on ellipsoid: Geodesic = .wgs84) {
    (self.longitude, self.latitude) = (longitude, latitude)
    let (angle, turn) = (latitude * .pi / 180, longitude * .pi / 180)
    let up = sin(angle) * (ellipsoid.polarRadius / ellipsoid.equatorialRadius)
    let along = cos(angle)
    let scale = 1 / (up * up + along * along).squareRoot()
    (rise, run) = (up * scale, along * scale)
    (sine, cosine) = (sin(turn), cos(turn))
  }

  package var position: Position { Position(x: longitude, y: latitude) }

  /// The position on the unit sphere of reduced latitudes.
  package var spherePoint: SIMD3<Double> { [run * cosine, run * sine, rise] }
}

/// A path to a position, with the direction of its arrival.
package struct ArrivingPath: Sendable {
  package var distance: Double
  /// The sine of the azimuth at the end; `north` is the cosine.
  package var east: Double
  package var north: Double
}

extension Geodesic {
  /// The greatest error of a quick distance in metres.
  package static let quickError = 1e-4

  /// The length of the shortest path between two positions, exact to ``quickError``; see
  /// ``quickPath(from:to:)``.
  package func quickDistance(from start: GeodesicPosition, to end: GeodesicPosition) -> Double {
    quickPath(from: start, to: end)?.distance ?? distance(from: start.position, to: end.position)
  }

  /// The shortest path between two positions, by ``quickPath(from:to:)`` unless `isExact`.
  package func path(
    from start: GeodesicPosition, to end: GeodesicPosition, isExact: Bool
  ) -> ArrivingPath {
    if !isExact, let quick = quickPath(from: start, to: end) { return quick }
    let path = path(from: start.position, to: end.position)
    let course = path.finalAzimuth * .pi / 180
    return ArrivingPath(distance: path.distance, east: sin(course), north: cos(course))
  }

  /// The shortest path between two positions, some ten times as fast as ``path(from:to:)``; `nil` for
  /// positions that are nearly opposite one another, and on an ellipsoid much flatter than the Earth.
  ///
  /// It evaluates Karney's series (2013, equations 7, 8, 15 to 18 and 23 to 25) along the great
  /// circle on the sphere of reduced latitudes. The difference in longitude on that sphere differs
  /// from the difference on the ellipsoid, and comes from it by one step of Newton's method. The
  /// step leaves an error of some 1e-8, which moves the end along its parallel; the length is
  /// corrected by the error times the sine of the azimuth there. The correction leaves out the
  /// error's square, which is limited to a micrometre. The series end behind the third power of a
  /// parameter below 1/590, which leaves 0.03 mm for the longest paths and two micrometres for
  /// 1,000 km. The azimuth is exact to a millionth.
  package func quickPath(from start: GeodesicPosition, to end: GeodesicPosition) -> ArrivingPath? {
    guard abs(ellipsoid.f) < 0.0035 else { return nil }
    // For equal positions rounding would give a nanometre instead of 0.
    if start.longitude == end.longitude, start.latitude == end.latitude {
      return ArrivingPath(distance: 0, east: 0, north: 1)
    }
    let ways = AuxiliaryWays(start, end)
    let turn = SIMD2(
      end.cosine * start.cosine + end.sine * start.sine,
      end.sine * start.cosine - end.cosine * start.sine)
    let first = ways.arc(turn)
    guard first.cosine > -0.9 else { return nil }
    // The two longitudes differ by 360°, or both positions are the same pole.
    guard first.sine > 0 else { return ArrivingPath(distance: 0, east: 0, north: 1) }
    let angle = atan2(first.sine, first.cosine)
    let slope = first.course * first.course + angle * first.bend
    let step = ellipsoid.f * first.course * terms(first, angle).turn / (1 - ellipsoid.f * slope)
    let arc = ways.arc(turn, turnedBy: step)
    guard arc.sine > 0 else { return nil }
    // The difference of the two angles is computed from its sine.
    let change = arc.sine * first.cosine - arc.cosine * first.sine
    let length = angle + change * (1 + change * change / 6)
    let terms = terms(arc, length)
    let rest = ellipsoid.f * arc.course * terms.turn - step
    guard ellipsoid.a * abs(arc.bend) * rest * rest < 1e-6 else { return nil }
    return ArrivingPath(
      distance: ellipsoid.b * terms.length + ellipsoid.a * arc.course * rest, east: arc.east,
      north: arc.north)
  }

  /// The length of an arc in polar radii, and the integral that gives the difference between the
  /// turns on the sphere and on the ellipsoid, once multiplied by the flattening and the arc's
  /// `course`.
  private func terms(_ arc: AuxiliaryArc, _ angle: Double) -> (length: Double, turn: Double) {
    let square = ellipsoid.ep2 * arc.slant
    let small = square / (2 * (1 + (1 + square).squareRoot()) + square)
    let (n, both) = (ellipsoid.n, small * small)
    // The cosine of twice the angle from the equator to the arc's middle; along the equator it has
    // no effect.
    let middle =
      arc.slant > 1e-12 ? max(-1, min(1, arc.cosine - 2 * arc.rises / arc.slant)) : 0
    let doubled = 2 * middle * middle - 1
    let share =
      1 - small * (0.5 - n / 2 + small * (0.25 + n / 8 + small * (1 / 16 + 3 * n / 16)))
    let turn =
      angle + 2 * arc.sine
      * (small * (0.25 - n / 4 + small / 8) * middle + both / 8 * doubled * arc.cosine)
    let scale = (1 + both / 4) / (1 - small)
    let waves =
      small * (0.375 * both - 1) * middle - both / 4 * doubled * arc.cosine - small * both / 24
      * middle * (2 * doubled - 1) * (3 - 4 * arc.sine * arc.sine)
    return (scale * (angle + arc.sine * waves), share * turn)
  }
}

/// A great circle between two positions on the sphere of reduced latitudes.
private struct AuxiliaryArc {
  /// The sine of the arc's angle; `cosine` is its cosine.
  let sine: Double
  let cosine: Double
  /// The sine of the azimuth where the great circle crosses the equator; `slant` is the cosine's
  /// square.
  let course: Double
  let slant: Double
  /// The product of the sines of the two reduced latitudes.
  let rises: Double
  /// The derivative of `course` by the turn.
  let bend: Double
  /// The sine of the azimuth at the end; `north` is the cosine.
  let east: Double
  let north: Double
}

/// Computes the great circle between two positions for any difference of their longitudes.
private struct AuxiliaryWays {
  private let rises, runs, up, down, startRun, endRun: Double

  init(_ start: GeodesicPosition, _ end: GeodesicPosition) {
    (rises, runs) = (start.rise * end.rise, start.run * end.run)
    (up, down) = (start.run * end.rise, start.rise * end.run)
    (startRun, endRun) = (start.run, end.run)
  }

  /// - Parameter turn: the cosine and the sine of the difference of longitudes.
  @inline(__always)
  func arc(_ turn: SIMD2<Double>) -> AuxiliaryArc {
    let (across, along) = (endRun * turn.y, up - down * turn.x)
    let sine = (across * across + along * along).squareRoot()
    let cosine = rises + runs * turn.x
    let arriving = up * turn.x - down
    let course = runs * turn.y / sine
    return AuxiliaryArc(
      sine: sine, cosine: cosine, course: course, slant: max(0, 1 - course * course), rises: rises,
      bend: (runs * turn.x - course * course * cosine) / sine, east: startRun * turn.y / sine,
      north: arriving / sine)
  }

  /// The great circle for a turn to which a few thousandths of a radian are added.
  @inline(__always)
  func arc(_ turn: SIMD2<Double>, turnedBy step: Double) -> AuxiliaryArc {
    let square = step * step
    let sine = step * (1 - square / 6 * (1 - square / 20))
    let cosine = 1 - square / 2 * (1 - square / 12)
    return arc([turn.x * cosine - turn.y * sine, turn.y * cosine + turn.x * sine])
  }
}
