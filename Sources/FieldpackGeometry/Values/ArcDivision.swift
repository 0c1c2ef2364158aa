/// Divides circular arcs by halving.
///
/// Halving needs only square roots: an arc's middle lies on the normal through the middle of its
/// chord.
struct ArcDivision {
  /// The cosine of the largest angle that a segment may span.
  private let smallestCosine: Double
  private let maximumDepth: Int

  init(segmentsPerQuarter: Int) {
    var (segments, cosine, halvings) = (1, 0.0, 0)
    while segments < min(max(segmentsPerQuarter, 1), 256) {
      segments *= 2
      halvings += 1
      cosine = ((1 + cosine) / 2).squareRoot()
    }
    // The tolerance makes a quarter circle end at the wanted number of segments, though its cosine
    // was rounded.
    smallestCosine = cosine - 1e-9
    // Two more halvings, because an arc between two control points may be nearly a full circle.
    maximumDepth = halvings + 2
  }

  /// The positions of a circular string, with positions between its control points.
  ///
  /// Three control points make an arc. Where the first and the last are equal, the arc is a full
  /// counterclockwise circle with the second point opposite. Control points in a line make straight
  /// lines.
  func divided(_ line: CoordinateSequence) -> CoordinateSequence {
    guard let first = line.first else { return line }
    var result = CoordinateSequence(dimensions: line.dimensions)
    result.append(first)
    var index = 0
    while index + 2 < line.count {
      let (start, middle, end) = (line[index], line[index + 1], line[index + 2])
      if let circle = Circle(start, middle, end) {
        halve(start, middle, on: circle, depth: 0, into: &result)
        result.append(middle)
        halve(middle, end, on: circle, depth: 0, into: &result)
      } else {
        result.append(middle)
      }
      result.append(end)
      index += 2
    }
    while index + 1 < line.count {
      index += 1
      result.append(line[index])
    }
    return result
  }

  /// Appends the positions between `start` and `end`, without these two.
  private func halve(
    _ start: Position, _ end: Position, on circle: Circle, depth: Int,
    into result: inout CoordinateSequence
  ) {
    let (a, b) = (circle.radial(start), circle.radial(end))
    let cross = a.x * (end.y - start.y) - a.y * (end.x - start.x)
    let isUnderHalf = cross * circle.direction > 0
    let cosine = (a.x * b.x + a.y * b.y) / (circle.radius * circle.radius)
    guard depth < maximumDepth, !isUnderHalf || cosine < smallestCosine else { return }
    // For a narrow arc the sum of the radii is more exact, for a wide arc the chord's normal.
    let along =
      isUnderHalf && cosine > 0
      ? (x: a.x + b.x, y: a.y + b.y)
      : (x: (b.y - a.y) * circle.direction, y: (a.x - b.x) * circle.direction)
    let length = (along.x * along.x + along.y * along.y).squareRoot()
    guard length > 0 else { return }
    let scale = circle.radius / length
    let middle = Position(
      x: circle.x + along.x * scale, y: circle.y + along.y * scale,
      z: Self.mean(start.z, end.z), m: Self.mean(start.m, end.m))
    halve(start, middle, on: circle, depth: depth + 1, into: &result)
    result.append(middle)
    halve(middle, end, on: circle, depth: depth + 1, into: &result)
  }

  private static func mean(_ a: Double?, _ b: Double?) -> Double? {
    guard let a, let b else { return nil }
    return a + (b - a) / 2
  }

  private struct Circle {
    let x: Double
    let y: Double
    let radius: Double
    /// 1 for counterclockwise, -1 for clockwise.
    let direction: Double

    /// The circle through three positions; `nil` where they lie in a line or are not all finite.
    init?(_ start: Position, _ middle: Position, _ end: Position) {
      let (bx, by) = (middle.x - start.x, middle.y - start.y)
      let (ex, ey) = (end.x - start.x, end.y - start.y)
      let (b, e) = (bx * bx + by * by, ex * ex + ey * ey)
      var (cx, cy, cross) = (bx / 2, by / 2, 1.0)
      if e > 0 {
        cross = bx * ey - by * ex
        guard cross.magnitude > 1e-12 * max(b, e) else { return nil }
        cx = (ey * b - by * e) / (2 * cross)
        cy = (bx * e - ex * b) / (2 * cross)
      }
      radius = (cx * cx + cy * cy).squareRoot()
      guard radius > 0, radius.isFinite else { return nil }
      x = start.x + cx
      y = start.y + cy
      direction = cross > 0 ? 1 : -1
    }

    func radial(_ position: Position) -> (x: Double, y: Double) {
      (position.x - x, position.y - y)
    }
  }
}
