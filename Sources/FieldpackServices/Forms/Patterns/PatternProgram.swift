import FieldpackCore

/// A pattern as a list of instructions, as Thompson's construction makes it.
struct PatternProgram: Sendable {
  enum Instruction: Hashable, Sendable {
    /// Takes a character of the set with this number.
    case take(Int)
    case split(Int, Int)
    case jump(Int)
    case assertion(PatternAssertion)
    case match
  }

  /// The most instructions: what `{1000}` repeats is written out a thousand times.
  static let maximumCount = 10_000

  private(set) var instructions: [Instruction] = []
  private(set) var sets: [ScalarSet] = []
  private var numbers: [ScalarSet: Int] = [:]
  private let source: String

  init(_ node: PatternNode, source: String) throws(FieldpackError) {
    self.source = source
    try add(node)
    try emit(.match)
  }

  private mutating func emit(_ instruction: Instruction) throws(FieldpackError) {
    guard instructions.count < Self.maximumCount else {
      throw FieldpackError(
        .unsupported,
        "the pattern '\(source)' repeats so much that it is too large to be compared")
    }
    instructions.append(instruction)
  }

  private mutating func add(_ node: PatternNode) throws(FieldpackError) {
    switch node {
    case .set(let set): try emit(.take(number(of: set)))
    case .assertion(let assertion): try emit(.assertion(assertion))
    case .sequence(let parts): for part in parts { try add(part) }
    case .choice(let ways): try add(ways: ways)
    case .repetition(let node, let least, nil): try add(node, atLeast: least)
    case .repetition(let node, let least, let most?):
      try add(node, times: least)
      try add(node, upTo: most - least)
    }
  }

  private mutating func number(of set: ScalarSet) -> Int {
    if let number = numbers[set] { return number }
    sets.append(set)
    numbers[set] = sets.count - 1
    return sets.count - 1
  }

  private mutating func add(ways: [PatternNode]) throws(FieldpackError) {
    var ends: [Int] = []
    for way in ways.dropLast() {
      let split = instructions.count
      try emit(.split(split + 1, 0))
      try add(way)
      ends.append(instructions.count)
      try emit(.jump(0))
      instructions[split] = .split(split + 1, instructions.count)
    }
    if let last = ways.last { try add(last) }
    for end in ends { instructions[end] = .jump(instructions.count) }
  }

  /// Adds copies. A node without instructions needs no second one, however often it is repeated.
  private mutating func add(_ node: PatternNode, times count: Int) throws(FieldpackError) {
    for _ in 0..<count {
      let before = instructions.count
      try add(node)
      if instructions.count == before { return }
    }
  }

  private mutating func add(_ node: PatternNode, atLeast count: Int) throws(FieldpackError) {
    if count > 0 {
      try add(node, times: count - 1)
      let start = instructions.count
      try add(node)
      try emit(.split(start, instructions.count + 1))
    } else {
      let split = instructions.count
      try emit(.split(split + 1, 0))
      try add(node)
      try emit(.jump(split))
      instructions[split] = .split(split + 1, instructions.count)
    }
  }

  private mutating func add(_ node: PatternNode, upTo count: Int) throws(FieldpackError) {
    var splits: [Int] = []
    for _ in 0..<count {
      splits.append(instructions.count)
      try emit(.split(instructions.count + 1, 0))
      let before = instructions.count
      try add(node)
      if instructions.count == before { break }
    }
    for split in splits { instructions[split] = .split(split + 1, instructions.count) }
  }
}
