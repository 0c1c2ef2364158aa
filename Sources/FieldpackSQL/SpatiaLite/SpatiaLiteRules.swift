import FieldpackGeometry
import FieldpackSQLite

/// The rules for SpatiaLite's functions in users' SQL: what they may get, and which of them
/// Fieldpack replaces.
///
/// SpatiaLite 5.0 ends the process for empty geometries, reads nested collections beyond their end,
/// and knows no curves.
enum SpatiaLiteRules {
  /// The function of Fieldpack that replaces one of SpatiaLite's, both in lower case.
  static func substitute(for name: String) -> String? {
    if let other = otherNames[name] { return other }
    return name.hasPrefix("st_") ? String(name.dropFirst(3)) : "st_\(name)"
  }

  private static let otherNames = [
    "aswkt": "st_astext", "casttomulti": "st_multi", "casttoxy": "st_force2d",
    "geometryfromtext": "st_geomfromtext", "st_geometryfromtext": "st_geomfromtext",
    "st_wkttosql": "st_geomfromtext", "geometryfromwkb": "st_geomfromwkb",
    "st_geometryfromwkb": "st_geomfromwkb", "st_wkbtosql": "st_geomfromwkb",
    "glength": "st_length", "gunion": "st_union", "makepoint": "st_point",
    "mbrminx": "st_minx", "mbrmaxx": "st_maxx", "mbrminy": "st_miny", "mbrmaxy": "st_maxy",
    "ptdistwithin": "st_dwithin", "st_ndims": "st_coorddim",
  ]

  private static let modes = "geometries are those of a GeoPackage here"

  /// The functions that are refused, with the reason.
  static let refused = harmful.merging(ofFiles.map { ($0, "it opens a file by its name") }) {
    $1
  }

  /// Most of these exist only with `SPATIALITE_SECURITY=relaxed` in the environment.
  private static let ofFiles = [
    "blobfromfile", "blobtofile", "exportdbf", "exportdxf", "exportgeojson",
    "exportgeojson2", "exportkml", "exportshp", "importdbf", "importdxf", "importdxffromdir",
    "importgeojson", "importshp", "importwfs", "importxls", "importzipdbf", "importzipshp",
    "proj_guesssridfromshp", "proj_guesssridfromzipshp", "proj_setdatabasepath",
    "sqlproc_fromfile", "sqlproc_setlogfile", "xb_loadxml", "xb_storexml", "zipfile_dbfn",
    "zipfile_numdbf", "zipfile_numshp", "zipfile_shpn",
  ]

  private static let harmful = [
    "eval": "it runs SQL of its own",
    "disablegpkgmode": modes, "enablegpkgmode": modes, "enablegpkgamphibiousmode": modes,
    "disablegpkgamphibiousmode": modes,
    "enabletinypoint": modes,
    "geomfromkml": "SpatiaLite ends the process for KML without positions",
    "geomfromtwkb": "SpatiaLite reads TWKB beyond its end",
    "togars": "SpatiaLite ends the process for positions off the globe",
  ]

  /// The longest text in bytes that a function may be given. SpatiaLite copies names of tables and the
  /// like into buffers of fixed size.
  static func longestText(for name: String) -> Int {
    name.contains("from") || name.hasPrefix("xb_") || name.hasPrefix("md5") ? .max : 256
  }

  /// Whether SpatiaLite can read a blob without harm.
  /// Not admitted are: a damaged or empty geometry or one with an empty part, a line or ring that
  /// is too short or has a single distinct position, a curve, a position that is no number or too
  /// large to compute with, a member that is no point, line or polygon, and SpatiaLite's own blobs.
  static func admits(_ blob: RawSpan) -> Bool {
    if blob.byteCount >= 2, blob.unsafeLoad(fromByteOffset: 0, as: UInt8.self) == 0x47,
      blob.unsafeLoad(fromByteOffset: 1, as: UInt8.self) == 0x50
    {
      guard let header = try? GeoPackageBinary(blob), !header.isExtended else { return false }
      return isPlain(blob.extracting(header.bodyOffset...)) == true
    }
    if SpatiaLiteBlob.isMarked(blob) { return false }
    // Other bytes may be an image or a document.
    return isPlain(blob) ?? true
  }

  /// `nil` for bytes that are no WKB.
  private static func isPlain(_ wkb: RawSpan) -> Bool? {
    var visitor = PlainVisitor()
    guard (try? WKB.visit(wkb, with: &visitor)) != nil else { return nil }
    return visitor.isPlain
  }
}

/// Finds parts that SpatiaLite cannot read.
private struct PlainVisitor: GeometryVisitor {
  private(set) var isPlain = true
  private var depth = 0
  private var first: (Double, Double)?
  /// Whether the line or ring has two different positions.
  private var leavesFirst = false
  /// Areas and determinants multiply ordinates twice. Up to this magnitude the products stay
  /// finite.
  private static let farthest = 1e30

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {
    depth += 1
    switch type {
    case .point, .lineString, .polygon: isPlain = isPlain && depth <= 2
    case .multiPoint, .multiLineString, .multiPolygon, .geometryCollection:
      isPlain = isPlain && depth == 1
    default: isPlain = false
    }
    if count == 0 { isPlain = false }
    if type == .lineString { beginPath() }
  }

  mutating func beginRing(count: Int?) {
    if let count, count < 4 { isPlain = false }
    beginPath()
  }

  private mutating func beginPath() {
    first = nil
    leavesFirst = false
  }

  private func endsWell() -> Bool { isPlain && leavesFirst }

  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    if !(x.magnitude <= Self.farthest && y.magnitude <= Self.farthest) { isPlain = false }
    if let first { leavesFirst = leavesFirst || first != (x, y) } else { first = (x, y) }
  }

  mutating func endRing() { isPlain = endsWell() }

  mutating func end(_ type: GeometryType) {
    depth -= 1
    if type == .lineString { isPlain = endsWell() }
  }
}
