import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite
import FieldpackTopology

/// The tools of one connection's functions, made when first needed.
///
/// Confined to the thread of its connection, as its GEOS and PROJ contexts are.
final class GeometryTools {
  // No cycle: the connection owns the functions, and these own the tools; the file does not own the
  // connection.
  let file: GeoPackageSession
  private var context: TopologyContext?

  init(_ file: GeoPackageSession) { self.file = file }

  func topology() throws(TopologyError) -> TopologyContext {
    if let context { return context }
    let made = try TopologyContext()
    context = made
    return made
  }

  /// The common `srs_id` of two geometries. An undefined one matches every other.
  static func common(_ a: Int32, _ b: Int32) throws -> Int32 {
    if a == b || b <= 0 { return a }
    if a <= 0 { return b }
    throw FunctionMistake(
      "the geometries are in two reference systems (srs_id \(a) and \(b)). Try: ST_Transform(…)")
  }

  private var degrees: [Int32: Bool] = [:]

  /// Whether the positions of a reference system are longitudes and latitudes in degrees.
  func isInDegrees(_ srsID: Int32) -> Bool {
    if let known = degrees[srsID] { return known }
    let system = try? file.geodesics(file.reference(srsID: srsID))
    let isInDegrees = system.map { $0.transformation == nil } ?? false
    degrees[srsID] = isInDegrees
    return isInDegrees
  }

  // MARK: Kept arguments

  private var prepared: [Latest<PreparedGeometry>] = [.init(), .init()]
  private var shapes: [Latest<KeptShape>] = [.init(), .init()]

  /// The latest argument at an index, and what was made from it.
  private struct Latest<Kept: AnyObject> {
    var blob: [UInt8] = []
    var kept: Kept?
  }

  /// A shape, and the system of its positions.
  private final class KeptShape {
    let shape: GeodesicShape
    let frame: SRSReference

    init(_ shape: GeodesicShape, in frame: SRSReference) {
      self.shape = shape
      self.frame = frame
    }
  }

  /// The auxiliary data of an argument that was seen once. SQLite returns it at the next call only
  /// if the argument is constant (https://www.sqlite.org/c3ref/get_auxdata.html).
  private final class Seen {}
  private let seen = Seen()

  /// The prepared argument, where it is constant or the same as in the last call; otherwise `nil`,
  /// because preparing it would cost more than it saves.
  func prepared(
    _ index: Int, of call: GeometryCall, _ blob: RawSpan, _ wkb: RawSpan
  ) throws -> PreparedGeometry? {
    let beside = call.context.auxiliary(index)
    if let kept = beside as? PreparedGeometry { return kept }
    if beside === seen {
      let made = try PreparedGeometry(wkb: wkb, in: try topology())
      call.context.setAuxiliary(made, index)
      return made
    }
    guard blob.hasSameBytes(as: prepared[index].blob) else {
      prepared[index] = Latest(blob: blob.withUnsafeBytes { Array($0) })
      call.context.setAuxiliary(seen, index)
      return nil
    }
    if prepared[index].kept == nil {
      prepared[index].kept = try PreparedGeometry(wkb: wkb, in: try topology())
    }
    if let kept = prepared[index].kept { call.context.setAuxiliary(kept, index) }
    return prepared[index].kept
  }

  /// The first two arguments as geodesic shapes, the second in the first one's system; `nil` where
  /// one is NULL.
  func shapes(of call: GeometryCall) throws -> (GeodesicShape, GeodesicShape)? {
    guard let first = try shape(0, of: call, in: nil),
      let second = try shape(1, of: call, in: first.frame)
    else { return nil }
    return (first.shape, second.shape)
  }

  /// The argument's shape, kept where the argument is constant or the same as in the last call.
  private func shape(
    _ index: Int, of call: GeometryCall, in frame: SRSReference?
  ) throws -> KeptShape? {
    func fits(_ kept: KeptShape) -> Bool { frame == nil || kept.frame == frame }
    if let kept = call.context.auxiliary(index) as? KeptShape, fits(kept) { return kept }
    return try call.withGeometry(index) { header, wkb in
      let isSame = call.context.withBytes(index) { $0.hasSameBytes(as: shapes[index].blob) }
      if isSame, let kept = shapes[index].kept, fits(kept) {
        call.context.setAuxiliary(kept, index)
        return kept
      }
      let kept = try makeShape(wkb, srsID: header.srsID, in: frame)
      let blob = call.context.withBytes(index) { $0.withUnsafeBytes { Array($0) } }
      shapes[index] = Latest(blob: blob, kept: kept)
      call.context.setAuxiliary(kept, index)
      return kept
    }
  }

  private func makeShape(
    _ wkb: RawSpan, srsID: Int32, in frame: SRSReference?
  ) throws -> KeptShape {
    let reference = try file.reference(srsID: srsID)
    let system = try file.geodesics(reference)
    guard let frame, frame != system.frame else {
      return KeptShape(try system.shape(of: wkb), in: system.frame)
    }
    // The same longitude and latitude in two datums are different locations.
    var bytes = wkb.withUnsafeBytes { [UInt8]($0) }
    let source = srsID == 0 ? system.frame : reference
    try file.transformations.transformation(from: source, to: frame).transform(wkb: &bytes)
    let ellipsoid = try file.geodesics(frame).ellipsoid
    return KeptShape(try GeodesicShape(wkb: bytes.span.bytes, on: ellipsoid), in: frame)
  }
}

extension RawSpan {
  func hasSameBytes(as other: [UInt8]) -> Bool {
    byteCount == other.count && withUnsafeBytes { $0.elementsEqual(other) }
  }
}
