#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Bounds of geodesic distances by chords of the unit sphere of reduced latitudes.
extension Geodesic {
  /// Where a position lies on that sphere; degrees.
  package func chordPlace(longitude: Double, latitude: Double) -> SIMD3<Double> {
    let (angle, turn) = (latitude * .pi / 180, longitude * .pi / 180)
    let (rise, run) = (sin(angle) * (polarRadius / equatorialRadius), cos(angle))
    let scale = 1 / (rise * rise + run * run).squareRoot()
    let radius = run * scale
    return [radius * cos(turn), radius * sin(turn), rise * scale]
  }

  /// Where a position lies in space, in equatorial radii from the Earth's centre; degrees.
  package func spacePlace(longitude: Double, latitude: Double) -> SIMD3<Double> {
    var place = chordPlace(longitude: longitude, latitude: latitude)
    place.z *= polarRadius / equatorialRadius
    return place
  }

  /// Positions whose chord is no longer than `within` lie no more than `metres` apart, those with one
  /// longer than `beyond` lie farther apart. Between both only the geodesic tells.
  package func chords(of metres: Double) -> (within: Double, beyond: Double) {
    // A micrometre is far more than the rounding of places and geodesics.
    (chord((metres - 1e-6) / equatorialRadius), chord((metres + 1e-6) / polarRadius))
  }

  private func chord(_ angle: Double) -> Double {
    // No chord is longer than 2; none is shorter than 0.
    angle < 0 ? -1 : angle >= .pi ? 3 : 2 * sin(angle / 2)
  }

  /// A lower bound in metres of the way between positions whose places are `chord` apart.
  package func leastWay(chord: Double) -> Double { leastLength(chord: chord) }

  /// A lower bound in metres of the way between positions that are so many equatorial radii apart in
  /// space.
  package func leastWay(through space: Double) -> Double {
    // Up to a tenth of a radius the straight line is the better bound; it is always one.
    let straight = max(0, space * equatorialRadius - 1e-6)
    return space > 0.1 ? max(straight, leastLength(chord: space)) : straight
  }

  /// Metres eastwards and northwards for a degree of longitude and of latitude.
  package func degreeLengths(at latitude: Double) -> (east: Double, north: Double) {
    speed(at: latitude, dx: 1, dy: 1)
  }

  package var radius: Double { equatorialRadius }
  /// The least radius of curvature anywhere, in metres.
  package var leastRadius: Double { polarRadius * polarRadius / equatorialRadius }

  /// The way that sets out from a position along an azimuth, as a unit vector in space that touches
  /// the ellipsoid there, and its parts eastwards and northwards; degrees.
  package func direction(
    _ azimuth: Double, atLongitude x: Double, latitude y: Double
  ) -> (space: SIMD3<Double>, east: Double, north: Double) {
    let (turn, angle, course) = (x * .pi / 180, y * .pi / 180, azimuth * .pi / 180)
    let (east, north) = (sin(course), cos(course))
    let (across, along, up) = (sin(turn), cos(turn), sin(angle))
    return (
      [
        -east * across - north * up * along, east * along - north * up * across,
        north * cos(angle),
      ], east, north
    )
  }
}
