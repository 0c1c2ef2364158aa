import FieldpackCore
import Testing

@testable import FieldpackServices

struct FormPatternTests {
  /// A pattern, and texts that it matches and does not match.
  struct Case: Sendable, CustomTestStringConvertible {
    let pattern: String
    let yes: [String]
    let no: [String]

    init(_ pattern: String, yes: [String] = [], no: [String] = []) {
      self.pattern = pattern
      self.yes = yes
      self.no = no
    }

    var testDescription: String { pattern }
  }

  @Test(arguments: [
    Case("", yes: ["", "a"]),
    Case("b", yes: ["abc", "b"], no: ["", "ac", "B"]),
    Case("^abc$", yes: ["abc"], no: ["abcd", "xabc", "abc\n"]),
    Case("a.c", yes: ["abc", "a\u{1F600}c"], no: ["a\nc", "a\u{2028}c", "ac"]),
    Case("^a*$", yes: ["", "aaa"], no: ["ab"]),
    Case("^a+?b??$", yes: ["a", "aab"], no: ["", "b"]),
    Case("^(a|bc|)d$", yes: ["ad", "bcd", "d"], no: ["bd", "abcd"]),
    Case("^a|b$", yes: ["ax", "xb"], no: ["xa", "bx"]),
    Case("^a{2}$", yes: ["aa"], no: ["a", "aaa"]),
    Case("^a{2,}$", yes: ["aa", "aaaa"], no: ["a"]),
    Case("^a{1,3}b$", yes: ["ab", "aaab"], no: ["b", "aaaab"]),
    Case("^(ab){0}c$", yes: ["c"], no: ["abc"]),
    Case("^(?:a*)*$", yes: ["", "aaa"], no: ["b"]),
    Case("^(a*){2,3}b$", yes: ["b", "aaab"], no: ["a"]),
    Case("^a{,2}$", yes: ["a{,2}"], no: ["aa"]),
    Case("^{a}x{$", yes: ["{a}x{"]),
    Case("^]}$", yes: ["]}"]),
    Case(#"^\d{3}-\d{4}$"#, yes: ["555-1234"], no: ["555-123", "٣55-1234"]),
    Case(#"^\D\S\W$"#, yes: ["ab-", "_a "], no: ["1b-", "a b", "abc"]),
    Case(#"^\w+\s\w+$"#, yes: ["a_1 b", "a\u{A0}b", "a\u{3000}b"], no: ["a-b c", "é b"]),
    Case(#"\bcat\b"#, yes: ["a cat.", "cat"], no: ["concat", "cat1"]),
    Case(#"\Bcat"#, yes: ["concat"], no: ["cat", "a cat"]),
    Case("^[a-cx-]+$", yes: ["abc", "x-"], no: ["d", ""]),
    Case("^[^a-c]$", yes: ["d", "\n", "\u{1F600}"], no: ["a", ""]),
    Case(#"^[\d\-.]+$"#, yes: ["1.2-3"], no: ["1,2"]),
    Case(#"^[a-\d]+$"#, yes: ["a-1"], no: ["b"]),
    Case(#"^[\b\]\\]$"#, yes: ["\u{8}", "]", "\\"], no: ["b"]),
    Case("[]", no: ["", "a"]),
    Case("^[^]$", yes: ["a", "\n"], no: [""]),
    Case(#"^\t\n\v\f\r\0$"#, yes: ["\t\n\u{B}\u{C}\r\0"]),
    Case(#"^\x41\u0042\cJ\.\/$"#, yes: ["AB\n./"]),
    Case(#"^\u{1F600}\uD83D\uDE00$"#, yes: ["\u{1F600}\u{1F600}"]),
    Case(#"^\u00e9$"#, yes: ["\u{E9}"], no: ["e\u{301}"]),
    Case(#"\uD83D"#, no: ["\u{1F600}"]),
    Case("^.{2}$", yes: ["\u{1F600}\u{1F600}"], no: ["\u{1F600}"]),
    Case(#"^\x4\u12\c1$"#, yes: [#"x4u12\c1"#]),
    Case("^(?<year>[0-9]{4})$", yes: ["2017"], no: ["217"]),
    Case("^[\u{E0}-\u{FF}]+$", yes: ["éü"], no: ["e"]),
  ])
  func `matches as ECMAScript does`(entry: Case) throws {
    let pattern = try FormPattern(entry.pattern)
    for text in entry.yes { #expect(try pattern.matches(text), "\(text.debugDescription)") }
    for text in entry.no { #expect(try !pattern.matches(text), "\(text.debugDescription)") }
  }

  @Test(arguments: [
    ("(a", "has a '(' without its ')' (character 1)"),
    ("a)", "has a ')' without its '(' (character 2)"),
    ("[a", "has a '[' without its ']' (character 1)"),
    ("*a", "has nothing to repeat (character 1)"),
    ("a|{2}", "has nothing to repeat (character 3)"),
    ("^*", "repeats a place, not a character (character 2)"),
    ("a{3,2}", "repeats at least 3 and at most 2 times (character 7)"),
    ("[b-a]", "has a range whose end comes before its start (character 5)"),
    ("a\\", "ends in a backslash (character 3)"),
    ("(?i:a)", "has a group of an unknown kind (character 1)"),
    ("(?<a", "has a group with a broken name (character 5)"),
    (#"\u{110000}"#, "has a '\\u{' without the number of a character and a '}' (character 3)"),
    (#"\01"#, "has an octal number, for which '\\x' and two digits stand (character 2)"),
    (
      #"\p{L}"#,
      "names a property of Unicode, which ECMAScript knows with the flag u only (character 3)"
    ),
  ])
  func `says what is wrong with a pattern`(pattern: String, what: String) {
    let error = #expect(throws: FieldpackError.self) { try FormPattern(pattern) }
    #expect(error?.code == .invalidData)
    #expect(error?.message == "the pattern '\(pattern)' \(what)")
  }

  @Test(arguments: [
    (#"(a)\1"#, "a back-reference (character 5)"),
    (#"(?<x>a)\k<x>"#, "a back-reference (character 10)"),
    ("(?=a)", "a look-ahead (character 1)"),
    ("a(?!b)", "a look-ahead (character 2)"),
    ("(?<=a)b", "a look-behind (character 1)"),
    ("(?<!a)b", "a look-behind (character 1)"),
  ])
  func `refuses what has no linear matcher`(pattern: String, what: String) {
    let error = #expect(throws: FieldpackError.self) { try FormPattern(pattern) }
    #expect(error?.code == .unsupported)
    #expect(
      error?.message
        == "the pattern '\(pattern)' has \(what), which no matcher compares in a time that grows "
        + "with the text alone")
  }

  @Test(arguments: [
    "a{10001}", "(a{200}){200}", "a{1000000000}", "a{0,1000000000}", "((a{100}){100}){100}",
  ])
  func `refuses a pattern that is too large`(pattern: String) {
    let error = #expect(throws: FieldpackError.self) { try FormPattern(pattern) }
    #expect(
      error?.message
        == "the pattern '\(pattern)' repeats so much that it is too large to be compared")
  }

  @Test func `repeats nothing at no cost`() throws {
    #expect(try FormPattern("^((){1000000000}){1000000000}$").matches(""))
  }

  @Test func `refuses groups that are nested too deep`() {
    let deep = String(repeating: "(", count: 101) + String(repeating: ")", count: 101)
    #expect(throws: FieldpackError.self) { try FormPattern(deep) }
    let allowed = String(repeating: "(", count: 100) + String(repeating: ")", count: 100)
    #expect(throws: Never.self) { try FormPattern(allowed) }
  }

  /// Programs that try one way after another need time that doubles with each character here.
  @Test(arguments: ["(a+)+$", "(a|a)*$", "(a*)*b", "^(([a-z])+.)+[A-Z]([a-z])+$"])
  func `takes steps in proportion to the text`(source: String) throws {
    let pattern = try FormPattern(source)
    let text = String(repeating: "a", count: 1_000) + "!"
    let once = pattern.steps(for: text)
    let tenfold = pattern.steps(for: String(repeating: "a", count: 10_000) + "!")
    #expect(once < 30 * text.count)
    #expect(tenfold <= 10 * once)
  }

  @Test func `a hundred thousand characters are compared`() throws {
    let pattern = try FormPattern("(a+)+$")
    let text = String(repeating: "a", count: 100_000)
    #expect(try pattern.matches(text + "!") == false)
    #expect(pattern.steps(for: text + "!") < 1_000_000)
  }

  @Test func `gives up on a text that takes too many steps`() throws {
    let pattern = try FormPattern("(a?){40}b")
    let text = String(repeating: "a", count: 200)
    #expect(try pattern.matches(text, upTo: 20_000) == false)
    let error = #expect(throws: FieldpackError.self) { try pattern.matches(text, upTo: 10_000) }
    #expect(error?.message == "the text is too long to be compared with the pattern '(a?){40}b'")
  }
}
