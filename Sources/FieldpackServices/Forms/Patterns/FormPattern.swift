import FieldpackCore

/// A regular expression of ECMAScript, as the pattern of a form's field.
///
/// All ways through the pattern are followed at once (K. Thompson, "Regular Expression Search
/// Algorithm", 1968), so the time grows with the text and never with the number of ways: no pattern of
/// a config can keep the program busy. Back-references and look-around have no such matcher, and are
/// refused.
///
/// A character is a Unicode code point, as with the flag `u` of ECMAScript: `^.{2}$` means two
/// characters of the person who fills in the form, and lengths of fields count the same. Otherwise the
/// syntax is that without flags. A pattern may match anywhere in a text.
struct FormPattern: Sendable {
  let source: String
  private let program: PatternProgram

  /// The most instructions that are followed for one text.
  static let maximumSteps = 50_000_000

  init(_ source: String) throws(FieldpackError) {
    self.source = source
    program = try PatternProgram(try PatternParser.parse(source), source: source)
  }

  /// Whether the pattern matches a part of the text.
  ///
  /// - Throws: `.unsupported` for a text that takes more steps than the limit.
  func matches(
    _ text: String, upTo steps: Int = Self.maximumSteps
  ) throws(FieldpackError) -> Bool {
    var run = PatternRun(program)
    guard let isMatch = run.matches(text, steps: steps) else {
      throw FieldpackError(
        .unsupported, "the text is too long to be compared with the pattern '\(source)'")
    }
    return isMatch
  }

  /// How many instructions are followed for a text.
  func steps(for text: String) -> Int {
    var run = PatternRun(program)
    _ = run.matches(text, steps: .max)
    return run.steps
  }
}

/// One search through a text.
private struct PatternRun {
  private let instructions: [PatternProgram.Instruction]
  private let sets: [ScalarSet]
  /// The round in which each instruction was followed last.
  private var rounds: [Int]
  private var round = 0
  /// The instructions that wait for the next character.
  private var waiting: [Int] = []
  private var pending: [Int] = []
  private(set) var steps = 0

  init(_ program: PatternProgram) {
    instructions = program.instructions
    sets = program.sets
    rounds = Array(repeating: 0, count: program.instructions.count)
  }

  /// `nil` beyond the limit.
  mutating func matches(_ text: String, steps limit: Int) -> Bool? {
    var previous: UInt32?
    var scalars = text.unicodeScalars.makeIterator()
    while true {
      let next = scalars.next()?.value
      // The search begins anew at each character.
      pending.append(0)
      if follow(previous, next) { return true }
      if steps > limit { return nil }
      guard let next else { return false }
      for index in waiting {
        if case .take(let set) = instructions[index], sets[set].contains(next) {
          pending.append(index + 1)
        }
      }
      waiting.removeAll(keepingCapacity: true)
      previous = next
    }
  }

  /// Follows what takes no character from all pending instructions; returns whether one of them is the
  /// end of the pattern.
  private mutating func follow(_ previous: UInt32?, _ next: UInt32?) -> Bool {
    round += 1
    while let index = pending.popLast() {
      guard rounds[index] != round else { continue }
      rounds[index] = round
      steps += 1
      switch instructions[index] {
      case .take: waiting.append(index)
      case .jump(let target): pending.append(target)
      case .split(let first, let second):
        pending.append(second)
        pending.append(first)
      case .assertion(let assertion):
        if Self.holds(assertion, previous, next) { pending.append(index + 1) }
      case .match: return true
      }
    }
    return false
  }

  private static func holds(
    _ assertion: PatternAssertion, _ previous: UInt32?, _ next: UInt32?
  ) -> Bool {
    func isWord(_ code: UInt32?) -> Bool { code.map { ScalarSet.word.contains($0) } ?? false }
    return switch assertion {
    case .start: previous == nil
    case .end: next == nil
    case .wordBoundary: isWord(previous) != isWord(next)
    case .noWordBoundary: isWord(previous) == isWord(next)
    }
  }
}
