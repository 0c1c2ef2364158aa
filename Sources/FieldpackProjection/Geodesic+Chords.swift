#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Bounds of geodesic distances by chords: straight lines between positions on the unit sphere of
/// reduced latitudes.
extension Geodesic {
  /// Where a position is in space, in equatorial radii from the Earth's centre.
  package func spacePoint(_ position: GeodesicPosition) -> SIMD3<Double> {
    var space = position.spherePoint
    space.z *= polarRadius / equatorialRadius
    return space
  }

  /// Positions whose chord is no longer than `within` are no more than `metres` apart; positions
  /// whose chord is longer than `beyond` are farther apart. For chords between the two only the
  /// geodesic decides.
  package func chords(of metres: Double) -> (within: Double, beyond: Double) {
    // The allowance of a micrometre is far above the rounding errors.
    (chord((metres - 1e-6) / equatorialRadius), chord((metres + 1e-6) / polarRadius))
  }

  private func chord(_ angle: Double) -> Double {
    // A chord's length is 0 to 2, so -1 is below and 3 is above every chord.
    angle < 0 ? -1 : angle >= .pi ? 3 : 2 * sin(angle / 2)
  }

  /// A lower bound in metres of the distance between positions that are `space` equatorial radii
  /// apart in a straight line.
  package func leastWay(through space: Double) -> Double {
    // The straight line is always a lower bound, and up to a tenth of a radius it is the better
    // one.
    let straight = max(0, space * equatorialRadius - 1e-6)
    return space > 0.1 ? max(straight, leastLength(chord: space)) : straight
  }

  /// The length of a degree of longitude and of a degree of latitude, in metres.
  package func degreeLengths(at latitude: Double) -> (east: Double, north: Double) {
    speed(at: latitude, dx: 1, dy: 1)
  }

  package var radius: Double { equatorialRadius }
  /// The smallest radius of curvature of the ellipsoid, in metres.
  package var leastRadius: Double { polarRadius * polarRadius / equatorialRadius }

  /// The direction of a path's arrival at a position, as a unit vector in space that is tangent to the
  /// ellipsoid.
  package func direction(of path: ArrivingPath, at position: GeodesicPosition) -> SIMD3<Double> {
    let (up, out) = (position.rise, position.run * (polarRadius / equatorialRadius))
    let scale = 1 / (up * up + out * out).squareRoot()
    let rise = path.north * up * scale
    return [
      -path.east * position.sine - rise * position.cosine,
      path.east * position.cosine - rise * position.sine,
      path.north * out * scale,
    ]
  }
}
