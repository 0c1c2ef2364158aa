import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTopology

/// Makes the geometries of a layer valid.
///
/// Parts of a lower dimension are dropped. A geometry that would have no part left stays as it is,
/// and so does one with m or curves, which GEOS does not keep. Where a polygon or line falls into
/// several, all geometries of a column for single ones become collections, and so does its type.
struct GeometryRepair {
  let file: GeoPackageSession
  let layer: LayerTable

  private static let rowsAtOnce = 256
  private static let bytesAtOnce = 16 << 20

  /// The number of mended geometries, and the new type of the column where it has one.
  func run() throws(FieldpackError) -> (count: Int, type: GeometryType?) {
    guard let column = layer.schema.geometry, layer.idSQL != nil else { return (0, nil) }
    let context: TopologyContext
    do throws(TopologyError) { context = try TopologyContext() } catch {
      throw FieldpackError(.unavailable, error.message)
    }
    var needsMulti = false
    let count = try rewrite { (wkb, _) in
      guard (try? context.validity(of: wkb)) != .valid,
        let geometry = Self.mended(wkb, in: context)
      else { return nil }
      if column.type.accepts(geometry.type) { return geometry }
      if geometry.type.multi == column.type { return geometry.promotedToMulti() }
      guard column.type.multi == geometry.type else { return nil }
      needsMulti = true
      return geometry
    }
    guard needsMulti, let multi = column.type.multi else { return (count, nil) }
    _ = try rewrite { (wkb, type) in
      type == column.type ? (try? WKB.read(wkb))?.promotedToMulti() : nil
    }
    var wider = column
    wider.type = multi
    try ColumnChange(of: layer, in: file).retype(wider)
    return (count, multi)
  }

  /// The valid geometry of one that is not; `nil` where it is not mended.
  static func mended(_ wkb: RawSpan, in context: TopologyContext) -> Geometry? {
    guard let geometry = try? WKB.read(wkb), !geometry.dimensions.hasM,
      !GeometrySurvey.hasCurves(wkb),
      let made = try? context.mended(geometry), !made.isEmpty
    else { return nil }
    return made
  }

  /// Changes geometries; `change` gets one with its type, and gives another one.
  private func rewrite(
    _ change: (RawSpan, GeometryType) -> Geometry?
  ) throws(FieldpackError) -> Int {
    guard let geometry = layer.schema.geometry, let id = layer.idSQL else { return 0 }
    let column = quoted(geometry.name)
    let update = "UPDATE \(quoted(layer.table)) SET \(column) = ? WHERE \(id) = ?"
    var count = 0
    var last: Int64?
    while true {
      let (changed, end) = try read(id, column, after: last, change)
      for (row, blob) in changed { try file.execute(update, [.blob(blob), .integer(row)]) }
      count += changed.count
      guard let end else { return count }
      last = end
    }
  }

  /// Some rows with their new blobs, and the id after which to continue; `nil` at the end.
  private func read(
    _ id: String, _ column: String, after last: Int64?,
    _ change: (RawSpan, GeometryType) -> Geometry?
  ) throws(FieldpackError) -> ([(Int64, [UInt8])], Int64?) {
    let rows = try file.prepare(
      "SELECT \(id), \(column) FROM \(quoted(layer.table)) \(last == nil ? "" : "WHERE \(id) > ?") "
        + "ORDER BY \(id)", last.map { [.integer($0)] } ?? [])
    defer { rows.reset() }
    var changed: [(Int64, [UInt8])] = []
    var bytes = 0
    while try rows.step() {
      guard rows.row.kind(1) == .blob else { continue }
      let blob = rows.row.withBytes(1) { blob -> [UInt8]? in
        guard let header = try? GeoPackageBinary(blob), !header.isExtended else { return nil }
        let wkb = blob.extracting(droppingFirst: header.bodyOffset)
        guard let type = try? WKB.header(of: wkb).type, let geometry = change(wkb, type) else {
          return nil
        }
        var result: [UInt8] = []
        GeoPackageBinary.append(
          geometry, srsID: header.srsID, to: &result, policy: .fixed(header.envelopeContents))
        return result
      }
      guard let blob else { continue }
      let row = rows.row.integer(0)
      changed.append((row, blob))
      bytes += blob.count
      if changed.count == Self.rowsAtOnce || bytes >= Self.bytesAtOnce { return (changed, row) }
    }
    return (changed, nil)
  }
}
