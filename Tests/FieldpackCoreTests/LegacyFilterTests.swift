import FieldpackCore
import FieldpackGeometry
import FieldpackStoreKit
import Testing

@Suite struct LegacyFilterTests {
  /// An operation on a value, with what it accepts and what it refuses.
  struct Case: Sendable, CustomStringConvertible {
    var json: String
    var meaning = LegacyFilter.Meaning.standard
    var yes: [Value]
    var no: [Value]
    var description: String { "\(json) \(meaning)" }
  }

  /// The twelve operations of the filters that SpatialConnect ran in memory.
  static let cases: [Case] = [
    .init(json: #"{"$gt": 5}"#, yes: [6, 5.5], no: [5, 4, "6", nil]),
    .init(json: #"{"$gte": 5}"#, yes: [6, 5, 5.0], no: [4, "5", nil]),
    .init(json: #"{"$lt": 5}"#, yes: [4, -0.5], no: [5, 6, "4", nil]),
    .init(json: #"{"$lte": 5}"#, yes: [4, 5], no: [5.001, "5", nil]),
    .init(json: #"{"$e": "foo"}"#, yes: ["foo"], no: ["bar", "Foo", 1, nil]),
    .init(json: #"{"$ne": "foo"}"#, yes: ["bar", "Foo"], no: ["foo", 1, nil]),
    .init(
      json: #"{"$between": {"upper": 10, "lower": 5}}"#, yes: [5, 7, 10], no: [4, 11, "7", nil]),
    .init(
      json: #"{"$between": {"upper": 10, "lower": 5}}"#, meaning: .memory, yes: [7, 5.1],
      no: [5, 10, 4, 11, nil]),
    .init(
      json: #"{"$notbetween": {"upper": 10, "lower": 5}}"#, yes: [4, 11], no: [5, 7, 10, nil]),
    .init(
      json: #"{"$notbetween": {"upper": 10, "lower": 5}}"#, meaning: .memory, yes: [4, 5, 10],
      no: [7, nil]),
    .init(json: #"{"$in": [1, 2, "x"]}"#, yes: [1, 2.0, "x"], no: [3, "y", nil]),
    .init(json: #"{"$notin": [1, 2]}"#, yes: [3], no: [1, 2, nil]),
    .init(json: #"{"$like": "foo%"}"#, yes: ["foo", "foobar"], no: ["barfoo", 1, nil]),
    .init(
      json: #"{"$like": "foobar"}"#, meaning: .memory, yes: ["foo", "oba", "foobar"],
      no: ["foobarx", "Foo", "", 1, nil]),
    .init(json: #"{"$notlike": "foo%"}"#, yes: ["barfoo", ""], no: ["foo", 1, nil]),
    .init(
      json: #"{"$notlike": "foobar"}"#, meaning: .memory, yes: ["foobarx"], no: ["foo", 1, nil]),
    .init(
      json: #"{"$or": [{"$lt": 0}, {"$gt": 5, "$lte": 9}], "limit": 3}"#, yes: [-1, 6, 9],
      no: [0, 5, 10]),
    .init(json: #"{"$and": [{"$gt": 5}, {"$ne": 7}]}"#, yes: [6, 8], no: [5, 7]),
    .init(json: "{}", yes: [1, nil], no: []),
  ]

  @Test(arguments: cases) func `tests a value as SpatialConnect did`(example: Case) throws {
    let filter = try LegacyFilter(json: example.json, meaning: example.meaning)
    for value in example.yes { #expect(try filter.accepts(value), "\(value)") }
    for value in example.no { #expect(try !filter.accepts(value), "\(value)") }
  }

  @Test func `asks a query`() throws {
    let json =
      #"{"$geocontains": [-73, 18.5, -72.3, 19], "$gte": {"field": "nfi", "value": 2}, "limit": 7, "#
      + #""layerIds": ["a", "b"]}"#
    let box = Envelope(minX: -73, minY: 18.5, maxX: -72.3, maxY: 19)
    let rest = Filter.compare(.column("nfi"), .greaterOrEqual, .literal(2))
    let tests: [(LegacyFilter.Meaning, Filter)] = [
      (.standard, .envelope(.within, box, srs: .wgs84)), (.memory, .vertex(in: box, srs: .wgs84)),
      (.wfs, .envelope(.intersects, box, srs: .wgs84)),
    ]
    for (meaning, first) in tests {
      let query = try LegacyFilter(json: json, meaning: meaning).query
      #expect(query == Query("a", "b", where: first && rest).limit(7))
    }
    #expect(try LegacyFilter(json: "{}").query == Query().limit(100))
    let far = try LegacyFilter(json: #"{"$geodisjoint": [1, 2, 3, 4], "layers": []}"#)
    let other = Envelope(minX: 1, minY: 2, maxX: 3, maxY: 4)
    #expect(
      try far.query == Query(where: .envelope(.disjoint, other, srs: .wgs84)).limit(100))
    let like = try LegacyFilter(
      json: #"{"$like": {"field": "name", "value": "ab"}}"#, meaning: .memory)
    let parts = ["a", "ab", "b"].map { Operand.literal(.text($0)) }
    #expect(try like.query.filter == .isIn(.column("name"), parts))
  }

  @Test(
    arguments: [
      (
        #"{"$geocontain": [1, 2, 3, 4]}"#,
        "at /$geocontain: '$geocontain' is not known, did you mean '$geocontains'? (there are: $e, "
          + "$gt, $gte, $lt, $lte, $ne, $between, $notbetween, $in, $notin, $like, $notlike, "
          + "$geocontains, $geodisjoint, $and, $or, limit, layerIds, layers)"
      ),
      ("[]", "at the top: expected an object but found an array"),
      (#"{"limit": -1}"#, "at /limit: a limit is a whole number, 0 or more"),
      (#"{"limit": 1, "limit": 2}"#, "at the top: the member 'limit' comes twice"),
      (#"{"layerIds": ["a"], "layers": ["b"]}"#, "at /layers: layers are named twice"),
      (#"{"layerIds": [1]}"#, "at /layerIds/0: expected a layer's name but found a number"),
      (
        #"{"$geocontains": [1, 2, 3]}"#,
        "at /$geocontains: a box is west, south, east and north, not 3 numbers"
      ),
      (
        #"{"$geocontains": [1, 4, 3, 2]}"#,
        "at /$geocontains: the south of the box, 4.0, lies above its north, 2.0"
      ),
      (#"{"$gt": null}"#, "at /$gt: expected a number, a text or a truth value but found null"),
      (
        #"{"$gt": {"field": "a", "val": 1}}"#,
        "at /$gt: member 'val' is not known (there are: field, value)"
      ),
      (
        #"{"$or": [{"$between": {"upper": 1}}]}"#,
        "at /$or/0/$between: expected an object with the members lower and upper"
      ),
      (#"{"$in": 5}"#, "at /$in: expected an array of values but found a number"),
      (#"{"$like": 5}"#, "at /$like: expected a text but found a number"),
    ])
  func `points at what is wrong`(json: String, message: String) {
    let error = #expect(throws: FieldpackError.self) { try LegacyFilter(json: json) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message == message)
  }

  @Test func `a pointer escapes what a name holds`() {
    let error = #expect(throws: FieldpackError.self) {
      try LegacyFilter(json: #"{"$or": [{"a/b~c": 1}]}"#)
    }
    #expect(error?.message.hasPrefix("at /$or/0/a~1b~0c: 'a/b~c' is not known") == true)
  }

  @Test func `a text to find the parts of has a limit`() throws {
    let text = String(repeating: "é", count: 200)
    _ = try LegacyFilter(json: #"{"$like": "\#(text)"}"#, meaning: .memory)
    _ = try LegacyFilter(json: #"{"$like": "\#(text)x"}"#)
    let error = #expect(throws: FieldpackError.self) {
      try LegacyFilter(
        json: #"{"$notlike": {"field": "a", "value": "\#(text)x"}}"#, meaning: .memory)
    }
    #expect(
      error?.message == "at /$notlike/value: a legacy $notlike takes at most 200 characters")
  }

  @Test func `keeps values and features apart`() throws {
    let value = try LegacyFilter(json: #"{"$gt": 5}"#)
    let error = #expect(throws: FieldpackError.self) { try value.query }
    #expect(
      error?.message
        == #"at /$gt: $gt names no column: write {"$gt": {"field": …, "value": …}}"#)
    for json in [#"{"$geocontains": [1, 2, 3, 4]}"#, #"{"$gt": {"field": "a", "value": 1}}"#] {
      let features = try LegacyFilter(json: json)
      #expect(throws: FieldpackError.self) { try features.accepts(1) }
    }
  }
}
