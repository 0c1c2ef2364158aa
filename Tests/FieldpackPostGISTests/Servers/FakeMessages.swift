#if PostGIS
  @testable import FieldpackPostGIS

  /// Messages of the protocol of PostgreSQL, version 3, as a server sends them.
  enum FakeMessages {
    static func message(_ type: Character, _ body: [UInt8], length: Int? = nil) -> [UInt8] {
      [type.asciiValue ?? 0] + int4(Int32(length ?? body.count + 4)) + body
    }

    static func int2(_ number: Int16) -> [UInt8] { bytes(number) }
    static func int4(_ number: Int32) -> [UInt8] { bytes(number) }
    static func int8(_ number: Int64) -> [UInt8] { bytes(number) }
    private static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
    static func text(_ text: String) -> [UInt8] { Array(text.utf8) }
    private static func ended(_ text: String) -> [UInt8] { Array(text.utf8) + [0] }

    // MARK: Messages

    /// Signed in, with what sessions are told, ready for statements.
    static let greeting: [UInt8] =
      message("R", int4(0)) + parameter("server_version", "15.8")
      + parameter("server_encoding", "UTF8") + parameter("client_encoding", "UTF8")
      + parameter("integer_datetimes", "on") + parameter("standard_conforming_strings", "on")
      + message("K", int4(7) + int4(7)) + ready(false)

    private static func parameter(_ name: String, _ value: String) -> [UInt8] {
      message("S", ended(name) + ended(value))
    }

    static func ready(_ inTransaction: Bool) -> [UInt8] {
      message("Z", [UInt8(ascii: inTransaction ? "T" : "I")])
    }

    static func columns(_ types: [UInt32]) -> [UInt8] {
      var body = int2(Int16(types.count))
      for type in types {
        body += ended("c") + int4(0) + int2(0) + int4(Int32(bitPattern: type)) + int2(-1)
        body += int4(-1) + int2(1)
      }
      return message("T", body)
    }

    static func row(_ values: [[UInt8]?]) -> [UInt8] {
      var body = int2(Int16(values.count))
      for value in values { body += int4(Int32(value?.count ?? -1)) + (value ?? []) }
      return message("D", body)
    }

    static func complete(_ tag: String) -> [UInt8] { message("C", ended(tag)) }

    /// The whole answer to a statement with rows.
    static func rows(_ types: [UInt32], _ rows: [[[UInt8]?]]) -> [UInt8] {
      beginning(types) + rows.flatMap { row($0) } + complete("SELECT \(rows.count)")
    }

    /// What comes before the rows.
    static func beginning(_ types: [UInt32]) -> [UInt8] {
      message("1", []) + message("2", []) + columns(types)
    }

    private static func done(_ tag: String) -> [UInt8] {
      message("1", []) + message("2", []) + message("n", []) + complete(tag)
    }

    // MARK: The table

    private static let (oid, name, flag) = (PostgresType.oid, PostgresType.name, PostgresType.bool)
    private static let (number, string) = (PostgresType.int4, PostgresType.text)

    /// The types of a row of `wells`.
    static let wellTypes: [UInt32] = [PostgresType.int8, PostgresType.bytea, number, string]
    static let point: [UInt8] = [1, 1, 0, 0, 0] + Array(repeating: 0, count: 16)

    static func well(_ id: Int64) -> [[UInt8]?] {
      [int8(id), point, int4(Int32(id) * 10), text("well \(id)")]
    }

    /// What a right server answers, without the message that it is ready.
    static func usual(_ statement: String) -> [UInt8] {
      let known: [(String, () -> [UInt8])] = [
        ("c.relkind::text, c.reltuples", tables), ("WITH RECURSIVE found", wellColumns),
        ("i.indisprimary", indexes), ("FROM pg_catalog.pg_extension", extensions),
        ("postgis_typmod_type", typmod), ("FROM spatial_ref_sys", system),
        ("FETCH", { rows(wellTypes, [well(1), well(2)]) }),
        ("COPY", { copy([well(1), well(2)]) }),
        ("fieldpack_few", { rows(wellTypes, [well(1), well(2)]) }),
        ("count(*)", { rows([PostgresType.int8], [[int8(2)]]) }),
      ]
      if let found = known.first(where: { statement.contains($0.0) }) { return found.1() }
      let isPlain = statement == "ROLLBACK"
      if isPlain { return complete("ROLLBACK") }
      if statement.hasPrefix("SELECT") { return rows([string], [[text("x")]]) }
      return done(String(statement.prefix { $0 != " " }))
    }

    private static func extensions() -> [UInt8] {
      rows([string, string], [[text("public"), text("public")]])
    }

    private static func tables() -> [UInt8] {
      rows(
        [oid, name, string, PostgresType.float8, string, flag, PostgresType.int8, flag],
        [
          [
            int4(100), text("wells"), text("r"),
            withUnsafeBytes(of: (2.0).bitPattern.bigEndian) { Array($0) }, nil, [1], int8(8_192),
            [0],
          ]
        ])
    }

    private static func wellColumns() -> [UInt8] {
      func column(
        _ place: Int16, _ name: String, _ type: UInt32, _ typeName: String, _ modifier: Int32 = -1,
        isKey: Bool = false
      ) -> [[UInt8]?] {
        [
          int4(100), int2(place), text(name), int4(Int32(type)), int4(modifier), text(typeName),
          [0],
          [isKey ? 1 : 0], [0], nil, nil, name == "geom" ? text("geometry") : nil,
        ]
      }
      return rows(
        [
          oid, PostgresType.int2, self.name, oid, number, string, flag, flag, flag, string, string,
          string,
        ],
        [
          column(1, "fid", PostgresType.int8, "bigint", isKey: true),
          column(2, "geom", 16_400, "geometry(Point,4326)", 1_107_460),
          column(3, "depth", number, "integer"), column(4, "name", string, "text"),
        ])
    }

    private static func indexes() -> [UInt8] {
      rows(
        [oid, flag, flag, flag, string, PostgresType.int2],
        [
          [int4(100), [1], [1], [0], text("[\"fid\"]"), int2(1)],
          [int4(100), [0], [0], [1], text("[\"geom\"]"), int2(1)],
        ])
    }

    private static func typmod() -> [UInt8] {
      rows([string, number, number], [[text("Point"), int4(2), int4(4_326)]])
    }

    private static func system() -> [UInt8] {
      rows([string, number, string], [[text("EPSG"), int4(4_326), nil]])
    }

    // MARK: COPY

    /// A whole `COPY … TO STDOUT` in binary.
    static func copy(_ rows: [[[UInt8]?]]) -> [UInt8] {
      copyBeginning(columns: 4) + rows.flatMap { data(copyRow($0)) } + data(int2(-1))
        + message("c", []) + complete("COPY \(rows.count)")
    }

    static func copyBeginning(columns: Int16) -> [UInt8] {
      let formats = [UInt8](repeating: 0, count: 2 * Int(columns))
      return message("H", [1] + int2(columns) + formats) + data(CopyEncoder.header)
    }

    static func copyRow(_ values: [[UInt8]?]) -> [UInt8] {
      var row = int2(Int16(values.count))
      for value in values { row += int4(Int32(value?.count ?? -1)) + (value ?? []) }
      return row
    }

    static func data(_ bytes: some Sequence<UInt8>) -> [UInt8] { message("d", Array(bytes)) }
  }
#endif
