public import FieldpackGeometry

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How an envelope lies on a drawing: the aspect is kept, y grows downwards.
public struct MapFrame: Hashable, Sendable {
  /// What the drawing shows; never without width or height.
  public let envelope: Envelope
  /// In units of the drawing.
  public let width: Double
  public let height: Double
  private let scaleX: Double
  private let scaleY: Double

  /// Fits `envelope` into a drawing.
  ///
  /// - Parameter isGeographic: whether x and y are degrees; a degree of x is then drawn as much
  ///   shorter as it is in the middle of the map.
  public init(
    _ envelope: Envelope, isGeographic: Bool, maxWidth: Double, maxHeight: Double
  ) {
    let shown = Self.widened(envelope)
    let middle = min(85, abs((shown.minY + shown.maxY) / 2))
    let shrink = isGeographic ? cos(middle * .pi / 180) : 1
    let scale = min(maxWidth / (shown.width * shrink), maxHeight / shown.height)
    self.envelope = shown
    scaleX = scale * shrink
    scaleY = scale
    width = shown.width * scaleX
    height = shown.height * scaleY
  }

  /// Where a position lies on the drawing.
  func project(_ point: MapPoint) -> MapPoint {
    MapPoint((point.x - envelope.minX) * scaleX, (envelope.maxY - point.y) * scaleY)
  }

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
    let digits = max(0, min(9, Int((3 - log10(range)).rounded(.up))))
    return Decimals.text(value, digits: digits)
  }

  /// The corners as texts: west and east, south and north.
  var labels: (west: String, east: String, south: String, north: String) {
    (
      label(envelope.minX, in: envelope.width), label(envelope.maxX, in: envelope.width),
      label(envelope.minY, in: envelope.height), label(envelope.maxY, in: envelope.height)
    )
  }
}

/// Numbers with a fixed count of decimals.
enum Decimals {
  /// `value` rounded to `digits` decimals; the shortest form where it is too large for that.
  static func text(_ value: Double, digits: Int) -> String {
    var power = 1.0
    for _ in 0..<digits { power *= 10 }
    let scaled = (value * power).rounded()
    guard abs(scaled) < 9e15 else { return "\(value)" }
    let whole = Int64(abs(scaled))
    let sign = scaled < 0 ? "-" : ""
    guard digits > 0 else { return "\(sign)\(whole)" }
    let text = String(whole)
    let padded = String(repeating: "0", count: max(0, digits + 1 - text.utf8.count)) + text
    return "\(sign)\(padded.dropLast(digits)).\(padded.suffix(digits))"
  }
}

extension Decimals {
  /// `value` with at most `digits` decimals and no zeros at their end.
  static func short(_ value: Double, digits: Int = 6) -> String {
    var text = Decimals.text(value, digits: digits)
    guard text.contains("."), !text.contains("e") else { return text }
    while text.last == "0" { text.removeLast() }
    if text.last == "." { text.removeLast() }
    return text == "-0" ? "0" : text
  }
}

/// Cuts segments at the border of a drawing.
enum Clipping {
  /// The part of the segment inside `0...width`, `0...height`, after Liang and Barsky.
  static func segment(
    _ a: MapPoint, _ b: MapPoint, width: Double, height: Double
  ) -> (MapPoint, MapPoint)? {
    let (dx, dy) = (b.x - a.x, b.y - a.y)
    guard dx.isFinite, dy.isFinite else { return nil }
    var from = 0.0
    var to = 1.0
    for (step, room) in [(-dx, a.x), (dx, width - a.x), (-dy, a.y), (dy, height - a.y)] {
      if step == 0 {
        if room < 0 { return nil }
      } else if step < 0 {
        from = max(from, room / step)
      } else {
        to = min(to, room / step)
      }
    }
    guard from <= to else { return nil }
    return (
      MapPoint(a.x + from * dx, a.y + from * dy), MapPoint(a.x + to * dx, a.y + to * dy)
    )
  }
}
