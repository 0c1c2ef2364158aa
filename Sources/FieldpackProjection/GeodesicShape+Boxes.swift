public import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension GeodesicShape {
  /// Boxes in degrees that together contain every position within `metres` of the shape.
  ///
  /// There is one box for each turn of longitudes, so that the boxes cross the antimeridian and
  /// find positions in any turn that a shape may use. A box that contains a pole reaches around the
  /// Earth. For an empty shape there is no box.
  public func boxes(within metres: Double) -> [Envelope] {
    guard !isEmpty, metres >= 0 else { return [] }
    let radius = min(ellipsoid.equatorialRadius, ellipsoid.polarRadius)
    let angle = metres / radius * (1 + 1e-12) + 1e-11
    let (south, north) = (ellipsoid.reduced(envelope.minY), ellipsoid.reduced(envelope.maxY))
    let (low, high) = (south - angle, north + angle)
    var box = Envelope(
      minX: -.infinity, minY: max(-90, ellipsoid.latitude(reduced: low) - 1e-9), maxX: .infinity,
      maxY: min(90, ellipsoid.latitude(reduced: high) + 1e-9))
    guard low > -.pi / 2, high < .pi / 2 else { return [box] }
    let slope = sin(angle) / cos(max(abs(south), abs(north)))
    guard slope < 1 else { return [box] }
    let reach = asin(slope) * 180 / .pi + 1e-9
    guard envelope.width + 2 * reach < 360 else { return [box] }
    let (west, east) = (envelope.minX - reach, envelope.maxX + reach)
    let first = ((-Self.widest - east) / 360).rounded(.up)
    return stride(from: first, through: (Self.widest - west) / 360, by: 1).map { turn in
      box.minX = west + 360 * turn
      box.maxX = east + 360 * turn
      return box
    }
  }

  /// A lower bound in metres of the distance from the shape to the box, which is in degrees; 0
  /// where they may meet.
  public func leastDistance(to box: Envelope) -> Double {
    if isEmpty || box.isEmpty { return .infinity }
    guard abs(box.minY) <= 90, abs(box.maxY) <= 90 else { return 0 }
    return ellipsoid.leastDistance(envelope, box)
  }
}
