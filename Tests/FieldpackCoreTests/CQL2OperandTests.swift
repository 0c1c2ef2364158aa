import FieldpackCore
import FieldpackGeometry
import FieldpackStoreKit
import FieldpackTestSupport
import Testing

/// Arithmetic, functions, intervals and arrays in CQL2 Text and CQL2 JSON.
@Suite(.calculation) struct CQL2OperandTests {
  static let a = Operand.column("a")
  static let b = Operand.column("b")
  static func number(_ value: Int64) -> Operand { .literal(.integer(value)) }
  static func day(_ text: String) -> Operand { .literal(.date(CalendarDate(text)!)) }
  static func time(_ text: String) -> Operand { .literal(.dateTime(Instant(text)!)) }
  static func sum(_ a: Operand, _ b: Operand) -> Operand { .arithmetic(a, .add, b) }
  static func product(_ a: Operand, _ b: Operand) -> Operand { .arithmetic(a, .multiply, b) }
  static func isOne(_ operand: Operand) -> Filter { .compare(operand, .equal, number(1)) }

  /// Text, filter, the text it is written as, and its JSON.
  struct Example: Sendable, CustomStringConvertible {
    var text: String
    var filter: Filter
    var written: String?
    var json: String
    var description: String { text }
  }

  static let arithmetic: [Example] = [
    .init(
      text: "a+b=1", filter: isOne(sum(a, b)), written: "a + b = 1",
      json: #"{"op":"=","args":[{"op":"+","args":[{"property":"a"},{"property":"b"}]},1]}"#),
    .init(
      text: "a-1=1", filter: isOne(.arithmetic(a, .subtract, number(1))), written: "a - 1 = 1",
      json: #"{"op":"=","args":[{"op":"-","args":[{"property":"a"},1]},1]}"#),
    .init(
      text: "a*(b+-2) div 2=1",
      filter: isOne(.arithmetic(product(a, sum(b, number(-2))), .divideWhole, number(2))),
      written: "a * (b + -2) DIV 2 = 1",
      json: #"{"op":"=","args":[{"op":"div","args":[{"op":"*","args":[{"property":"a"},"#
        + #"{"op":"+","args":[{"property":"b"},-2]}]},2]},1]}"#),
    .init(
      text: "(a + (b + 1)) = 1", filter: isOne(sum(a, sum(b, number(1)))),
      written: "a + (b + 1) = 1",
      json: #"{"op":"=","args":[{"op":"+","args":[{"property":"a"},"#
        + #"{"op":"+","args":[{"property":"b"},1]}]},1]}"#),
    .init(
      text: "-a ^ 2 ^ b % 3 = 1",
      filter: isOne(
        .arithmetic(
          .arithmetic(
            product(number(-1), a), .power, .arithmetic(number(2), .power, b)), .remainder,
          number(3))),
      written: "(-1 * a) ^ 2 ^ b % 3 = 1",
      json: #"{"op":"=","args":[{"op":"%","args":[{"op":"^","args":[{"op":"*","args":[-1,"#
        + #"{"property":"a"}]},{"op":"^","args":[2,{"property":"b"}]}]},3]},1]}"#),
    .init(
      text: "(a ^ 2) ^ 2 / +3.0 = 1",
      filter: isOne(
        .arithmetic(
          .arithmetic(.arithmetic(a, .power, number(2)), .power, number(2)), .divide,
          .literal(.real(3)))), written: "(a ^ 2) ^ 2 / 3.0 = 1",
      json: #"{"op":"=","args":[{"op":"/","args":[{"op":"^","args":[{"op":"^","args":"#
        + #"[{"property":"a"},2]},2]},3.0]},1]}"#),
    .init(
      text: "div DIV Div = 1",
      filter: isOne(.arithmetic(.column("div"), .divideWhole, .column("Div"))),
      json: #"{"op":"=","args":[{"op":"div","args":[{"property":"div"},{"property":"Div"}]},1]}"#),
    .init(
      text: "(a > 1) IS NULL", filter: .isNull(.condition(.compare(a, .greater, number(1)))),
      json: #"{"op":"isNull","args":[{"op":">","args":[{"property":"a"},1]}]}"#),
    .init(
      text: "(NOT a) = ((b))",
      filter: .compare(
        .condition(.not(.compare(a, .equal, .literal(true)))), .equal, b),
      written: "(NOT a = TRUE) = b",
      json: #"{"op":"=","args":[{"op":"not","args":[{"op":"=","args":[{"property":"a"},true]}]},"#
        + #"{"property":"b"}]}"#),
  ]

  static let functions: [Example] = [
    .init(
      text: "casei(a) = CASEI('X')",
      filter: .compare(.call(.casei, [a]), .equal, .call(.casei, [.literal("X")])),
      written: "CASEI(a) = CASEI('X')",
      json: #"{"op":"=","args":[{"op":"casei","args":[{"property":"a"}]},"#
        + #"{"op":"casei","args":["X"]}]}"#),
    .init(
      text: "a NOT LIKE CASEI(ACCENTI('x\\_%'))",
      filter: .not(.like(a, pattern: "x\\_%", folding: [.casei, .accenti])),
      json: #"{"op":"not","args":[{"op":"like","args":[{"property":"a"},"#
        + #"{"op":"casei","args":[{"op":"accenti","args":["x\\_%"]}]}]}]}"#),
    .init(
      text: "ACCENTI(CASEI(a)) IN ('x', b)",
      filter: .isIn(.call(.accenti, [.call(.casei, [a])]), [.literal("x"), b]),
      json:
        #"{"op":"in","args":[{"op":"accenti","args":[{"op":"casei","args":[{"property":"a"}]}]},"#
        + #"["x",{"property":"b"}]]}"#),
    .init(
      text: "T_DURING(a, INTERVAL('2020-01-01', '..'))",
      filter: .temporal(.during, a, .interval(day("2020-01-01"), nil)),
      json: #"{"op":"t_during","args":[{"property":"a"},{"interval":["2020-01-01",".."]}]}"#),
    .init(
      text: "t_metby(interval(a, b), TIMESTAMP('2020-01-01T00:00:00Z'))",
      filter: .temporal(.metBy, .interval(a, b), time("2020-01-01T00:00:00Z")),
      written: "T_METBY(INTERVAL(a, b), TIMESTAMP('2020-01-01T00:00:00.000Z'))",
      json: #"{"op":"t_metBy","args":[{"interval":[{"property":"a"},{"property":"b"}]},"#
        + #"{"timestamp":"2020-01-01T00:00:00.000Z"}]}"#),
    .init(
      text: "T_OVERLAPPEDBY(DATE('2020-01-01'), INTERVAL('..', '2020-01-01T00:00:00.5+01:00'))",
      filter: .temporal(
        .overlappedBy, day("2020-01-01"), .interval(nil, time("2019-12-31T23:00:00.5Z"))),
      written:
        "T_OVERLAPPEDBY(DATE('2020-01-01'), INTERVAL('..', '2019-12-31T23:00:00.500Z'))",
      json: #"{"op":"t_overlappedBy","args":[{"date":"2020-01-01"},"#
        + #"{"interval":["..","2019-12-31T23:00:00.500Z"]}]}"#),
    .init(
      text: "A_CONTAINEDBY(a, ('x', 1, TRUE, DATE('2020-01-01'), (), ((2))))",
      filter: .array(
        .containedBy, a,
        .list([
          .literal("x"), number(1), .literal(true), day("2020-01-01"), .list([]),
          .list([.list([number(2)])]),
        ])),
      json: #"{"op":"a_containedBy","args":[{"property":"a"},["x",1,true,{"date":"2020-01-01"},"#
        + "[],[[2]]]]}"),
    .init(
      text: "A_OVERLAPS(((a + 1) * 2, (a OR b) AND b), (a > 1, (b)))",
      filter: .array(
        .overlaps,
        .list([
          product(sum(a, number(1)), number(2)),
          .condition(
            .and([
              .or([.compare(a, .equal, .literal(true)), .compare(b, .equal, .literal(true))]),
              .compare(b, .equal, .literal(true)),
            ])),
        ]),
        .list([.condition(.compare(a, .greater, number(1))), .list([b])])),
      written: "A_OVERLAPS(((a + 1) * 2, (a = TRUE OR b = TRUE) AND b = TRUE), (a > 1, (b)))",
      json:
        #"{"op":"a_overlaps","args":[[{"op":"*","args":[{"op":"+","args":[{"property":"a"},1]},2]},"#
        + #"{"op":"and","args":[{"op":"or","args":[{"op":"=","args":[{"property":"a"},true]},"#
        + #"{"op":"=","args":[{"property":"b"},true]}]},{"op":"=","args":[{"property":"b"},true]}]}],"#
        + #"[{"op":">","args":[{"property":"a"},1]},[{"property":"b"}]]]}"#),
  ]

  @Test(arguments: arithmetic + functions)
  func `reads and writes operands in both encodings`(example: Example) throws {
    let filter = try Filter(cql2: example.text)
    #expect(filter == example.filter)
    #expect(try filter.cql2Text == example.written ?? example.text)
    #expect(try filter.cql2JSON == example.json)
    let read = try Filter(cql2JSON: example.json)
    #expect(read == filter)
    #expect(try read.cql2Text == example.written ?? example.text)
  }

  @Test func `operations have a limit`() throws {
    func chain(_ count: Int) -> String { "a" + String(repeating: " + 1", count: count) + " = 1" }
    let filter = try Filter(cql2: chain(300))
    #expect(try Filter(cql2JSON: filter.cql2JSON) == filter)
    for text in [chain(301), "\(chain(200)) AND \(chain(101))", chain(100_000)] {
      let error = #expect(throws: FieldpackError.self) { try Filter(cql2: text) }
      #expect(error?.message == "the condition has more than 300 arithmetic operations")
    }
    let signs = String(repeating: "-", count: 65)
    #expect(throws: FieldpackError.self) { try Filter(cql2: "\(signs)a = 1") }
    let powers = String(repeating: "2 ^ ", count: 65)
    #expect(throws: FieldpackError.self) { try Filter(cql2: "\(powers)a = 1") }
  }

  @Test func `text, JSON and text again are the same for conditions at random`() throws {
    var generator = FilterGenerator(seed: 7)
    var count = 0
    for _ in 0..<10_000 {
      let filter = generator.filter()
      guard let written = try? filter.cql2Text else { continue }
      count += 1
      // What no text says, such as AND of one condition, is gone after the first reading.
      let read = try Filter(cql2: written)
      let text = try read.cql2Text
      #expect(try Filter(cql2: text) == read, "\(text)")
      let json = try read.cql2JSON
      #expect(try Filter(cql2JSON: json) == read, "\(text)")
      #expect(try Filter(cql2JSON: json).cql2Text == text)
      #expect(try Filter(cql2JSON: json).cql2JSON == json)
    }
    #expect(count > 3_000)
  }

  @Test func `long arrays compare as short ones do, and soon`() throws {
    let schema = Schema(
      layer: "long", columns: [ColumnDefinition("a", .json), ColumnDefinition("b", .json)])
    let numbers = (0..<100_000).map { "\($0)" }
    let special = ["1e300", "null", "[1]", "\"x\"", "\"2020-01-01\"", #"{"k":1}"#, "0.5"]
    func answer(_ text: String, _ a: [String], _ b: [String]) throws -> Bool? {
      let row = [a, b].map { Value.text("[\($0.joined(separator: ","))]") }
      return try Filter(cql2: text).evaluate(LongRow(texts: row), schema: schema)
    }
    let backward = Array((numbers + special).reversed())
    #expect(try answer("A_EQUALS(a, b)", numbers + special, backward) == true)
    #expect(try answer("A_EQUALS(a, b)", numbers, backward) == false)
    #expect(try answer("A_CONTAINS(a, b)", backward, special + ["5.0"] + numbers) == true)
    #expect(try answer("A_CONTAINS(a, b)", numbers, numbers + ["-1"]) == false)
    #expect(try answer("A_OVERLAPS(a, b)", numbers, special + ["-1"]) == false)
    #expect(try answer("A_OVERLAPS(a, b)", numbers + ["[1]"], special) == true)
    let moment = #"{"timestamp":"2020-01-01T00:00:00Z"}"#
    #expect(
      try answer("A_OVERLAPS(a, b)", numbers + special, Array(repeating: moment, count: 9)) == true)
    #expect(try answer("A_CONTAINS(b, a)", ["\"2020-01-01\""], numbers + [moment]) == true)
  }

  @Test func `long arrays of arrays and objects compare soon, too`() throws {
    let schema = Schema(
      layer: "long", columns: [ColumnDefinition("a", .json), ColumnDefinition("b", .json)])
    func answer(_ text: String, _ a: [String], _ b: [String]) throws -> Bool? {
      let row = [a, b].map { Value.text("[\($0.joined(separator: ","))]") }
      return try Filter(cql2: text).evaluate(LongRow(texts: row), schema: schema)
    }
    let makers: [@Sendable (Int) -> String] = [
      { "[\($0)]" }, { "[[], {\"k\": \($0)}]" }, { #"{"k": \#($0), "l": [0.5]}"# },
      { #"[{"timestamp": "2020-01-01T00:00:00Z"}, \#($0)]"# },
      { #""2020-01-01T00:00:00.000\#($0)Z""# }, { #"["2020-01-01T00:00:00.000\#($0)Z"]"# },
    ]
    let start = threadSeconds()
    for make in makers {
      let items = (10_000..<15_000).map(make)
      #expect(try answer("A_EQUALS(a, b)", items, items.reversed()) == true)
      #expect(try answer("A_CONTAINS(a, b)", items, items + [make(9)]) == false)
      #expect(try answer("A_OVERLAPS(a, b)", items, (20_000..<25_000).map(make)) == false)
    }
    #expect(threadSeconds() - start < 20)
    // Equal in other words.
    let numbers = (0..<5_000).map { "[\($0)]" }
    let others = [
      #"[1, {"b": 2, "a": [1.0, "x"]}]"#, #"["2020-01-01", {"timestamp": "2020-01-02T00:00:00Z"}]"#,
    ]
    let same = [
      #"[1.0, {"a": [1, "x"], "b": 2}]"#, #"[{"date": "2020-01-01"}, "2020-01-02T01:00:00+01:00"]"#,
    ]
    #expect(try answer("A_EQUALS(a, b)", numbers + others, same + numbers) == true)
    #expect(try answer("A_CONTAINS(a, b)", numbers + others, [same[0], "[1, 2]"]) == false)
  }

  private struct LongRow: FeatureRow {
    var texts: [Value]
    var id: FeatureID { 1 }
    var envelope: Envelope? { nil }
    func kind(at column: Int) -> ValueKind { .text }
    func integer(at column: Int) -> Int64 { 0 }
    func real(at column: Int) -> Double { .nan }
    func withBytes<R, E: Error>(
      at column: Int, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
      guard case .text(let text) = texts[column] else { return try body([UInt8]().span.bytes) }
      return try body(Array(text.utf8).span.bytes)
    }
    func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? { nil }
  }

  @Test func `columns of all operands are named once`() throws {
    let text =
      "(a + b > c) = CASEI(d) AND T_AFTER(INTERVAL(e, a), f) AND A_EQUALS(g, (h, (i))) AND "
      + "S_WITHIN(geom, POINT(1 2))"
    #expect(
      try Filter(cql2: text).columns == ["a", "b", "c", "d", "e", "f", "g", "h", "i"])
  }
}
