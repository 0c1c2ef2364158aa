#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Bounds of geodesic distances by chords of the unit sphere of reduced latitudes.
extension Geodesic {
  /// Where a place lies in space, in equatorial radii from the Earth's centre.
  package func spacePlace(_ place: GeodesicPlace) -> SIMD3<Double> {
    var space = place.chordPlace
    space.z *= polarRadius / equatorialRadius
    return space
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

  /// The direction in which a way arrives at a place, as a unit vector in space that touches the
  /// ellipsoid there.
  package func direction(of path: ArrivingPath, at place: GeodesicPlace) -> SIMD3<Double> {
    let (up, out) = (place.rise, place.run * (polarRadius / equatorialRadius))
    let scale = 1 / (up * up + out * out).squareRoot()
    let rise = path.north * up * scale
    return [
      -path.east * place.sine - rise * place.cosine, path.east * place.cosine - rise * place.sine,
      path.north * out * scale,
    ]
  }
}
