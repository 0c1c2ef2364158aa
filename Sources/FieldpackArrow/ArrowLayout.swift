import FieldpackCore
import FieldpackGeometry

/// What a column of record batches holds.
enum ArrowType: Sendable {
  case boolean, int64, double, utf8, binary, date32, timestamp

  /// The type in Arrow's format strings.
  var format: String {
    switch self {
    case .boolean: "b"
    case .int64: "l"
    case .double: "g"
    case .utf8: "u"
    case .binary: "z"
    case .date32: "tdD"
    case .timestamp: "tsm:UTC"
    }
  }

  init(_ type: ColumnType) {
    switch type {
    case .boolean: self = .boolean
    case .tinyInt, .smallInt, .mediumInt, .integer: self = .int64
    case .float, .double: self = .double
    case .text, .json, .other: self = .utf8
    case .blob: self = .binary
    case .date: self = .date32
    case .dateTime: self = .timestamp
    }
  }
}

/// The columns of record batches: id, attributes, geometry.
struct ArrowLayout: Sendable {
  struct Field: Sendable {
    var name: String
    var type: ArrowType
    var isNullable = true
    var metadata: [(key: String, value: String)] = []
  }

  let fields: [Field]
  let columns: Int
  let hasGeometry: Bool

  init(_ schema: Schema, hasTextIDs: Bool) {
    var fields = [
      Field(
        name: schema.idColumn ?? "fid", type: hasTextIDs ? .utf8 : .int64, isNullable: false)
    ]
    // SQLite keeps values of any type in a column, and those of another type become null.
    fields += schema.columns.map { Field(name: $0.name, type: ArrowType($0.type)) }
    if let geometry = schema.geometry {
      fields.append(
        Field(name: geometry.name, type: .binary, metadata: Self.extensionType(geometry.srs)))
    }
    self.fields = fields
    columns = schema.columns.count
    hasGeometry = schema.geometry != nil
  }

  /// GeoArrow's extension type for WKB.
  private static func extensionType(_ srs: SRS) -> [(key: String, value: String)] {
    var json = Array("{".utf8)
    // A system that only its file defines has no code that others know.
    if srs.organization != "NONE" {
      json += Array(#""crs":"#.utf8)
      JSONText.append(srs.description, to: &json)
      json += Array(#","crs_type":"authority_code""#.utf8)
    }
    let metadata = String(decoding: json, as: UTF8.self) + "}"
    return [
      ("ARROW:extension:name", "geoarrow.wkb"), ("ARROW:extension:metadata", metadata),
    ]
  }
}
