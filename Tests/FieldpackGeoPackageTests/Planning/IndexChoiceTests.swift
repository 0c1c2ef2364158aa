import FieldpackCore
import FieldpackSQLite
import Testing

@testable import FieldpackGeoPackage

@Suite struct IndexChoiceTests {
  private static func index(
    _ name: String, _ columns: String?..., collation: String = "BINARY", isUnique: Bool = false,
    isPartial: Bool = false
  ) -> TableIndex {
    TableIndex(
      name: name,
      keys: columns.map { TableIndex.Key(column: $0.map { SQLName($0) }, collation: collation) },
      isUnique: isUnique, isPartial: isPartial)
  }

  private static func asks(
    _ part: Int, _ column: String, _ span: KeyCondition.Span, _ collation: String? = nil
  ) -> KeyCondition {
    KeyCondition(part: part, column: SQLName(column), span: span, collation: collation)
  }

  /// The parts, the columns held to single values, and whether a range with two ends follows.
  private func use(
    _ index: TableIndex, _ conditions: [KeyCondition]
  ) -> (parts: [Int], equal: Int, isBounded: Bool)? {
    IndexChoice(indexes: [index]).uses(for: conditions).first.map {
      ($0.parts, $0.equalColumns, $0.isBounded)
    }
  }

  @Test func `single values are followed by one range`() throws {
    let index = Self.index("by_abc", "a", "b", "c")
    let (a, b) = (Self.asks(0, "A", .equal), Self.asks(2, "b", .above))
    let found = try #require(use(index, [a, b, Self.asks(1, "c", .equal)]))
    #expect(found == ([0, 2], 1, false))
    let closed = try #require(use(index, [a, b, Self.asks(3, "b", .below)]))
    #expect(closed == ([0, 2, 3], 1, true))
    let between = try #require(use(index, [Self.asks(5, "a", .between)]))
    #expect(between == ([5], 0, true))
  }

  @Test func `an index that begins with another column answers nothing`() {
    let onB = [Self.asks(0, "b", .equal)]
    #expect(use(Self.index("by_ab", "a", "b"), onB) == nil)
    #expect(use(Self.index("by_expression", nil, "b"), onB) == nil)
    #expect(use(Self.index("some_b", "b", isPartial: true), onB) == nil)
    #expect(use(Self.index("by_b", "b"), []) == nil)
  }

  @Test func `a text is looked up only by an index of its collation`() {
    let asked = [Self.asks(0, "name", .equal, "BINARY")]
    #expect(use(Self.index("by_name", "name", collation: "NOCASE"), asked) == nil)
    #expect(use(Self.index("by_name", "name"), asked) != nil)
    let number = [Self.asks(0, "name", .equal)]
    #expect(use(Self.index("by_name", "name", collation: "NOCASE"), number) != nil)
  }

  /// The name of the index that finds the fewest rows.
  private func narrowest(
    _ indexes: [TableIndex], _ conditions: [KeyCondition], rowsPerKey: [String: [Int]] = [:],
    below most: Int = .max
  ) -> String? {
    let choice = IndexChoice(indexes: indexes, rowsPerKey: rowsPerKey)
    return choice.narrowest(choice.uses(for: conditions), below: most)?.index.name
  }

  @Test func `the narrowest is one row, then what statistics say, then the most columns`() {
    let (a, b) = (Self.asks(0, "a", .equal), Self.asks(1, "b", .equal))
    let (byA, byAB) = (Self.index("by_a", "a"), Self.index("by_ab", "a", "b"))
    let unique = Self.index("unique_a", "a", isUnique: true)
    #expect(narrowest([byA, byAB], [a, b]) == "by_ab")
    #expect(narrowest([byAB, byA, unique], [a, b]) == "unique_a")
    let byB = Self.index("by_b", "b")
    #expect(narrowest([byA, byB], [a, b], rowsPerKey: ["by_a": [50], "by_b": [3]]) == "by_b")
    #expect(narrowest([byA, byB], [a, b], rowsPerKey: ["by_a": [3], "by_b": [50]]) == "by_a")
    let ranged = Self.index("by_c", "c")
    #expect(narrowest([ranged, byA], [a, Self.asks(1, "c", .between)]) == "by_a")
  }

  @Test func `what finds too much, or is open at one side, is not narrow`() {
    let byA = Self.index("by_a", "a")
    let equal = [Self.asks(0, "a", .equal)]
    #expect(narrowest([byA], equal, rowsPerKey: ["by_a": [500]], below: 100) == nil)
    #expect(narrowest([byA], equal, rowsPerKey: ["by_a": [50]], below: 100) == "by_a")
    #expect(narrowest([byA], equal, below: 100) == "by_a")
    #expect(narrowest([byA], [Self.asks(0, "a", .above)]) == nil)
  }
}
