import FieldpackCore
import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How an envelope lies on a drawing: the aspect is kept, y grows downwards.
struct MapFrame: Hashable, Sendable {
  /// What the drawing shows; never without width or height.
  let envelope: Envelope
  /// In units of the drawing.
  let width: Double
  let height: Double
  private let scaleX: Double
  private let scaleY: Double
  /// Whether the envelope has longitudes beyond 180 in the place of those before -180.
  private let crossesAntimeridian: Bool

  /// Fits `envelope` into a drawing.
  ///
  /// - Parameter isGeographic: whether x and y are degrees; a degree of x is then drawn as much
  ///   shorter as it is in the middle of the map.
  init(
    _ envelope: Envelope, isGeographic: Bool, maxWidth: Double, maxHeight: Double
  ) {
    let shown = Self.widened(envelope)
    let middle = min(85, abs((shown.minY + shown.maxY) / 2))
    let shrink = isGeographic ? cos(middle * .pi / 180) : 1
    let scale = min(maxWidth / (shown.width * shrink), maxHeight / shown.height)
    self.envelope = shown
    crossesAntimeridian =
      isGeographic && envelope.minX >= -180 && envelope.minX < 180 && envelope.maxX > 180.001
    scaleX = scale * shrink
    scaleY = scale
    width = shown.width * scaleX
    height = shown.height * scaleY
  }

  /// Where a position lies on the drawing.
  func project(_ point: MapPoint) -> MapPoint {
    // What lies west of a map across the antimeridian is its east.
    let x = crossesAntimeridian && point.x < envelope.minX - 1e-9 ? point.x + 360 : point.x
    return MapPoint((x - envelope.minX) * scaleX, (envelope.maxY - point.y) * scaleY)
  }

  /// How many units of x one of the drawing is.
  var unitsPerPixel: Double { 1 / scaleX }

  /// An envelope that can be drawn: one without width or height gets some, so that a lone point
  /// or a straight line lies in the middle.
  private static func widened(_ envelope: Envelope) -> Envelope {
    let limit = 1e300
    guard !envelope.isEmpty, envelope.minX > -limit, envelope.maxX < limit,
      envelope.minY > -limit, envelope.maxY < limit
    else { return Envelope(minX: -1, minY: -1, maxX: 1, maxY: 1) }
    let magnitude = max(
      abs(envelope.minX), abs(envelope.maxX), abs(envelope.minY), abs(envelope.maxY))
    // Below this, neighbouring doubles would not tell the borders apart.
    let least = max(magnitude * 1e-9, 1e-9)
    let larger = max(envelope.width, envelope.height)
    let side = larger > least ? larger / 8 : max(magnitude * 1e-4, 1e-4)
    var shown = envelope
    if shown.width < side {
      let middle = shown.minX / 2 + shown.maxX / 2
      (shown.minX, shown.maxX) = (middle - side / 2, middle + side / 2)
    }
    if shown.height < side {
      let middle = shown.minY / 2 + shown.maxY / 2
      (shown.minY, shown.maxY) = (middle - side / 2, middle + side / 2)
    }
    return shown
  }

  /// A coordinate with as many decimals as the map can tell apart.
  func label(_ value: Double, in range: Double) -> String {
    let digits = max(0, min(9, Int(max(-1, min(10, 3 - log10(range))).rounded(.up))))
    return Decimals.text(value, digits: digits)
  }

  /// The corners as texts: west and east, south and north.
  var labels: (west: String, east: String, south: String, north: String) {
    (
      label(envelope.minX, in: envelope.width),
      label(crossesAntimeridian ? envelope.maxX - 360 : envelope.maxX, in: envelope.width),
      label(envelope.minY, in: envelope.height), label(envelope.maxY, in: envelope.height)
    )
  }
}
