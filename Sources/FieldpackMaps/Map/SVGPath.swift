/// The data of an SVG path in tenths of a pixel, each position relative to the one before.
struct SVGPath {
  private(set) var bytes: [UInt8] = []
  private var x = 0
  private var y = 0

  /// Where the tenths of a pixel are that a point rounds to; far outside they stay at a bound.
  static func tenths(_ point: MapPoint) -> (x: Int, y: Int) {
    let limit = 1e6
    return (
      Int((max(-limit, min(limit, point.x)) * 10).rounded()),
      Int((max(-limit, min(limit, point.y)) * 10).rounded())
    )
  }

  mutating func move(to point: (x: Int, y: Int)) {
    bytes.append(UInt8(ascii: "M"))
    append(point.x)
    separate(before: point.y)
    append(point.y)
    (x, y) = point
  }

  mutating func line(to point: (x: Int, y: Int)) {
    let (dx, dy) = (point.x - x, point.y - y)
    if dy == 0 {
      bytes.append(UInt8(ascii: "h"))
      append(dx)
    } else if dx == 0 {
      bytes.append(UInt8(ascii: "v"))
      append(dy)
    } else {
      bytes.append(UInt8(ascii: "l"))
      append(dx)
      separate(before: dy)
      append(dy)
    }
    (x, y) = point
  }

  /// Adds what another path draws.
  mutating func append(_ other: SVGPath) {
    bytes.append(contentsOf: other.bytes)
    (x, y) = (other.x, other.y)
  }

  mutating func close() { bytes.append(UInt8(ascii: "z")) }

  private mutating func separate(before value: Int) {
    if value >= 0 { bytes.append(UInt8(ascii: " ")) }
  }

  /// Tenths as a decimal number: 125 is `12.5`, 120 is `12`.
  private mutating func append(_ tenths: Int) { Self.append(tenths, to: &bytes) }

  static func append(_ tenths: Int, to bytes: inout [UInt8]) {
    if tenths < 0 { bytes.append(UInt8(ascii: "-")) }
    let (whole, tenth) = tenths.magnitude.quotientAndRemainder(dividingBy: 10)
    if whole > 0 || tenth == 0 { bytes.append(contentsOf: String(whole).utf8) }
    guard tenth > 0 else { return }
    bytes.append(UInt8(ascii: "."))
    bytes.append(UInt8(ascii: "0") + UInt8(tenth))
  }
}
