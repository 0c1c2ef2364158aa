/// A value that a statement is given, sent in PostgreSQL's binary form.
package enum PostgresValue: Hashable, Sendable {
  case null
  case boolean(Bool)
  case integer(Int64)
  case real(Double)
  case text(String)
  /// A `bytea`.
  case bytes([UInt8])
  /// The binary form of a value of a type; with the type 0 the server finds the type from the
  /// statement, such as `$1::geometry` with EWKB.
  case binary([UInt8], type: UInt32 = 0)

  /// A number of four bytes.
  static func int4(_ number: Int32) -> PostgresValue {
    .binary(bigEndian(number), type: PostgresType.int4)
  }

  /// The type that the server is told; 0 where it finds the type itself.
  var type: UInt32 {
    switch self {
    case .null: 0
    case .boolean: PostgresType.bool
    case .integer: PostgresType.int8
    case .real: PostgresType.float8
    case .text: PostgresType.text
    case .bytes: PostgresType.bytea
    case .binary(_, let type): type
    }
  }

  /// How many bytes the value has as it is sent; `nil` for NULL.
  var byteCount: Int? {
    switch self {
    case .null: nil
    case .boolean: 1
    case .integer, .real: 8
    case .text(let text): text.utf8.count
    case .bytes(let bytes), .binary(let bytes, _): bytes.count
    }
  }

  /// Writes the value as it is sent.
  ///
  /// - Precondition: `place` has ``byteCount`` bytes.
  func write(to place: UnsafeMutableRawBufferPointer) {
    switch self {
    case .null: break
    case .boolean(let flag): place[0] = flag ? 1 : 0
    case .integer(let number): place.storeBytes(of: number.bigEndian, as: Int64.self)
    case .real(let number): place.storeBytes(of: number.bitPattern.bigEndian, as: UInt64.self)
    case .text(let text): place.copyBytes(from: text.utf8)
    case .bytes(let bytes), .binary(let bytes, _): place.copyBytes(from: bytes)
    }
  }

  private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }
}

/// The OIDs of types that are the same in every database (`pg_type.dat`).
package enum PostgresType {
  package static let bool: UInt32 = 16
  package static let bytea: UInt32 = 17
  package static let char: UInt32 = 18
  package static let name: UInt32 = 19
  package static let int8: UInt32 = 20
  package static let int2: UInt32 = 21
  package static let int4: UInt32 = 23
  package static let text: UInt32 = 25
  package static let oid: UInt32 = 26
  package static let json: UInt32 = 114
  package static let float4: UInt32 = 700
  package static let float8: UInt32 = 701
  package static let bpchar: UInt32 = 1042
  package static let varchar: UInt32 = 1043
  package static let date: UInt32 = 1082
  package static let timestamp: UInt32 = 1114
  package static let timestamptz: UInt32 = 1184
  package static let numeric: UInt32 = 1700
  package static let uuid: UInt32 = 2950
  package static let jsonb: UInt32 = 3802
}
