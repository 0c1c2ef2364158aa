import FieldpackCore
import FieldpackTestSupport
import Testing

@testable import FieldpackPostGIS

@Suite struct BinaryTypeTests {
  /// A value, the type that it is sent as, its bytes, and the value that comes back.
  struct Case: Sendable, CustomTestStringConvertible {
    var type: BinaryType
    var value: Value
    var bytes: String
    var back: Value
    var testDescription: String { "\(value) as \(type.name)" }

    init(_ type: BinaryType, _ value: Value, _ bytes: String, back: Value? = nil) {
      (self.type, self.value, self.bytes, self.back) = (type, value, bytes, back ?? value)
    }
  }

  static let table: [Case] = [
    Case(.bool, true, "01", back: 1), Case(.bool, "false", "00", back: 0),
    Case(.int2, -2, "fffe"), Case(.int4, 70_000, "00011170"),
    Case(.int8, .integer(.min), "8000000000000000"), Case(.int4, 3.0, "00000003", back: 3),
    Case(.float4, 1.5, "3fc00000"), Case(.float8, -0.1, "bfb999999999999a"),
    Case(.float8, 7, "401c000000000000", back: 7.0),
    Case(.text(), "Zoë", "5a6fc3ab"), Case(.text(maximumLength: 3), "Zoë", "5a6fc3ab"),
    Case(.text(), 12, "3132", back: "12"), Case(.bytea, .blob([0, 255]), "00ff"),
    Case(.date, "2000-01-02", "00000001"), Case(.date, "1999-12-31", "ffffffff"),
    Case(.timestamptz, "2000-01-01T00:00:01.500Z", "000000000016e360"),
    Case(
      .timestamptz, "2000-01-01T02:00:00.000001+02:00", "0000000000000001",
      back: "2000-01-01T00:00:00.000001Z"),
    Case(
      .timestamptz, "1999-12-31T23:59:59.999Z", "fffffffffffffc18"),
    Case(.timestamp, "2000-01-01 00:00:01", "00000000000f4240", back: "2000-01-01T00:00:01.000"),
    Case(.timestamptz, "infinity", "7fffffffffffffff"),
    Case(.json, "{\"a\": [1]}", "7b2261223a205b315d7d"), Case(.jsonb, "[]", "015b5d"),
    Case(
      .uuid, "123E4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000",
      back: "123e4567-e89b-12d3-a456-426614174000"),
    Case(.numeric, "12345.678", "0003000100000003000109291a7c"),
    Case(.numeric, "-0.0012", "0001ffff40000004000c"),
    Case(.numeric, "0.00", "0000000000000002"),
    Case(.numeric, 10_000, "00010001000000000001", back: "10000"),
    Case(.numeric, "1e3", "000100000000000003e8", back: "1000"),
    Case(.numeric, "NaN", "00000000c0000000"),
    Case(
      .array(of: .int4, element: 23), "[1,null,3]",
      "00000001000000010000001700000003000000010000000400000001ffffffff0000000400000003"),
    Case(
      .array(of: .bool, element: 16), "[[true],[false]]",
      "0000000200000000000000100000000200000001000000010000000100000001010000000100"),
    Case(.array(of: .text(), element: 25), "[]", "000000000000000000000019"),
    Case(
      .array(of: .float8, element: 701), "[0.5]",
      "0000000100000000000002bd0000000100000001000000083fe0000000000000"),
  ]

  @Test(arguments: table)
  func `a value has the bytes that PostgreSQL sends and comes back from them`(row: Case) throws {
    #expect(row.type.bytes(of: row.value)?.hex == row.bytes)
    #expect(try value(of: row.bytes, row.type) == row.back)
  }

  @Test func `a numeric column of numbers gives numbers`() throws {
    #expect(try value(of: "0003000100000003000109291a7c", .numeric, as: .double) == 12345.678)
    #expect(try value(of: "00000000c0000000", .numeric, as: .double) == "NaN")
  }

  @Test(arguments: [
    (BinaryType.timestamptz, "0000000000000000", "2000-01-01T00:00:00.000Z"),
    (.timestamptz, "ffffffffffffffff", "1999-12-31T23:59:59.999999Z"),
    (.timestamptz, "7ffffffffffffffe", "+294277-01-09T04:00:54.775806Z"),
    (.timestamp, "8000000000000001", "-290278-12-22T19:59:05.224193"),
    (.timestamptz, "8000000000000000", "-infinity"),
    (.date, "7ffffffe", "+5881610-07-10"), (.date, "80000001", "-5877611-06-23"),
    (.date, "ffffffff", "1999-12-31"), (.date, "7fffffff", "infinity"),
  ])
  func `the first and the last moment have their texts`(
    type: BinaryType, field: String, text: String
  ) throws {
    #expect(try value(of: field, type) == .text(text))
  }

  static let unfit: [(BinaryType, Value)] = [
    (.int2, .integer(40_000)), (.int4, .integer(1 << 40)), (.int8, 1.5),
    (.int8, "many"), (.bool, 2), (.bool, "perhaps"), (.float4, 1e300), (.float8, .integer(.max)),
    (.float8, "1,5"), (.text(maximumLength: 2), "Zoë"), (.text(), "a\0b"), (.text(), .blob([1])),
    (.bytea, "text"), (.date, "2020-02-30"), (.date, 7), (.timestamptz, "yesterday"),
    (.json, "{"), (.jsonb, "\"\\u0000\""), (.uuid, "123e4567"), (.numeric, "1.2.3"),
    (.numeric, "1e99999"), (.numeric, "1e-9223372036854775808"),
    (.array(of: .int4, element: 23), "[1,\"x\"]"),
    (.array(of: .int4, element: 23), "[[1],[2,3]]"), (.array(of: .int4, element: 23), "{1}"),
  ]

  @Test(arguments: unfit)
  func `a value that the type cannot hold is not sent`(type: BinaryType, value: Value) {
    #expect(type.bytes(of: value) == nil)
  }

  static let hostile: [(BinaryType, String)] = [
    (.bool, "02"), (.bool, ""), (.int2, "00"), (.int8, "00000001"), (.float8, "00"),
    (.date, "0000"), (.uuid, "00"), (.jsonb, "025b5d"), (.jsonb, ""), (.numeric, "0001"),
    // Five digits are said to come and one does; a digit above 9,999; a sign that is none.
    (.numeric, "00050000000000000001"), (.numeric, "00010000000000002710"),
    (.numeric, "0000000012340000"),
    // Seven dimensions; another element type; a thousand million elements; a length beyond the end;
    // bytes behind the last element.
    (.array(of: .int4, element: 23), "000000070000000000000017"),
    (.array(of: .int4, element: 23), "000000000000000000000019"),
    (.array(of: .int4, element: 23), "0000000100000000000000174000000000000001"),
    (
      .array(of: .int4, element: 23),
      "000000010000000000000017000000010000000100000008" + "00000001"
    ),
    (.array(of: .int4, element: 23), "00000000000000000000001700"),
  ]

  @Test(arguments: hostile)
  func `hostile bytes of a server are a typed error`(type: BinaryType, field: String) {
    let error = #expect(throws: FieldpackError.self) { try value(of: field, type) }
    #expect(error?.code == .invalidData)
  }

  private func value(
    of field: String, _ type: BinaryType, as column: ColumnType = .text()
  ) throws -> Value {
    var cells = RowCells()
    try bytes(field).withUnsafeBytes { try type.append(field: $0, as: column, to: &cells) }
    let cell = cells.cells[0]
    return switch cell.kind {
    case .null: .null
    case .integer: .integer(cell.integer)
    case .real: .real(cell.real)
    case .text: .text(String(decoding: cells.bytes[cell.range], as: UTF8.self))
    case .blob: .blob(Array(cells.bytes[cell.range]))
    }
  }
}
