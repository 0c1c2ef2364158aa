import FieldpackCore
import Testing

@Suite struct ColumnConstraintTests {
  static let cases: [(ColumnConstraint.Rule, allowed: [Value], refused: [Value])] = [
    (
      .oneOf(["new", "1", "2.5", "2024-05-01"]),
      ["new", 1, 1.0, "1", 2.5, true, .date(CalendarDate("2024-05-01") ?? .init(dayNumber: 0))],
      ["New", "", "new ", 2, 1.5, false, "1.0", .blob([110, 101, 119])]
    ),
    (
      .range(from: .init(1), to: .init(10, isInclusive: false)),
      [1, 9, 9.999, "5", "9.5"], [0, 10, 10.5, .real(.nan), "x", "0x5", "", .blob([5])]
    ),
    (
      .range(from: .init(0.5, isInclusive: false), to: .init(1.5)), [1, 0.6, 1.5, true],
      [0.5, 2, false, .real(.infinity)]
    ),
    (.range(from: .init(.integer(.max)), to: nil), [.integer(.max)], [.integer(.max - 1)]),
    (.range(from: nil, to: .init(3)), [.integer(.min), 3], [4, 3.5]),
    (
      .range(from: .init("2024-01-01"), to: .init("2024-12-31T23:59:59Z")),
      ["2024-01-01", "2024-06-01T10:00:00Z", .dateTime(Instant(milliseconds: 1_710_000_000_000))],
      ["2023-12-31", "2025-01-01T00:00:00Z", 5, "soon"]
    ),
    (.glob("[1-2][0-9][0-9][0-9]"), ["2024", 1999], ["3000", 3000, "20245", "", .blob([50])]),
  ]

  @Test(arguments: cases.indices)
  func `allows what its rule says, and NULL`(index: Int) {
    let (rule, allowed, refused) = Self.cases[index]
    let constraint = ColumnConstraint("rule", rule)
    #expect(allowed.filter { !constraint.allows($0) } == [])
    #expect(refused.filter { constraint.allows($0) } == [])
    #expect(constraint.allows(.null))
  }

  @Test(arguments: [
    ("*", "", true), ("", "", true), ("", "a", false), ("?", "é", true), ("?", "", false),
    ("a*c", "abbbc", true), ("a*c", "abbbcd", false), ("*a*a*a*", "aa", false),
    ("*a*a*a*", "bababab", true), ("[abc]", "b", true), ("[^abc]", "b", false),
    ("[]a]", "]", true), ("[^]a]", "]", false), ("[a-c-e]", "-", true), ("[a-c-e]", "d", false),
    ("[-a]", "-", true), ("[a-]", "-", true), ("[a", "a", false), ("[", "[", false),
    ("[[]", "[", true), ("[z-a]", "m", false), ("A", "a", false), ("\\*", "\\x", true),
    ("[à-ü]", "é", true), ("[^]", "x", false),
  ])
  func `globs as SQLite does`(pattern: String, text: String, isMatch: Bool) {
    #expect(GlobPattern(pattern).matches(text) == isMatch)
  }

  @Test func `matches no pattern slowly`() {
    let pattern = GlobPattern(String(repeating: "*a", count: 200) + "b")
    #expect(!pattern.matches(String(repeating: "a", count: 5_000)))
  }

  @Test func `says what is allowed`() {
    #expect(ColumnConstraint.oneOf("a", "b", named: "x").summary == "one of 'a', 'b'")
    let many = ColumnConstraint("x", .oneOf((1...20).map { .init("\($0)") }))
    #expect(many.summary.hasSuffix("'12' and 8 more"))
    #expect(ColumnConstraint.range(0...5, named: "x").summary == "at least 0.0 and at most 5.0")
    let open = ColumnConstraint("x", .range(from: .init(1, isInclusive: false), to: nil))
    #expect(open.summary == "above 1")
    #expect(ColumnConstraint.glob("a*", named: "x").summary == "texts like 'a*'")
  }
}
