import FieldpackCore

/// A type of PostgreSQL whose binary form is known here.
indirect enum BinaryType: Hashable, Sendable {
  case bool
  case int2
  case int4
  case int8
  case float4
  case float8
  case numeric
  /// Text in any of its types, and enumerations, whose binary form is their label.
  case text(maximumLength: Int? = nil)
  case bytea
  case date
  /// A time without zone, taken as UTC.
  case timestamp
  case timestamptz
  case json
  case jsonb
  case uuid
  /// An array, which is a JSON array here. `element` is the type's number on the server.
  case array(of: BinaryType, element: UInt32)

  /// The type with that number, which every database has; `nil` for a type that is not known here.
  init?(oid: UInt32) {
    if let known = Self.scalars[oid] {
      self = known
    } else if let element = Self.arrays[oid], let known = Self.scalars[element] {
      self = .array(of: known, element: element)
    } else {
      return nil
    }
  }

  private static let scalars: [UInt32: BinaryType] = [
    PostgresType.bool: .bool, PostgresType.bytea: .bytea,
    PostgresType.char: .text(maximumLength: 1), PostgresType.name: .text(),
    PostgresType.int8: .int8, PostgresType.int2: .int2, PostgresType.int4: .int4,
    PostgresType.text: .text(), PostgresType.json: .json, PostgresType.float4: .float4,
    PostgresType.float8: .float8, PostgresType.bpchar: .text(), PostgresType.varchar: .text(),
    PostgresType.date: .date, PostgresType.timestamp: .timestamp,
    PostgresType.timestamptz: .timestamptz, PostgresType.numeric: .numeric,
    PostgresType.uuid: .uuid, PostgresType.jsonb: .jsonb,
  ]

  /// The element types of arrays (`typarray` in `pg_type.dat`).
  private static let arrays: [UInt32: UInt32] = [
    1000: 16, 1001: 17, 1003: 19, 1016: 20, 1005: 21, 1007: 23, 1009: 25, 199: 114, 1021: 700,
    1022: 701, 1014: 1042, 1015: 1043, 1182: 1082, 1115: 1114, 1185: 1184, 1231: 1700, 2951: 2950,
    3807: 3802,
  ]

  /// The number of the type on the server; 0, by which the server finds it, for texts, which may be of
  /// any of their types.
  var oid: UInt32 {
    switch self {
    case .text: 0
    case .array(_, let element): Self.arrays.first { $0.value == element }?.key ?? 0
    default: Self.scalars.first { $0.value == self }?.key ?? 0
    }
  }

  /// The type's name in SQL.
  var name: String {
    switch self {
    case .bool: "boolean"
    case .int2: "smallint"
    case .int4: "integer"
    case .int8: "bigint"
    case .float4: "real"
    case .float8: "double precision"
    case .numeric: "numeric"
    case .text(nil): "text"
    case .text(let limit?): "varchar(\(limit))"
    case .bytea: "bytea"
    case .date: "date"
    case .timestamp: "timestamp"
    case .timestamptz: "timestamptz"
    case .json: "json"
    case .jsonb: "jsonb"
    case .uuid: "uuid"
    case .array(let element, _): "\(element.name)[]"
    }
  }

  /// The type of a new column that is to hold values of a column of the engine.
  ///
  /// JSON is `json` and not `jsonb`, which keeps its text as it is: exports of a GeoPackage and of its
  /// copy are the same. A text of unknown kind is text.
  init(_ type: ColumnType) {
    switch type {
    case .boolean: self = .bool
    case .tinyInt, .smallInt: self = .int2
    case .mediumInt: self = .int4
    case .integer: self = .int8
    case .float: self = .float4
    case .double: self = .float8
    case .text(let limit): self = .text(maximumLength: limit.flatMap { $0 > 0 ? $0 : nil })
    case .blob: self = .bytea
    case .date: self = .date
    case .dateTime: self = .timestamptz
    case .json: self = .json
    case .other: self = .text()
    }
  }
}
