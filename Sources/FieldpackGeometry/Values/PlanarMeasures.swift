/// The length, perimeter and area of a geometry in the plane of its reference system, in its units.
///
/// Curves are linearised; z and m are ignored.
public struct PlanarMeasures: Hashable, Sendable {
  /// The length of lines.
  public private(set) var length = 0.0
  /// The perimeter of polygons, including holes.
  public private(set) var perimeter = 0.0
  /// The area of polygons without their holes, for any direction of the rings.
  public private(set) var area = 0.0

  /// Measures one geometry in well-known binary, without building it unless it has curves.
  public init(wkb: RawSpan) throws(GeometryError) {
    var visitor = PlanarVisitor()
    try WKB.visit(wkb, with: &visitor)
    if visitor.hasCurves {
      self.init(try WKB.read(wkb))
    } else {
      self = visitor.measures
    }
  }

  public init(_ geometry: Geometry) {
    var visitor = PlanarVisitor()
    geometry.linearized().visit(with: &visitor)
    self = visitor.measures
  }

  fileprivate init() {}

  fileprivate mutating func add(line: Double) { length += line }

  fileprivate mutating func add(ring: Double, area: Double) {
    perimeter += ring
    self.area += area
  }
}

/// Sums the segments of lines and rings.
private struct PlanarVisitor: GeometryVisitor {
  var measures = PlanarMeasures()
  var hasCurves = false
  private var isShell = true
  private var count = 0
  private var first = (x: 0.0, y: 0.0)
  private var last = (x: 0.0, y: 0.0)
  private var sum = 0.0
  private var doubleArea = 0.0

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    if type.isCurved { hasCurves = true }
    isShell = true
    clear()
  }

  mutating func beginRing(count: Int?) { clear() }

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    if count == 0 {
      first = (x, y)
    } else {
      let (dx, dy) = (x - last.x, y - last.y)
      sum += (dx * dx + dy * dy).squareRoot()
      // Coordinates are taken relative to the first position, so that large ones do not cancel the
      // area.
      doubleArea += (last.x - first.x) * (y - first.y) - (x - first.x) * (last.y - first.y)
    }
    last = (x, y)
    count += 1
  }

  mutating func endRing() {
    measures.add(ring: sum, area: (isShell ? 1 : -1) * abs(doubleArea) / 2)
    isShell = false
    clear()
  }

  mutating func end(_ type: GeometryType) {
    if type == .lineString { measures.add(line: sum) }
    clear()
  }

  private mutating func clear() { (count, sum, doubleArea) = (0, 0, 0) }
}
