import FieldpackCore
import FieldpackGeometry
import FieldpackStoreKit
import FieldpackTestSupport
import Testing

@Suite struct FilterEvaluatorTests {
  @Test(arguments: FilterTable.cases.filter { !$0.isExact })
  func `finds the rows of the shared table`(example: FilterTable.Case) throws {
    let evaluator = try FilterEvaluator(Filter(cql2: example.text), schema: .places)
    let found = try FilterTable.rows.filter { try evaluator.evaluate(ValueRow($0)) == true }
    #expect(found.map(\.id) == example.ids)
  }

  static let box = Envelope(minX: 10, minY: 10, maxX: 30, maxY: 52.5)

  @Test(arguments: [
    (Filter.envelope(.intersects, box), [2, 5, 6, 7, 1].sorted()),
    (.envelope(.within, box), [1, 2, 6, 7]),
    (.envelope(.disjoint, box), [8, 9]),
    (.envelope(.contains, Envelope(minX: 25, minY: 30, maxX: 30, maxY: 30)), [6]),
    (!.envelope(.intersects, box), [8, 9]),
    (!.envelope(.disjoint, box), [1, 2, 5, 6, 7]),
    (!.envelope(.within, box), [5, 8, 9]),
    (.envelope(.intersects, box, srs: .wgs84), [1, 2, 5, 6, 7]),
  ])
  func `null and empty geometries are in no envelope relation nor its negation`(
    filter: Filter, ids: [Int64]
  ) throws {
    let evaluator = try FilterEvaluator(filter, schema: .places)
    let found = try FilterTable.rows.filter { try evaluator.evaluate(ValueRow($0)) == true }
    #expect(found.map(\.id) == ids)
  }

  @Test func `a missing and an empty geometry answer no exact relation`() throws {
    let filter = Filter.relation(.touches, Geometry.point(x: 1, y: 2))
    let row = ValueRow(wkb: FilterShape.point(3, 4).wkb)
    let empty = ValueRow(wkb: FilterShape.emptyPoint.wkb)
    #expect(try filter.evaluate(row, schema: .places) == false)
    #expect(try filter.evaluate(empty, schema: .places) == nil)
    #expect(try filter.evaluate(ValueRow(), schema: .places) == nil)
  }

  @Test func `an envelope that the row does not hold is computed`() throws {
    let filter = Filter.envelope(.within, Self.box)
    let inside = ValueRow(wkb: FilterShape.point(13, 14).wkb)
    let empty = ValueRow(wkb: FilterShape.emptyPoint.wkb)
    #expect(try filter.evaluate(inside, schema: .places) == true)
    #expect(try filter.evaluate(empty, schema: .places) == nil)
    let error = #expect(throws: FieldpackError.self) {
      try filter.evaluate(ValueRow(id: 7, wkb: [1, 2]), schema: .places)
    }
    #expect(error?.code == .invalidData)
    #expect(error?.location.feature == 7)
  }

  static let refusals: [(Filter, FieldpackError.Code, String)] = [
    (
      .isNull(.column("nmae")), .notFound,
      "layer 'places' has no column 'nmae', did you mean 'name'? (it has: fid, geom, name, visits, "
        + "depth, open, day, seen, note, data, a\"b; DROP TABLE x, größe, select, 😀, tags)"
    ),
    (
      .compare(.column("GEOM"), .equal, .literal(1)), .invalidArgument,
      "the geometry column 'GEOM' compares with nothing: use a relation such as S_INTERSECTS, or "
        + "IS NULL"
    ),
    (
      .envelope(.within, box, srs: SRS("EPSG", 3857)), .unsupported,
      "the condition's geometry is in EPSG:3857 and layer 'places' is in EPSG:4326: transform it "
        + "first"
    ),
    (
      .envelope(.within, Envelope(minX: 1, minY: 0, maxX: 0, maxY: 1)), .invalidArgument,
      "the box 1.0, 0.0, 0.0, 1.0 holds nothing: its minimum lies beyond its maximum"
    ),
  ]

  @Test(arguments: refusals)
  func `refuses what cannot be answered`(
    filter: Filter, code: FieldpackError.Code, message: String
  ) throws {
    let error = #expect(throws: FieldpackError.self) {
      try FilterEvaluator(filter, schema: .places)
    }
    #expect(error?.code == code)
    #expect(error?.message == message)
  }

  @Test func `a layer without geometry answers no relation`() throws {
    let schema = Schema(layer: "notes")
    let error = #expect(throws: FieldpackError.self) {
      try FilterEvaluator(.envelope(.within, Self.box), schema: schema)
    }
    #expect(error?.message == "layer 'notes' has no geometry for a spatial condition")
  }

  @Test func `a box in degrees compares raw with a layer of undefined SRS`() throws {
    var schema = Schema.places
    schema.geometry?.srs = .undefinedCartesian
    let row = ValueRow(wkb: [], envelope: Self.box)
    let filter = Filter.envelope(.within, Self.box, srs: .wgs84)
    #expect(try filter.evaluate(row, schema: schema) == true)
  }

  @Test func `logic follows the truth tables of SQL`() throws {
    let values: [(Filter, Bool?)] = [
      (.all, true), (.not(.all), false), (.compare(.literal(1), .equal, .literal(.null)), nil),
    ]
    let schema = Schema(layer: "none")
    for (a, left) in values {
      #expect(try (!a).evaluate(ValueRow(), schema: schema) == left.map { !$0 })
      for (b, right) in values {
        let both: Bool? =
          left == false || right == false ? false : left == nil || right == nil ? nil : true
        let either: Bool? =
          left == true || right == true ? true : left == nil || right == nil ? nil : false
        #expect(try Filter.and([a, b]).evaluate(ValueRow(), schema: schema) == both)
        #expect(try Filter.or([a, b]).evaluate(ValueRow(), schema: schema) == either)
      }
    }
    #expect(try Filter.and([]).evaluate(ValueRow(), schema: schema) == true)
    #expect(try Filter.or([]).evaluate(ValueRow(), schema: schema) == false)
    let nothing = Filter.isIn(.literal(.null), [])
    #expect(try nothing.evaluate(ValueRow(), schema: schema) == false)
  }

  @Test(arguments: [
    (Int64(1) << 53 + 1, 0x1p53, Comparison.greater), (.max, 0x1p63, .less),
    (.min, -0x1p63, .equal), (.min, -.infinity, .greater), (.max, .infinity, .less),
    (-1, -1.5, .greater), (1, 1.5, .less), (0, -0.0, .equal), (-2, -1.5, .less),
  ])
  func `an integer compares exactly with a real`(
    integer: Int64, real: Double, comparison: Comparison
  ) throws {
    let schema = Schema(layer: "none")
    for (left, right, expected) in [
      (Value.integer(integer), Value.real(real), comparison),
      (.real(real), .integer(integer), comparison.turned),
    ] {
      for tried in [Comparison.less, .equal, .greater] {
        let filter = Filter.compare(.literal(left), tried, .literal(right))
        #expect(try filter.evaluate(ValueRow(), schema: schema) == (tried == expected))
      }
    }
  }

  @Test func `a long pattern of many runs ends`() throws {
    let text = String(repeating: "a", count: 5000)
    let pattern = String(repeating: "%a", count: 500) + "b"
    let filter = Filter.like(.literal(.text(text)), pattern: pattern)
    #expect(try filter.evaluate(ValueRow(), schema: Schema(layer: "none")) == false)
  }
}

extension Comparison {
  fileprivate var turned: Comparison {
    switch self {
    case .less: .greater
    case .greater: .less
    default: self
    }
  }
}
