/// Receives the parts of a geometry in order; no geometry value is built for that.
///
/// WKB, WKT and ``Geometry`` values all drive a visitor, so that a writer, an envelope or a count
/// is implemented once. The calls nest: `begin`, then rings, positions, or the members' own `begin
/// … end`, then `end`. The parts depend on the type:
///
/// - `POINT`: one position; none when EMPTY.
/// - `LINESTRING`, `CIRCULARSTRING`: positions.
/// - `POLYGON`, `TRIANGLE`: rings, each `beginRing`, positions, `endRing`.
/// - every other type: members, each with its own `begin` and `end`.
///
/// A driver stops at an error; the caller then has to discard what the visitor has gathered.
public protocol GeometryVisitor {
  /// Begins a geometry; members have the dimensions of the geometry that contains them.
  ///
  /// - Parameter count: the number of positions, rings or members that follow; `nil` where the
  ///   source does not know it yet, such as text.
  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?)
  /// Begins a ring of a `POLYGON` or `TRIANGLE`.
  mutating func beginRing(count: Int?)
  /// Receives a position; `z` and `m` are NaN where the dimensions lack them.
  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double)
  mutating func endRing()
  mutating func end(_ type: GeometryType)
}
