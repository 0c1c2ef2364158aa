import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Testing

@Suite struct CQL2JSONTests {
  /// Text and JSON that say the same, as other programs write it.
  static let pairs: [(String, String)] = [
    ("a = TRUE", #"{"op":"=","args":[{"property":"a"},true]}"#),
    ("a", #"{"property":"a"}"#),
    ("TRUE", " true\n"),
    ("FALSE", "false"),
    ("a AND b", #"{"op":"and","args":[{"property":"a"},{"property":"b"}]}"#),
    ("a OR b OR FALSE", #"{"op":"OR","args":[{"property":"a"},{"property":"b"},false]}"#),
    ("NOT a", #"{"op":"not","args":[{"property":"a"}]}"#),
    ("a IS NOT NULL", #"{"op":"not","args":[{"op":"isNull","args":[{"property":"a"}]}]}"#),
    ("a BETWEEN 1 AND 2.5", #"{"op":"between","args":[{"property":"a"},1,2.5]}"#),
    ("a IN ('x', 'y')", #"{"args":[{"property":"a"},["x","y"]],"op":"in"}"#),
    ("a LIKE '%\"\\_é👍'", #"{"op":"like","args":[{"property":"a"},"%\"\\_\u00e9\ud83d\udc4d"]}"#),
    (
      "\"a b\" >= DATE('2020-01-31')",
      #"{"op":">=","args":[{"property":"a b"},{"date":"2020-01-31"}]}"#
    ),
    (
      "a < TIMESTAMP('2020-01-31T12:00:00Z')",
      #"{"op":"<","args":[{"property":"a"},{"timestamp":"2020-01-31T12:00:00Z"}]}"#
    ),
    ("a = 9223372036854775808", #"{"op":"=","args":[{"property":"a"},9223372036854775808]}"#),
    ("a <> -1.5e-3", #"{"op":"<>","args":[{"property":"a"},-1.5E-3]}"#),
    (
      "S_INTERSECTS(geometry, BBOX(1, 2, 3, 4))",
      #"{"op":"s_intersects","args":[{"property":"geometry"},{"bbox":[1,2,3,4]}]}"#
    ),
    (
      "S_WITHIN(geom, BBOX(170, 2, -170, 4))",
      #"{"op":"S_WITHIN","args":[{"property":"geom"},{"bbox":[170.0,2,-1,-170,4,5]}]}"#
    ),
    (
      "S_CONTAINS(POLYGON((0 0,4 0,4 4,0 0),(1 .5,2 .5,2 1,1 .5)), g)",
      #"{"op":"s_contains","args":[{"type":"Polygon","coordinates":[[[0,0],[4,0],[4,4],[0,0]],"#
        + #"[[1,0.5],[2,0.5],[2,1],[1,0.5]]]},{"property":"g"}]}"#
    ),
    (
      "S_EQUALS(g, POINT Z (1 2 3))",
      #"{"op":"s_equals","args":[{"property":"g"},{"type":"Point","coordinates":[1,2,3]}]}"#
    ),
    (
      "S_EQUALS(g, LINESTRING(1 2, 3 4))",
      #"{"op":"s_equals","args":[{"property":"g"},{"type":"LineString","coordinates":[[1,2,5],[3,4]],"#
        + #""bbox":[1,2,3,4]}]}"#
    ),
    (
      "S_EQUALS(g, MULTIPOINT((1 2), EMPTY))",
      #"{"op":"s_equals","args":[{"property":"g"},{"type":"MultiPoint","coordinates":[[1,2],[]]}]}"#
    ),
    (
      "S_EQUALS(g, MULTILINESTRING((1 2, 3 4), (5 6, 7 8)))",
      #"{"op":"s_equals","args":[{"property":"g"},{"type":"MultiLineString","coordinates":"#
        + "[[[1,2],[3,4]],[[5,6],[7,8]]]}]}"
    ),
    (
      "S_EQUALS(g, MULTIPOLYGON(((0 0,4 0,4 4,0 0)),((9 9,8 9,8 8,9 9))))",
      #"{"op":"s_equals","args":[{"property":"g"},{"type":"MultiPolygon","coordinates":"#
        + "[[[[0,0],[4,0],[4,4],[0,0]]],[[[9,9],[8,9],[8,8],[9,9]]]]}]}"
    ),
    (
      "S_EQUALS(g, GEOMETRYCOLLECTION(POINT(1 2), GEOMETRYCOLLECTION EMPTY))",
      #"{"op":"s_equals","args":[{"property":"g"},{"type":"GeometryCollection","geometries":"#
        + #"[{"type":"Point","coordinates":[1,2]},{"type":"GeometryCollection","geometries":[]}]}]}"#
    ),
    (
      "T_BEFORE(INTERVAL(a, DATE('2020-01-31')), b)",
      #"{"op":"T_BEFORE","args":[{"interval":[{"property":"a"},{"date":"2020-01-31"}]},"#
        + #"{"property":"b"}]}"#
    ),
  ]

  @Test(arguments: pairs)
  func `reads what CQL2 Text says`(text: String, json: String) throws {
    let filter = try Filter(cql2JSON: json)
    #expect(try filter == Filter(cql2: text))
    #expect(try Filter(cql2JSON: filter.cql2JSON) == filter)
    #expect(try Filter(cql2: filter.cql2Text) == filter)
    if json.hasPrefix("{") { #expect(try Filter(cql2: " \n" + json) == filter) }
  }

  static let mistakes: [(String, String)] = [
    ("null", "at the top: nothing compares with NULL: use the operation isNull"),
    ("[]", "at the top: expected a condition but found an array"),
    ("5", "at the top: a value alone is no condition"),
    ("{}", "at the top: expected a condition with the members op and args"),
    (#"{"op":"="}"#, "at the top: the member args is missing"),
    (#"{"op":5,"args":[]}"#, "at /op: expected a name but found a number"),
    (#"{"op":"=","args":{}}"#, "at /args: expected an array of arguments but found an object"),
    (#"{"op":"=","args":[1]}"#, "at the top: the operation takes 2 arguments, not 1"),
    (
      #"{"op":"=","args":[1,2],"arg":0}"#,
      "at the top: member 'arg' is not known, did you mean 'args'? (there are: args, op)"
    ),
    (#"{"op":"and","args":[true]}"#, "at the top: 'and' takes two arguments or more"),
    (#"{"op":"not","args":["x"]}"#, "at /args/0: a value alone is no condition"),
    (
      #"{"op":"and","args":[true,{"op":"=","args":[{"property":1},2]}]}"#,
      "at /args/1/args/0/property: expected a column's name but found a number"
    ),
    (
      #"{"op":"=","args":[{"property":""},2]}"#,
      "at /args/0/property: a column's name cannot be empty or hold U+0000"
    ),
    (
      #"{"op":"=","args":[{"property":"a"},null]}"#,
      "at /args/1: nothing compares with NULL: use the operation isNull"
    ),
    (#"{"op":"=","args":[{"property":"a"},1e999]}"#, "at /args/1: the number is out of range"),
    (
      #"{"op":"=","args":[{"property":"a"},[1]]}"#,
      "at /args/1: expected a value but found an array"
    ),
    (
      #"{"op":"=","args":[{"property":"a"},{"date":"2021-02-29"}]}"#,
      "at /args/1/date: '2021-02-29' is not a date such as 2020-01-31"
    ),
    (
      #"{"op":"=","args":[{"property":"a"},{"timestamp":"2021-02-28"}]}"#,
      "at /args/1/timestamp: '2021-02-28' is not a time with a zone, such as "
        + "2020-01-31T12:00:00Z"
    ),
    (#"{"op":"in","args":[{"property":"a"},[]]}"#, "at /args/1: an empty array holds no value"),
    (
      #"{"op":"like","args":[{"property":"a"},{"property":"b"}]}"#,
      "at /args/1: expected a pattern: a text, or one in casei or accenti"
    ),
    (
      #"{"op":"t_during","args":[{"property":"a"},{"interval":["2020-01-01"]}]}"#,
      "at /args/1/interval: an interval has two bounds, not 1"
    ),
    (
      #"{"op":"t_during","args":["2020-01-01",{"property":"a"}]}"#,
      "at /args/0: expected a property, a date, a timestamp or an interval"
    ),
    (
      #"{"op":"a_equals","args":[{"property":"a"},"x"]}"#,
      "at /args/1: expected an array or a property but found a text"
    ),
    (
      #"{"op":"s_within","args":[{"property":"g"},{"bbox":[1,2,3]}]}"#,
      "at /args/1/bbox: BBOX takes four numbers, west, south, east and north, or six, with the "
        + "least height third and the greatest last, not 3"
    ),
    (
      #"{"op":"s_within","args":[{"property":"g"},{"type":"Pint","coordinates":[]}]}"#,
      "at /args/1/type: 'Pint' is no geometry of GeoJSON"
    ),
    (
      #"{"op":"s_within","args":[{"property":"g"},{"type":"Point","coordinates":[1,"2"]}]}"#,
      "at /args/1/coordinates/1: expected a number but found a text"
    ),
    (
      #"{"op":"s_within","args":[{"property":"g"},{"type":"Polygon","coordinates":[[[1]]]}]}"#,
      "at /args/1/coordinates/0/0: a position has two or three numbers, not 1"
    ),
  ]

  @Test(arguments: mistakes) func `points at what is wrong`(json: String, message: String) {
    let error = #expect(throws: FieldpackError.self) { try Filter(cql2JSON: json) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message == message)
  }

  @Test func `an unknown operation is told the nearest`() {
    let error = #expect(throws: FieldpackError.self) {
      try Filter(cql2JSON: #"{"op":"s_intersect","args":[1,2]}"#)
    }
    let start =
      "at /op: operation 's_intersect' is not known, did you mean 's_intersects' or "
      + "'t_intersects'? (there are: "
    #expect(error?.message.hasPrefix(start) == true)
  }

  @Test(
    arguments: [
      ("", 1, 1, "expected a value"), ("{\"op\":\n'", 2, 1, "expected a value"),
      ("{\"op\"", 1, 6, "expected ':'"), ("{a", 1, 2, "expected a name in quotes"),
      ("true x", 1, 6, "expected the end"),
      ("{\"op\":\"=", 1, 7, "the text that starts here has no closing quote"),
      ("[1,]", 1, 4, "expected a value"), ("[1 2]", 1, 4, "expected ',' or ']'"),
      ("01", 1, 3, "expected a number"), ("-", 1, 2, "expected a number"),
      ("1.", 1, 3, "expected a digit"), ("1e", 1, 3, "expected an exponent"),
      ("\"\\x\"", 1, 2, "expected one of \\\" \\\\ \\/ \\b \\f \\n \\r \\t \\u"),
      ("\"\\u12g4\"", 1, 4, "expected four hexadecimal digits"), ("tru", 1, 1, "expected a value"),
      ("\"a\u{1}\"", 1, 3, "a control character stands in a text: write \\u00…"),
    ] as [(String, Int, Int, String)])
  func `places what is no JSON`(json: String, line: Int, column: Int, message: String) {
    let error = #expect(throws: FieldpackError.self) { try Filter(cql2JSON: json) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message == message)
    #expect(error?.position == FilePosition(line: line, column: column))
  }

  @Test func `nesting has a limit`() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: #"{"op":"not","args":["#, count: depth) + "true"
        + String(repeating: "]}", count: depth)
    }
    let filter = try Filter(cql2JSON: nested(64))
    #expect(try Filter(cql2JSON: filter.cql2JSON) == filter)
    for depth in [65, 100, 20_000] {
      #expect(throws: FieldpackError.self) { try Filter(cql2JSON: nested(depth)) }
    }
    #expect(throws: FieldpackError.self) {
      try Filter(cql2JSON: String(repeating: "[", count: 500_000))
    }
  }

  @Test func `arrays and geometries in one another have a limit`() throws {
    func nested(_ depth: Int, _ opening: String, _ inner: String, _ closing: String) -> String {
      String(repeating: opening, count: depth) + inner + String(repeating: closing, count: depth)
    }
    func arrays(_ depth: Int) -> String {
      #"{"op":"a_equals","args":[\#(nested(depth, "[", "1", "]")),{"property":"a"}]}"#
    }
    let filter = try Filter(cql2JSON: arrays(63))
    #expect(try Filter(cql2JSON: filter.cql2JSON) == filter)
    let error = #expect(throws: FieldpackError.self) { try Filter(cql2JSON: arrays(64)) }
    #expect(error?.message.hasSuffix(": the condition is nested more than 64 deep") == true)

    func collections(_ depth: Int) -> String {
      let opening = #"{"type":"GeometryCollection","geometries":["#
      let shape = nested(depth - 1, opening, #"{"type":"Point","coordinates":[1,2]}"#, "]}")
      return #"{"op":"s_within","args":[{"property":"g"},\#(shape)]}"#
    }
    let deep = try Filter(cql2JSON: collections(WKB.maximumDepth))
    #expect(try Filter(cql2JSON: deep.cql2JSON) == deep)
    let other = #expect(throws: FieldpackError.self) {
      try Filter(cql2JSON: collections(WKB.maximumDepth + 1))
    }
    #expect(other?.code == .invalidArgument)
    #expect(other?.message.hasSuffix(": geometries are nested more than 32 deep") == true)
  }

  @Test func `a zero keeps its sign`() throws {
    let filter = try Filter(cql2: "S_EQUALS(g, POINT(0 -0))")
    let json =
      #"{"op":"s_equals","args":[{"property":"g"},{"type":"Point","coordinates":[0,-0]}]}"#
    #expect(try filter.cql2JSON == json)
    #expect(try Filter(cql2JSON: json).cql2Text == "S_EQUALS(g, POINT (0 -0))")
  }

  @Test func `what Swift says and no text may is refused when it is written`() throws {
    let deep = (0..<70).reduce(Filter.isNull(.column("a"))) { filter, _ in
      .not(.and([filter, .isNull(.column("b"))]))
    }
    let long = (0..<301).reduce(Operand.column("a")) { sum, _ in
      .arithmetic(sum, .add, .literal(1))
    }
    for filter in [deep, .isNull(long)] {
      let text = #expect(throws: FieldpackError.self) { try filter.cql2Text }
      let json = #expect(throws: FieldpackError.self) { try filter.cql2JSON }
      #expect(text?.code == .unsupported && json?.code == .unsupported)
    }
    let one = Filter.and([.isNull(.column("a"))])
    #expect(try Filter(cql2: one.cql2Text) == .isNull(.column("a")))
    #expect(try Filter.isIn(.column("a"), []).cql2Text == "FALSE")
  }

  @Test(
    arguments: [
      (
        .relation(.within, .point(Position(x: 1, y: 2, m: 3), .xym), srs: .wgs84),
        "a geometry that GeoJSON cannot hold, in CQL2 JSON"
      ),
      (
        .relation(.within, .point(nil, .xyz), srs: .wgs84),
        "a geometry that GeoJSON cannot hold, in CQL2 JSON"
      ),
      (
        .relation(
          .within,
          .circularString(CoordinateSequence(dimensions: .xy, ordinates: [0, 0, 1, 1, 2, 0])),
          srs: .wgs84),
        "a geometry that GeoJSON cannot hold, in CQL2 JSON"
      ),
      (.intersects(.point(x: 1, y: 2)), "a geometry in the layer's own SRS"),
      (.compare(.column("a"), .equal, .literal(.null)), "NULL as a value"),
      (.envelope(.within, .init(minX: 0, minY: 0, maxX: 1, maxY: 1)), "an envelope relation"),
    ] as [(Filter, String)])
  func `names what CQL2 JSON has no words for`(filter: Filter, what: String) {
    let error = #expect(throws: FieldpackError.self) { try filter.cql2JSON }
    #expect(error?.code == .unsupported)
    #expect(error?.message == "CQL2 has no words for \(what)")
  }
}
