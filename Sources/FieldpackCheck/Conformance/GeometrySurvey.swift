import FieldpackGeoPackage
import FieldpackGeometry

/// The facts about a geometry that a check needs, gathered in one pass over its WKB.
struct GeometrySurvey: GeometryVisitor {
  private(set) var bounds = EnvelopeVisitor()
  /// The number of positions, without the NaN position of an empty POINT.
  private(set) var positionCount = 0
  private(set) var hasCurves = false
  private(set) var openRings = 0
  private(set) var shortRings = 0
  private(set) var shortLines = 0
  private(set) var oddPositions = 0

  private var depth = 0
  private var runCount = 0
  private var first = SIMD2<Double>.zero
  private var last = SIMD2<Double>.zero

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    bounds.begin(type, dimensions, count: count)
    if type.isCurved { hasCurves = true }
    // A line without positions is EMPTY. A line with a single position is invalid.
    if type == .lineString, count == 1 { shortLines += 1 }
    if type == .circularString, let count, count != 0, count < 3 || count % 2 == 0 {
      shortLines += 1
    }
  }

  mutating func beginRing(count: Int?) {
    runCount = 0
    if let count, count > 0, count < 4 { shortRings += 1 }
  }

  @inline(__always)
  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    if runCount == 0 { first = SIMD2(x, y) }
    last = SIMD2(x, y)
    runCount += 1
    positionCount += 1
    if !x.isFinite || !y.isFinite { oddPositions += 1 }
    bounds.position(x, y, z, m)
  }

  mutating func endRing() { if runCount > 0, first != last { openRings += 1 } }

  mutating func end(_ type: GeometryType) {}

  var envelope: Envelope? { bounds.envelope }
  var isEmpty: Bool { positionCount == 0 }

  /// Whether a geometry is a curve or holds one.
  static func hasCurves(_ wkb: RawSpan) -> Bool {
    var survey = GeometrySurvey()
    _ = try? WKB.visit(wkb, with: &survey)
    return survey.hasCurves
  }

  /// What is invalid, in words; `nil` for a valid geometry.
  var fault: String? {
    if oddPositions > 0 { return "\(Self.counted(oddPositions, "position")) not finite" }
    if shortRings > 0 { return "\(Self.counted(shortRings, "ring")) of less than 4 positions" }
    if openRings > 0 { return "\(Self.counted(openRings, "ring")) not closed" }
    if shortLines > 0 { return "\(Self.counted(shortLines, "line")) of too few positions" }
    return nil
  }

  private static func counted(_ count: Int, _ what: String) -> String {
    "\(count) \(what)\(count == 1 ? " is" : "s are")"
  }
}
