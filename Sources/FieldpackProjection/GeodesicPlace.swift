import CPROJ
package import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A position in degrees whose sines and cosines are known, so that ways from it and to it need none of them.
package struct GeodesicPlace: Hashable, Sendable {
  package let longitude: Double
  package let latitude: Double
  /// Sine and cosine of the reduced latitude.
  let rise: Double
  let run: Double
  /// Of the longitude.
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

  /// Where it lies on the unit sphere of reduced latitudes.
  package var chordPlace: SIMD3<Double> { [run * cosine, run * sine, rise] }
}

/// A way to a place, and the direction in which it arrives there.
package struct ArrivingPath: Sendable {
  package var distance: Double
  /// The sine and the cosine of the azimuth at the end.
  package var east: Double
  package var north: Double
}

extension Geodesic {
  /// No quick distance is farther from the geodesic one, in metres.
  package static let quickError = 1e-4

  /// The length of the shortest way between both, to ``quickError``; see ``quickPath(from:to:)``.
  package func quickDistance(from start: GeodesicPlace, to end: GeodesicPlace) -> Double {
    quickPath(from: start, to: end)?.distance ?? distance(from: start.position, to: end.position)
  }

  /// The shortest way between both, by ``quickPath(from:to:)`` where that may be.
  package func path(
    from start: GeodesicPlace, to end: GeodesicPlace, isExact: Bool
  ) -> ArrivingPath {
    if !isExact, let quick = quickPath(from: start, to: end) { return quick }
    let path = path(from: start.position, to: end.position)
    let course = path.finalAzimuth * .pi / 180
    return ArrivingPath(distance: path.distance, east: sin(course), north: cos(course))
  }

  /// The shortest way between both, some ten times as fast as ``path(from:to:)``; `nil` for places
  /// that are nearly opposite one another, and on an ellipsoid much flatter than the Earth.
  ///
  /// Karney's series (2013, equations 7, 8, 15 to 18 and 23 to 25) along the great circle on the sphere
  /// of reduced latitudes. The turn between the places on that sphere, which is not theirs on the
  /// ellipsoid, comes by one step of Newton's method from theirs. What is left of it, some 1e-8, moves
  /// the end along its parallel, which makes the way longer by the sine of the azimuth there: what
  /// that leaves out is the square of it, and is limited to a micrometre. The series are cut behind the
  /// third power of a parameter below 1/590: 0.03 mm for the longest ways, two micrometres for 1,000 km.
  /// The azimuth is exact to a millionth.
  package func quickPath(from start: GeodesicPlace, to end: GeodesicPlace) -> ArrivingPath? {
    guard abs(ellipsoid.f) < 0.0035 else { return nil }
    // Rounding would leave a nanometre, which shows.
    if start.longitude == end.longitude, start.latitude == end.latitude {
      return ArrivingPath(distance: 0, east: 0, north: 1)
    }
    let ways = AuxiliaryWays(start, end)
    let turn = SIMD2(
      end.cosine * start.cosine + end.sine * start.sine,
      end.sine * start.cosine - end.cosine * start.sine)
    let first = ways.arc(turn)
    guard first.cosine > -0.9 else { return nil }
    // One place by two names.
    guard first.sine > 0 else { return ArrivingPath(distance: 0, east: 0, north: 1) }
    let angle = atan2(first.sine, first.cosine)
    let slope = first.course * first.course + angle * first.bend
    let step = ellipsoid.f * first.course * terms(first, angle).turn / (1 - ellipsoid.f * slope)
    let arc = ways.arc(turn, turnedBy: step)
    guard arc.sine > 0 else { return nil }
    // The difference of the angles, by its sine.
    let change = arc.sine * first.cosine - arc.cosine * first.sine
    let length = angle + change * (1 + change * change / 6)
    let terms = terms(arc, length)
    let rest = ellipsoid.f * arc.course * terms.turn - step
    guard ellipsoid.a * abs(arc.bend) * rest * rest < 1e-6 else { return nil }
    return ArrivingPath(
      distance: ellipsoid.b * terms.length + ellipsoid.a * arc.course * rest, east: arc.east,
      north: arc.north)
  }

  /// The length of an arc in polar radii, and the integral whose share of the flattening the turn on
  /// the ellipsoid is behind the one on the sphere.
  private func terms(_ arc: AuxiliaryArc, _ angle: Double) -> (length: Double, turn: Double) {
    let square = ellipsoid.ep2 * arc.slant
    let small = square / (2 * (1 + (1 + square).squareRoot()) + square)
    let (n, both) = (ellipsoid.n, small * small)
    // Of twice the angle from the equator to the middle of the arc; of no weight along the equator.
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

/// A great circle between two places on the sphere of reduced latitudes.
private struct AuxiliaryArc {
  /// Of its angle.
  let sine: Double
  let cosine: Double
  /// The sine of the azimuth where it crosses the equator, and the square of the cosine.
  let course: Double
  let slant: Double
  /// The product of the sines of the latitudes.
  let rises: Double
  /// How much the course changes with the turn.
  let bend: Double
  /// The sine and the cosine of the azimuth at the end.
  let east: Double
  let north: Double
}

/// Great circles between two places for any turn between their meridians.
private struct AuxiliaryWays {
  private let rises, runs, up, down, startRun, endRun: Double

  init(_ start: GeodesicPlace, _ end: GeodesicPlace) {
    (rises, runs) = (start.rise * end.rise, start.run * end.run)
    (up, down) = (start.run * end.rise, start.rise * end.run)
    (startRun, endRun) = (start.run, end.run)
  }

  /// - Parameter turn: its cosine and sine.
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

  /// The turn with a few thousandths of a radian added.
  @inline(__always)
  func arc(_ turn: SIMD2<Double>, turnedBy step: Double) -> AuxiliaryArc {
    let square = step * step
    let sine = step * (1 - square / 6 * (1 - square / 20))
    let cosine = 1 - square / 2 * (1 - square / 12)
    return arc([turn.x * cosine - turn.y * sine, turn.y * cosine + turn.x * sine])
  }
}
