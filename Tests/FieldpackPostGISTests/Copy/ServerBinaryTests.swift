#if PostGIS
  import FieldpackCore
  import FieldpackGeometry
  import FieldpackTestSupport
  import Testing

  @testable import FieldpackPostGIS

  /// Our bytes against those of psql's `\copy … binary`.
  @Suite(.programs, .enabled(if: TestCluster.isInstalled, "\(TestCluster.missing)"))
  struct ServerBinaryTests {
    static let values: [(sql: String, type: BinaryType, texts: [String])] = [
      ("int2", .int2, ["-32768", "0", "7"]), ("int4", .int4, ["2147483647", "-1"]),
      ("int8", .int8, ["-9223372036854775808", "12"]),
      ("float4", .float4, ["0.1", "-2.5e-10", "3e38"]),
      ("float8", .float8, ["0.1", "1e300", "-5e-324", "123456789.125"]),
      (
        "numeric", .numeric,
        [
          "0", "1", "-1", "10000", "9999.9999", "0.00001", "123456789012345678901234567890.5",
          "1e20",
          "-0.5", "12300000000", "0.10", "NaN", "Infinity",
        ]
      ),
      ("bool", .bool, ["true", "false"]), ("text", .text(), ["", "Zoë ☃", "a\\tb"]),
      ("date", .date, ["2000-01-01", "1969-12-31", "0001-01-01", "9999-12-31", "2024-02-29"]),
      (
        "timestamptz", .timestamptz,
        [
          "2024-02-29T12:34:56.789012Z", "1999-12-31T23:59:59.9999Z", "0001-01-01T00:00:00Z",
          "2024-07-01T00:00:00+05:30", "infinity", "-infinity",
        ]
      ),
      ("timestamp", .timestamp, ["2024-02-29T12:34:56.5", "1900-01-01T00:00:00"]),
      ("json", .json, ["{\"a\" :  [1, \"ü\"]}"]),
      ("uuid", .uuid, ["00112233-4455-6677-8899-aabbccddeeff"]),
    ]

    @Test(arguments: values)
    func `each value has the bytes of psql`(
      sql: String, type: BinaryType, texts: [String]
    ) async throws {
      let cluster = try await TestCluster.shared.value
      let rows = texts.map { "(\(DefaultLiteral.literal($0))::\(sql))" }.joined(separator: ", ")
      let program = (TestCluster.programs ?? "") + "/psql"
      let result = try await Program.run(
        program,
        [
          "-X", "-q", "-h", cluster.folder, "-U", "fieldpack", "-d", "fieldpack", "-c",
          "SET TimeZone = 'UTC'", "-c", "\\copy (VALUES \(rows)) TO STDOUT WITH (FORMAT binary)",
        ])
      #expect(result.status == 0, "\(result)")
      var encoder = CopyEncoder(
        CopyPlan(store: "s", layer: "l", columns: [.init(source: 0, name: "v", type: type)]))
      var ours = CopyEncoder.header
      for text in texts { try encoder.encode(ValueRow([.text(text)]), to: &ours) }
      ours += CopyEncoder.trailer
      #expect(ours.hex == result.outputBytes.hex)
      // And back: the server reads our text of its bytes as the same value.
      var reader = CopyReader(fieldCount: 1)
      var back: [String] = []
      try Array(result.outputBytes).withUnsafeBytes {
        try reader.read($0) { (bytes, fields) throws(FieldpackError) in
          var text: [UInt8] = []
          if let range = fields[0] {
            try type.appendText(of: .init(rebasing: bytes[range]), to: &text)
          }
          back.append(String(decoding: text, as: UTF8.self))
        }
      }
      try reader.finish()
      let connection = try cluster.connection()
      for (text, back) in zip(texts, back) {
        let same = try connection.execute(
          "SELECT \(DefaultLiteral.literal(text))::\(sql)::text "
            + "= \(DefaultLiteral.literal(back))::\(sql)::text")
        #expect(same.flag(0, 0), "\(text) came back as \(back)")
      }
    }

    @Test(arguments: EWKBTests.table)
    func `each geometry has the bytes of the server`(
      wkt: String, srid: Int32, ewkb: String
    ) async throws {
      let connection = try (try await TestCluster.shared.value).connection()
      let found = try connection.execute(
        "SELECT encode(ST_AsEWKB($1::text::geometry), 'hex'), ST_AsEWKT($2::geometry)",
        [.text("SRID=\(srid);\(wkt)"), .binary(bytes(ewkb))])
      #expect(found.text(0, 0) == ewkb)
      let told = try WKT.read(String(found.text(0, 1)?.split(separator: ";").last ?? ""))
      #expect(told == (try WKT.read(wkt)))
    }
  }
#endif
