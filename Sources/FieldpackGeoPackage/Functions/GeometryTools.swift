import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite
import FieldpackTopology

/// What the functions of one connection work with, made when first needed.
///
/// Confined to the thread of its connection, as the contexts of GEOS and PROJ in it are.
final class GeometryTools {
  // The connection owns the functions, which own this.
  unowned let connection: Connection
  private var context: TopologyContext?
  private let transformations = TransformationCache()
  private let catalogue = SRSCatalogue()
  private var references: [Int32: SRSReference] = [:]
  private var geodesics: [Int32: GeodesicSystem] = [:]

  init(_ connection: Connection) { self.connection = connection }

  func topology() throws(TopologyError) -> TopologyContext {
    if let context { return context }
    let made = try TopologyContext()
    context = made
    return made
  }

  /// The one `srs_id` of two geometries; an undefined one goes with every other.
  static func common(_ a: Int32, _ b: Int32) throws -> Int32 {
    if a == b || b <= 0 { return a }
    if a <= 0 { return b }
    throw FunctionMistake(
      "the geometries are in two reference systems (srs_id \(a) and \(b)). Try: ST_Transform(…)")
  }

  // MARK: Reference systems

  /// What the file says of an `srs_id`; one that it does not define is EPSG's code.
  func reference(_ srsID: Int32) throws -> SRSReference {
    if let known = references[srsID] { return known }
    let found = try readReference(srsID)
    references[srsID] = found
    return found
  }

  private func readReference(_ srsID: Int32) throws -> SRSReference {
    if srsID == -1 { return SRSReference(.undefinedCartesian) }
    if srsID == 0 { return SRSReference(.undefinedGeographic) }
    let row = try row(
      "SELECT organization, organization_coordsys_id, definition FROM gpkg_spatial_ref_sys "
        + "WHERE srs_id = ?", [.integer(Int64(srsID))])
    guard let row, case .text(let organization) = row[0], case .integer(let code) = row[1],
      let code = Int32(exactly: code)
    else { return SRSReference(SRS("EPSG", srsID)) }
    let srs = SRS(organization, code)
    do throws(ProjectionError) {
      _ = try catalogue.definition(of: srs)
      return SRSReference(srs)
    } catch {
      guard error.kind == .unknownSRS, case .text(let definition) = row[2] else { throw error }
      return try SRSReference(wkt: definition)
    }
  }

  /// The file's `srs_id` of a system, the code itself where the file does not define it.
  func srsID(of srs: SRS) throws -> Int32 {
    let row = try row(
      "SELECT srs_id FROM gpkg_spatial_ref_sys WHERE upper(organization) = ? "
        + "AND organization_coordsys_id = ?", [.text(srs.organization), .integer(Int64(srs.code))])
    if case .integer(let id)? = row?[0], let id = Int32(exactly: id) { return id }
    return srs.code
  }

  private func row(_ sql: String, _ values: [SQLiteValue]) throws -> [SQLiteValue]? {
    guard let statement = try prepare(sql) else { return nil }
    defer { statement.reset() }
    try statement.bind(values)
    guard try statement.step() else { return nil }
    return (0..<statement.columnCount).map { statement.value($0) }
  }

  /// `nil` where the file has no such table, as it is no GeoPackage.
  private func prepare(_ sql: String) throws(SQLiteError) -> Statement? {
    do throws(SQLiteError) {
      return try connection.prepare(sql)
    } catch {
      guard error.code == 1 else { throw error }
      return nil
    }
  }

  func transformation(
    from source: SRSReference, to target: SRSReference
  ) throws(ProjectionError) -> CoordinateTransformation {
    try transformations.transformation(from: source, to: target)
  }

  /// How geometries of an `srs_id` are measured on the ellipsoid.
  func geodesics(_ srsID: Int32) throws -> GeodesicSystem {
    if let known = geodesics[srsID] { return known }
    let made = try GeodesicSystem(try reference(srsID))
    geodesics[srsID] = made
    return made
  }

  // MARK: Kept arguments

  private var prepared: [Latest<PreparedGeometry>] = [.init(), .init()]
  private var shapes: [Latest<KeptShape>] = [.init(), .init()]

  /// What was made of an argument that came last at a place.
  private struct Latest<Kept: AnyObject> {
    var blob: [UInt8] = []
    var kept: Kept?
  }

  final class KeptShape {
    let shape: GeodesicShape

    init(_ shape: GeodesicShape) { self.shape = shape }
  }

  /// The argument made ready, where it is constant or the same as at the last call; `nil` where it is
  /// not worth it.
  func prepared(
    _ index: Int, of call: GeometryCall, _ blob: RawSpan, _ wkb: RawSpan
  ) throws -> PreparedGeometry? {
    if let kept = call.context.auxiliary(index) as? PreparedGeometry { return kept }
    guard blob.hasSameBytes(as: prepared[index].blob) else {
      prepared[index] = Latest(blob: blob.withUnsafeBytes { Array($0) })
      return nil
    }
    if prepared[index].kept == nil {
      prepared[index].kept = try PreparedGeometry(wkb: wkb, in: try topology())
    }
    if let kept = prepared[index].kept { call.context.setAuxiliary(kept, index) }
    return prepared[index].kept
  }

  /// The argument ready for geodesics; kept where it is constant or the same as at the last call.
  func shape(_ index: Int, of call: GeometryCall) throws -> GeodesicShape? {
    if let kept = call.context.auxiliary(index) as? KeptShape { return kept.shape }
    return try call.withGeometry(index) { header, wkb in
      let isSame = call.context.withBytes(index) { $0.hasSameBytes(as: shapes[index].blob) }
      if isSame, let kept = shapes[index].kept {
        call.context.setAuxiliary(kept, index)
        return kept.shape
      }
      let kept = KeptShape(try geodesics(header.srsID).shape(of: wkb))
      let blob = call.context.withBytes(index) { $0.withUnsafeBytes { Array($0) } }
      shapes[index] = Latest(blob: blob, kept: kept)
      call.context.setAuxiliary(kept, index)
      return kept.shape
    }
  }
}

extension RawSpan {
  func hasSameBytes(as other: [UInt8]) -> Bool {
    byteCount == other.count && withUnsafeBytes { $0.elementsEqual(other) }
  }
}
