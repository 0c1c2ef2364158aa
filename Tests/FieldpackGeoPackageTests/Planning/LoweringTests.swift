import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// The SQL that conditions become, word for word.
@Suite struct LoweringTests {
  private static let table = LayerTable(
    layer: Layer(
      schema: Schema(
        layer: "t", geometry: GeometryColumn("g"),
        columns: [
          ColumnDefinition("n", .integer), ColumnDefinition("s", .text()),
          ColumnDefinition("d", .dateTime), ColumnDefinition("x", .other("")),
        ]), kind: .features),
    table: "t", idSQL: "\"fid\"", rtree: nil, srsID: 4326)

  /// Literals stay as they are.
  private struct AsIs: LiteralProjecting {
    func boxes(_ box: Envelope, from srs: SRS?, to table: LayerTable) -> [Envelope] { [box] }
    func geometry(_ geometry: Geometry, from srs: SRS?, to table: LayerTable) -> Geometry {
      geometry
    }
  }

  private static let number = "+\"n\" < ''"
  private static let instant = "fieldpack_instant(\"d\")"

  static let cases: [(String, String)] = [
    ("n = 1", "\"n\" = ?"),
    ("n < 1", "\"n\" < ?"),
    ("1 < n", "(\"n\" > ? AND \(number))"),
    ("NOT n = 1", "(\"n\" <> ? AND \(number))"),
    ("n = 'a'", "(+\"n\" = ? COLLATE BINARY AND typeof(\"n\") = 'text')"),
    ("s = 'a'", "\"s\" = ? COLLATE BINARY"),
    ("s > 'a'", "(\"s\" > ? COLLATE BINARY AND +\"s\" < X'')"),
    ("s IN ('a', 'b')", "\"s\" COLLATE BINARY IN (?, ?)"),
    ("n NOT IN (1, 2)", "(\"n\" NOT IN (?, ?) AND \(number))"),
    ("n BETWEEN 1 AND 2", "(\"n\" >= ? AND \"n\" <= ?)"),
    ("s BETWEEN 'a' AND 'b'", "(\"s\" >= ? COLLATE BINARY AND \"s\" <= ? COLLATE BINARY)"),
    (
      "x BETWEEN 1 AND 2",
      "((\"x\" >= ? AND typeof(\"x\") IN ('integer', 'real')) AND "
        + "(\"x\" <= ? AND typeof(\"x\") IN ('integer', 'real')))"
    ),
    ("NOT n BETWEEN 1 AND 2", "(\"n\" < ? OR (\"n\" > ? AND \(number)))"),
    ("s LIKE 'a%_*'", "(\"s\" GLOB ? AND +\"s\" < X'')"),
    ("s LIKE 'a_\u{301}b%'", "(\"s\" GLOB ? AND +\"s\" < X'')"),
    ("s LIKE 'maple%'", "(\"s\" >= ? COLLATE BINARY AND \"s\" < ? COLLATE BINARY)"),
    ("s NOT LIKE 'maple%'", "(\"s\" NOT GLOB ? AND +\"s\" < X'')"),
    ("s LIKE '%'", "(\"s\" GLOB ? AND +\"s\" < X'')"),
    ("n LIKE 'a%'", "(\"n\" GLOB ? AND typeof(\"n\") = 'text')"),
    ("s IS NOT NULL", "\"s\" IS NOT NULL"),
    ("g IS NULL", "\"g\" IS NULL"),
    ("Geometry IS NULL", "\"g\" IS NULL"),
    ("d > TIMESTAMP('2020-01-01T00:00:00Z')", "\(instant) > ?"),
    (
      "d = 'soon'",
      "(\(instant) IS NULL AND typeof(\"d\") = 'text' AND +\"d\" = ? COLLATE BINARY)"
    ),
    ("1 = 1", "1"),
    ("1 = 'a' OR s = 'a'", "\"s\" = ? COLLATE BINARY"),
    (
      "NOT (n = 1 AND s = 'a')",
      "((\"n\" <> ? AND \(number)) OR "
        + "(\"s\" <> ? COLLATE BINARY AND +\"s\" < X''))"
    ),
    ("S_INTERSECTS(g, POINT(1 2))", "fieldpack_intersects(\"g\", ?, \"fid\", 0)"),
    ("NOT S_TOUCHES(g, POINT(1 2))", "NOT fieldpack_touches(\"g\", ?, \"fid\", 0)"),
    ("fid = 7", "\"fid\" = ?"),
    // Without a column an operand is computed once, so that an index can still be used.
    ("n = 2 * 3 + 1", "\"n\" = ?"),
    ("s = CASEI('A')", "\"s\" = ? COLLATE BINARY"),
    ("n BETWEEN 1 + 1 AND 9 DIV 2", "(\"n\" >= ? AND \"n\" <= ?)"),
    ("s IN (CASEI('A'), ACCENTI('B'))", "\"s\" COLLATE BINARY IN (?, ?)"),
    ("n + 1 = 2", "((CASE WHEN \(number) THEN \"n\" END + ?) = ? COLLATE BINARY)"),
    (
      "n / fid > x",
      "((CASE WHEN \(number) THEN \"n\" END * 1.0 / CASE WHEN +\"fid\" < '' THEN \"fid\" END) > "
        + "+\"x\" COLLATE BINARY AND typeof(\"x\") IN ('integer', 'real'))"
    ),
    (
      "1 - n * 2 / 3 - (4 - fid) < 0",
      "((? - CASE WHEN \(number) THEN \"n\" END * ? * 1.0 / ? - "
        + "(? - CASE WHEN +\"fid\" < '' THEN \"fid\" END)) < ? COLLATE BINARY)"
    ),
    ("n % 2 = 1", "(fieldpack_remainder(\"n\", ?) = ? COLLATE BINARY)"),
    ("n + 1 = 'a'", "0"),
    ("s + 'a' = 1", "0"),
    ("CASEI(s) = 'a'", "(fieldpack_casei(\"s\") = ? COLLATE BINARY)"),
    ("CASEI(s) LIKE CASEI('A%')", "fieldpack_casei(\"s\") GLOB ?"),
    ("s LIKE CASEI('A%')", "(\"s\" >= ? COLLATE BINARY AND \"s\" < ? COLLATE BINARY)"),
    (
      "(n = 1) IS NULL",
      "(CASE WHEN \"n\" = ? THEN 1 WHEN (\"n\" <> ? AND \(number)) THEN 0 END) IS NULL"
    ),
    (
      "T_AFTER(d, INTERVAL('2020-01-01', '..'))",
      "fieldpack_t_after(?, \"d\", \"d\", ?, 0)"
    ),
    ("NOT A_CONTAINS(s, ('a', 1))", "NOT fieldpack_a_contains(\"s\", ?)"),
    (
      "A_EQUALS((n, d), (s, (1)))",
      "fieldpack_a_equals(fieldpack_list('vt', \"n\", \"d\"), fieldpack_list('vl', \"s\", ?))"
    ),
    ("S_EQUALS(g, geometry)", "fieldpack_equals(\"g\", fieldpack_wkb(\"g\"), \"fid\", 0)"),
    ("S_EQUALS(POINT(1 2), POINT(1 2))", "fieldpack_equals(?, ?, \"fid\", 0)"),
  ]

  @Test func `lowers to one condition with bound values`() throws {
    let lowering = FilterLowering(table: Self.table, project: AsIs())
    for (text, sql) in Self.cases {
      let fragment = try lowering.condition(try Filter(cql2: text))
      #expect(fragment.text == sql, "\(text)")
      #expect(fragment.parameters.count == sql.filter { $0 == "?" }.count, "\(text)")
    }
  }

  @Test func `looks into the R-tree first and tests what it is not sure of`() throws {
    var table = Self.table
    table.rtree = "rtree_t_g"
    let box = Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1)
    let candidates = "fieldpack_candidates('rtree_t_g', 'within', ?, ?, ?, ?)"
    let test = "fieldpack_envelope_within(\"g\", ?, ?, ?, ?)"
    let join = "CROSS JOIN \"t\" ON \"fid\" = \"fieldpack id\""
    let within = try FilterLowering(table: table, project: AsIs())
      .access(Column<Int64>("n") == 1 && .envelope(.within, box))
    #expect(within.source.text == "\(candidates) \(join)")
    #expect(within.condition.text == "((\"fieldpack sure\" OR \(test)) AND \"n\" = ?)")
    #expect(within.id == "\"fieldpack id\"")
    #expect(within.idsOnly == nil)
    let only = try FilterLowering(table: table, project: AsIs()).access(.envelope(.within, box))
    #expect(only.idsOnly?.source.text == candidates)
    #expect(
      only.idsOnly?.condition.text == "(\"fieldpack sure\" OR (SELECT \(test) FROM \"t\" "
        + "WHERE \"fid\" = \"fieldpack id\"))")
    let exact = try FilterLowering(table: table, project: AsIs())
      .access(.intersects(polygon(0, 0, 1, 0, 1, 1, 0, 0)))
    #expect(exact.source.text == "fieldpack_related('rtree_t_g', 'intersects', ?) \(join)")
    #expect(
      exact.condition.text
        == "(\"fieldpack sure\" OR fieldpack_intersects(\"g\", ?, \"fid\", 0))")
  }

  @Test func `lists candidates where a join cannot be had, and scans where there are none`() throws
  {
    var table = Self.table
    table.rtree = "rtree_t_g"
    let box = Envelope(minX: 0, minY: 0, maxX: 1, maxY: 1)
    let candidates =
      "SELECT \"fieldpack id\" FROM fieldpack_candidates('rtree_t_g', 'intersects', ?, ?, ?, ?)"
    let test = "fieldpack_envelope_intersects(\"g\", ?, ?, ?, ?)"
    let either = try FilterLowering(table: table, project: AsIs())
      .access(.intersects(box) || .intersects(box))
    #expect(either.source.text == "\"t\"")
    #expect(
      either.condition.text
        == "(\"fid\" IN (\(candidates) UNION ALL \(candidates)) AND (\(test) OR \(test)))")
    #expect(either.id == "\"fid\"")
    let none = try FilterLowering(table: table, project: AsIs()).access(.not(.intersects(box)))
    #expect(none.source.text == "\"t\"")
    #expect(none.condition.text == "NOT \(test)")
    table.idSQL = "rowid"
    let nameless = try FilterLowering(table: table, project: AsIs()).access(.intersects(box))
    #expect(nameless.condition.text == "(rowid IN (\(candidates)) AND \(test))")
  }

  @Test(arguments: [
    ("a%", ["a", "b"]), ("caf\u{e9}%", ["caf\u{e9}", "caf\u{ea}"]),
    ("z\u{d7ff}%", ["z\u{d7ff}", "z\u{e000}"]), ("x y%", ["x y", "x z"]),
  ])
  func `a prefix ends before the next text of its length`(pattern: String, ends: [String]) throws {
    let lowering = FilterLowering(table: Self.table, project: AsIs())
    let fragment = try lowering.condition(.like(.column("s"), pattern: pattern))
    #expect(fragment.parameters == ends.map { .text($0) })
  }

  @Test(arguments: [
    ("a%b_c", "a*b?c"), ("100\\%\\_", "100%_"), ("*?[x]", "[*][?][[]x]"), ("a\\", "a\\"),
    ("\\\\", "\\"), ("", ""), ("%%", "*"),
  ])
  func `turns LIKE into GLOB`(pattern: String, glob: String) {
    #expect(FilterLowering.glob(LikePattern(pattern)) == glob)
  }
}
