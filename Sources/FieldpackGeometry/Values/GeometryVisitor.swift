/// Receives the parts of a geometry in order, without any object being built.
///
/// WKB, WKT and ``Geometry`` values all drive a visitor, so a writer, an envelope or a count is
/// written once. The calls nest: `begin`, then rings or positions or the members' own
/// `begin … end`, then `end`. The parts arrive as follows.
///
/// - `POINT`: one position, none when EMPTY.
/// - `LINESTRING`, `CIRCULARSTRING`: positions.
/// - `POLYGON`, `TRIANGLE`: rings, each `beginRing`, positions, `endRing`.
/// - every other type: members, each with a `begin` and `end` of its own.
///
/// A driver that finds an error stops there; what the visitor has seen by then is to be dropped.
public protocol GeometryVisitor {
  /// A geometry begins; members have the dimensions of the geometry around them.
  ///
  /// - Parameter count: how many positions, rings or members follow; `nil` where the source cannot
  ///   know yet, as in text.
  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?)
  /// A ring of a `POLYGON` or `TRIANGLE` begins.
  mutating func beginRing(count: Int?)
  /// A position; `z` and `m` are NaN where the dimensions have none.
  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double)
  mutating func endRing()
  mutating func end(_ type: GeometryType)
}
