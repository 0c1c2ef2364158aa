import CPROJ
import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The ellipsoid compared with a sphere of its equatorial radius, on which positions have their
/// reduced latitude. The ellipsoid is that sphere compressed along its axis, so a path on the
/// ellipsoid is b/a to 1 times as long as on the sphere.
extension Geodesic {
  var equatorialRadius: Double { ellipsoid.a }
  var polarRadius: Double { ellipsoid.b }

  /// The reduced latitude of a latitude in degrees, in radians.
  func reduced(_ latitude: Double) -> Double {
    let angle = latitude * .pi / 180
    if abs(latitude) >= 90 { return latitude < 0 ? -.pi / 2 : .pi / 2 }
    return atan(ellipsoid.f1 * tan(angle))
  }

  /// The latitude in degrees of a reduced latitude in radians.
  func latitude(reduced angle: Double) -> Double {
    if abs(angle) >= .pi / 2 { return angle < 0 ? -90 : 90 }
    return atan(tan(angle) / ellipsoid.f1) * 180 / .pi
  }

  func spherePoint(_ x: Double, _ y: Double) -> SIMD3<Double> {
    let (latitude, longitude) = (reduced(y), x * .pi / 180)
    let radius = cos(latitude)
    return [radius * cos(longitude), radius * sin(longitude), sin(latitude)]
  }

  /// A lower bound of the distance between positions with this chord on the unit sphere, with an
  /// allowance for rounding.
  func leastLength(chord: Double) -> Double {
    guard chord > 0 else { return 0 }
    return max(0, 2 * asin(min(1, chord / 2)) * min(equatorialRadius, polarRadius) - 1e-6)
  }

  /// The length in metres eastwards and northwards of a step in degrees.
  func speed(at latitude: Double, dx: Double, dy: Double) -> (east: Double, north: Double) {
    let angle = latitude * .pi / 180
    let root = (1 - ellipsoid.e2 * sin(angle) * sin(angle)).squareRoot()
    let prime = ellipsoid.a / root
    let meridian = ellipsoid.a * (1 - ellipsoid.e2) / (root * root * root)
    return (prime * cos(angle) * dx * .pi / 180, meridian * dy * .pi / 180)
  }

  /// A lower bound in metres of the distance between positions in two boxes, which are in degrees.
  func leastDistance(_ a: Envelope, _ b: Envelope) -> Double {
    let (south, north) = (reduced(a.minY), reduced(a.maxY))
    let (otherSouth, otherNorth) = (reduced(b.minY), reduced(b.maxY))
    let gap = Self.longitudeGap(a, b) * .pi / 180
    var angle: Double
    if gap == 0 {
      angle = max(0, max(otherSouth - north, south - otherNorth))
    } else {
      // Boxes are closest between two sides, at an end of one of them.
      angle = min(
        Self.angle(south, otherSouth, otherNorth, gap),
        Self.angle(north, otherSouth, otherNorth, gap))
      angle = min(
        angle, Self.angle(otherSouth, south, north, gap), Self.angle(otherNorth, south, north, gap))
    }
    return max(0, angle * min(equatorialRadius, polarRadius) - 1e-6)
  }

  /// The degrees of longitude between the boxes, in the shorter direction around the Earth.
  private static func longitudeGap(_ a: Envelope, _ b: Envelope) -> Double {
    guard a.width < 360, b.width < 360 else { return 0 }
    // The west of `b` as seen from the west of `a`, 0 to 360.
    var start = (b.minX - a.minX).truncatingRemainder(dividingBy: 360)
    if start < 0 { start += 360 }
    if start <= a.width || start + b.width >= 360 { return 0 }
    return min(start - a.width, 360 - (start + b.width))
  }

  /// The angle from a latitude to the nearest latitude on a part of a meridian, all reduced.
  private static func angle(
    _ latitude: Double, _ south: Double, _ north: Double, _ gap: Double
  ) -> Double {
    func angle(_ other: Double) -> Double {
      let (up, across) = (sin((other - latitude) / 2), sin(gap / 2))
      let square = up * up + cos(latitude) * cos(other) * across * across
      return 2 * asin(min(1, square.squareRoot()))
    }
    let least = min(angle(south), angle(north))
    let foot = atan2(sin(latitude), cos(latitude) * cos(gap))
    return foot > south && foot < north ? min(least, angle(foot)) : least
  }
}

extension SIMD3<Double> {
  var length: Double { (self * self).sum().squareRoot() }
}
