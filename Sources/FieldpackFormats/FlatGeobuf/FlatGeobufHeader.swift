import FieldpackCore
import FieldpackGeometry

/// What the header of a FlatGeobuf file says.
package struct FlatGeobufHeader {
  /// A column, of the header or of one feature.
  struct Column: Hashable {
    var name: String
    var kind: Kind
    var title: String?
    var description: String?
    /// What the file says of all values, which may not be true.
    var isNullable: Bool
    var isUnique: Bool
    var isPrimaryKey: Bool
    var maximumLength: Int?

    init(_ table: FlatTable) throws(FieldpackError) {
      name = try table.text(0) ?? ""
      let raw = try table.integer(1, default: UInt8(0))
      guard let kind = Kind(rawValue: raw) else {
        throw FieldpackError(.invalidData, "column '\(name)' has the unknown type \(raw)")
      }
      self.kind = kind
      title = try table.text(2)
      description = try table.text(3)
      isPrimaryKey = try table.flag(9)
      isNullable = try table.flag(7, default: true) && !isPrimaryKey
      isUnique = try table.flag(8)
      let width = try table.integer(4, default: Int32(-1))
      maximumLength = width > 0 && kind == .string ? Int(width) : nil
    }
  }

  /// The type of a column.
  enum Kind: UInt8 {
    case byte, unsignedByte, bool, short, unsignedShort, int, unsignedInt, long, unsignedLong
    case float, double, string, json, dateTime, binary

    /// Whether the values are integers of SQLite.
    var isInteger: Bool {
      switch self {
      case .byte, .unsignedByte, .short, .unsignedShort, .int, .unsignedInt, .long: true
      default: false
      }
    }
  }

  var name: String
  var envelope: Envelope?
  var type: GeometryType
  var dimensions: Dimensions
  /// Whether features have times of a kind that a GeoPackage has no place for.
  var hasTimes: Bool
  var columns: [Column] = []
  /// 0 where the file does not say it.
  var featureCount: Int
  /// The entries of a node of the index; 0 where there is no index.
  var nodeSize: Int
  var srs: SRS?
  /// Whether the file names a reference system, known or not.
  var hasSystem = false

  /// The bytes that a file begins with: `fgb`, the major version, `fgb`, and a minor version.
  static let magic: [UInt8] = Array("fgb".utf8) + [3] + Array("fgb".utf8) + [1]

  init(_ table: FlatTable) throws(FieldpackError) {
    name = try table.text(0) ?? ""
    if let box = try table.vector(1, of: 8), box.count >= 4 {
      envelope = Envelope(
        minX: box.double(0), minY: box.double(1), maxX: box.double(2), maxY: box.double(3))
    }
    let raw = try table.integer(2, default: UInt8(0))
    guard let type = GeometryType(rawValue: UInt32(raw)) else {
      throw FieldpackError(.invalidData, "the geometry type \(raw) is unknown")
    }
    self.type = type
    dimensions = Dimensions(hasZ: try table.flag(3), hasM: try table.flag(4))
    let (hasT, hasTM) = (try table.flag(5), try table.flag(6))
    hasTimes = hasT || hasTM
    let count = try table.integer(8, default: UInt64(0))
    guard let count = Int(exactly: count) else {
      throw FieldpackError(.invalidData, "the number of features, \(count), is too large")
    }
    featureCount = count
    nodeSize = count == 0 ? 0 : Int(try table.integer(9, default: UInt16(16)))
    columns = try Self.columns(table, 7)
    let keys = columns.indices.filter { columns[$0].isPrimaryKey }
    if keys.count == 1 { columns[keys[0]].isUnique = true }
    if let system = try table.table(10) {
      hasSystem = true
      srs = try Self.srs(system)
    }
  }

  /// The columns in a field of the header or of a feature.
  static func columns(_ table: FlatTable, _ field: Int) throws(FieldpackError) -> [Column] {
    guard let vector = try table.vector(field, of: 4) else { return [] }
    guard vector.count <= 1 << 16 else {
      throw FieldpackError(.invalidData, "\(vector.count) columns are more than a file can have")
    }
    var columns: [Column] = []
    for index in 0..<vector.count { columns.append(try Column(vector.table(index))) }
    return columns
  }

  private static func srs(_ table: FlatTable) throws(FieldpackError) -> SRS? {
    let organization = try table.text(0) ?? ""
    var code = try table.integer(1, default: Int32(0))
    if code == 0, let text = try table.text(5) { code = Int32(text) ?? 0 }
    if code > 0 { return SRS(organization.isEmpty ? "EPSG" : organization, code) }
    let codeText = try table.text(5)
    if organization == "OGC", codeText == "CRS84" { return .wgs84 }
    return try table.text(4).flatMap { SRS.epsg(inWKT: $0) }
  }
}
