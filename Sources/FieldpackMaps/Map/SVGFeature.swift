/// A feature that is an element of its own, since it has a label, a size or attributes.
struct SVGFeature {
  enum Kind { case polygon, line, point }

  let kind: Kind
  /// The path of polygons and lines.
  var path: [UInt8] = []
  var dot = SVGLayer.Dot(x: 0, y: 0)
  /// The radius of a point, or the width of a line, in tenths of a pixel; `nil` is that of all.
  var size: Int?
  /// The layer and row of its attributes.
  var row: String?
  /// Shown when the pointer rests on it.
  var title: String?
  /// From which zoom on a page shows it.
  var level = 0
}

/// The zoom from which each point is shown, so that crowded points do not hide each other.
struct DotThinning {
  static let levels = 6
  /// Fewer points are all shown.
  static let least = 200
  /// The side of the square that has one point, in tenths of a pixel of the drawing.
  private static let side = 70

  private let scale: Int
  private var taken = [Set<SVGLayer.Dot>](repeating: [], count: levels - 1)

  /// - Parameter scale: units of the drawing in a pixel.
  init(scale: Int) { self.scale = scale }

  /// 0 is always shown, and each level from twice the zoom of the one before.
  mutating func level(of dot: SVGLayer.Dot) -> Int {
    var found = Self.levels - 1
    for level in taken.indices.reversed() {
      let side = max(1, (Self.side * scale) >> level)
      let cell = SVGLayer.Dot(x: dot.x / side, y: dot.y / side)
      if taken[level].insert(cell).inserted { found = level }
    }
    return found
  }
}
