import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Testing

@testable import FieldpackGeoPackage

/// Conditions as deep and as long as they may be, in a store.
@Suite struct FilterLimitTests {
  private static func package() async throws -> TestPackage {
    let package = try TestPackage()
    try await package.withStore { store in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "t", geometry: GeometryColumn(),
            columns: [.init("n", .integer), .init("x", .double), .init("s", .text())]))
        for number: Int64 in 1...3 {
          let feature = Feature(
            geometry: .point(x: Double(number), y: 0),
            attributes: ["n": .integer(number), "x": 0.5, "s": .text("\(number)")])
          _ = try writer.create(feature, in: "t")
        }
      }
    }
    return package
  }

  private static func repeated(_ text: String, _ count: Int) -> String {
    String(repeating: text, count: count)
  }

  /// Conditions of which each holds the next.
  private static func nested(_ condition: String, _ inner: String) -> String {
    (0..<64).reduce(inner) { text, level in
      "\(condition) \(level % 2 == 0 ? "OR" : "AND") (\(text))"
    }
  }

  static let deepest: [String] = [
    nested("n > 2", "n = 1"), nested("n + x > 2.5", "s = '1'"),
    nested("NOT s LIKE '3%'", "n <> 1"), nested("x IN (0.5, s)", "n BETWEEN x AND 1"),
    nested("s = CASEI('2')", "n > x + 1"), nested("S_WITHIN(geom, BBOX(0, -1, 2, 1))", "s > '1'"),
    repeated("NOT (", 32) + "n = 1" + repeated(")", 32),
    "n" + repeated(" + 1", 300) + " = 301", "x" + repeated(" + n - x", 150) + " > 150.5",
    "n" + repeated(" * 1 / 1", 150) + " = 1",
    repeated("n + (", 64) + "n" + repeated(")", 64) + " = 65",
    repeated("-(", 32) + "n" + repeated(")", 32) + " = 1",
    repeated("CASEI(", 20) + "s" + repeated(")", 20) + " = '1'",
    "n" + repeated(" % 2", 20) + " = 1", repeated("n ^ ", 14) + "n = 1",
    repeated("n - (", 20) + "n" + repeated(")", 20) + " = 1",
  ]

  private struct RowCount: FeatureSink {
    private(set) var rows = 0

    mutating func begin(_ schema: Schema) {}

    mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) { rows += 1 }
  }

  @Test(arguments: [true, false], deepest)
  func `what may be said is answered`(isIndexed: Bool, text: String) async throws {
    let package = try await Self.package()
    if !isIndexed { try package.dropIndex("t") }
    try await package.withStore { store in
      let box = Filter.intersects(Envelope(minX: 0, minY: -1, maxX: 9, maxY: 1))
      let deep = try Filter(cql2: text)
      for filter in [deep, .not(deep), box && deep, .intersects(.point(x: 1, y: 0)) && deep] {
        let expected = try await store.evaluatedIDs("t", filter)
        let query = Query("t", where: filter)
        #expect(try await store.ids(query) == expected)
        #expect(try await store.count(query) == expected.count)
        #expect(try await store.scan(query, into: RowCount()).rows == expected.count)
      }
    }
  }

  @Test(
    arguments: [
      repeated("CASEI(", 40) + "s" + repeated(")", 40) + " = '1'",
      repeated("n ^ ", 25) + "1 = 1", "n" + repeated(" DIV 1", 60) + " = 1",
      repeated("n - (", 60) + "n" + repeated(")", 60) + " = 1",
    ])
  func `what is too deep for SQLite is told as such`(text: String) async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      let filter = try Filter(cql2: text)
      let error = await thrown { _ = try await store.ids(Query("t", where: filter)) }
      #expect(error?.code == .unsupported)
      #expect(
        error?.message == "the condition is nested too deep for SQLite (parser stack overflow)")
      #expect(error?.position == nil)
    }
  }

  @Test func `a box keeps its place before what is nested deep`() async throws {
    let package = try await Self.package()
    try await package.withStore { store in
      let deep = try Filter(cql2: Self.nested("n > 0", "n < 9"))
      for end in [1.5, 2.5, 0.5, 3.5] {
        let box = Filter.intersects(Envelope(minX: 0, minY: -1, maxX: end, maxY: 1))
        let ids = try await store.ids(Query("t", where: .and([deep, box])))
        let wanted: [Int64] = [1, 2, 3].filter { (id: Int64) -> Bool in Double(id) <= end }
        #expect(ids == wanted)
      }
    }
  }
}
