import FieldpackCore
import FieldpackTestSupport
import Testing

@testable import FieldpackServices

/// Patterns that are made up, the same in each run.
struct FormPatternPeerTests {
  /// A pattern whose texts are of a, b and blanks.
  private func pattern(_ depth: Int, _ generator: inout FilterGenerator.SplitMix) -> String {
    let kind = Int.random(in: 0..<(depth > 0 ? 12 : 5), using: &generator)
    func part() -> String { pattern(depth - 1, &generator) }
    switch kind {
    case 0, 1: return ["a", "b", "(?:)"].randomElement(using: &generator) ?? ""
    case 2: return [".", "[ab]", "[^a]", #"\w"#, #"\s"#].randomElement(using: &generator) ?? ""
    case 3: return ["^", "$", #"\b"#, #"\B"#].randomElement(using: &generator) ?? ""
    case 4: return " "
    case 5, 6: return part() + part()
    case 7: return part() + part() + part()
    case 8: return "(\(part())|\(part()))"
    default:
      let repeats = ["*", "+", "?", "*?", "{2}", "{0,2}", "{1,}"]
      return "(?:\(part()))" + (repeats.randomElement(using: &generator) ?? "")
    }
  }

  private static let texts: [String] = {
    var texts = [""]
    for length in 1...4 {
      texts += texts.filter { $0.count == length - 1 }.flatMap { text in
        ["a", "b", " "].map { text + $0 }
      }
    }
    return texts
  }()

  @Test(arguments: 0..<8)
  func `agrees with Swift's regular expressions`(seed: UInt64) throws {
    var generator = FilterGenerator.SplitMix(state: seed)
    for _ in 0..<10 {
      let source = pattern(3, &generator)
      let ours = try FormPattern(source)
      let peer = try Regex(source).matchingSemantics(.unicodeScalar).wordBoundaryKind(.simple)
        .asciiOnlyWordCharacters()
      for text in Self.texts {
        let expected = try peer.firstMatch(in: text) != nil
        #expect(try ours.matches(text) == expected, "\(source) on '\(text)'")
      }
    }
  }

  @Test func `any text is a pattern or an error`() {
    let signs = Array(#"()[]{}|*+?\^$.-,019abcdkpuxDWSB:<=!>éd"#)
    var generator = FilterGenerator.SplitMix(state: 1)
    var (patterns, errors) = (0, 0)
    for _ in 0..<5_000 {
      let count = Int.random(in: 1...12, using: &generator)
      let source = String((0..<count).map { _ in signs.randomElement(using: &generator) ?? "a" })
      do throws(FieldpackError) {
        let pattern = try FormPattern(source)
        _ = try pattern.matches("a1 b\u{1F600}", upTo: 100_000)
        patterns += 1
      } catch {
        #expect(error.code == .invalidData || error.code == .unsupported, "\(source): \(error)")
        errors += 1
      }
    }
    #expect(patterns > 500)
    #expect(errors > 500)
  }
}
