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

  /// Metres eastwards and northwards for a degree of longitude and of latitude.
  package func degreeLengths(at latitude: Double) -> (east: Double, north: Double) {
    speed(at: latitude, dx: 1, dy: 1)
  }

  package var radius: Double { equatorialRadius }
}
