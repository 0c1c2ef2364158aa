import FieldpackCore

/// A part of a regular expression.
indirect enum PatternNode: Hashable, Sendable {
  case set(ScalarSet)
  case assertion(PatternAssertion)
  case sequence([PatternNode])
  case choice([PatternNode])
  /// `most` is `nil` where there is no end.
  case repetition(PatternNode, least: Int, most: Int?)
}

/// What is true of a place between two characters.
enum PatternAssertion: Hashable, Sendable {
  case start, end, wordBoundary, noWordBoundary
}

/// Reads the syntax of ECMAScript 2024 with the lenient additions of its Annex B.
struct PatternParser {
  /// How deep groups may stand in groups.
  static let maximumDepth = 100

  private let source: String
  private let scalars: [UInt32]
  private var index = 0
  private var depth = 0

  static func parse(_ source: String) throws(FieldpackError) -> PatternNode {
    var parser = PatternParser(source)
    let node = try parser.choice()
    // A choice ends at the end of the text, or at a parenthesis that nothing opened.
    guard parser.peek == nil else { throw parser.mistake("has a ')' without its '('") }
    return node
  }

  private init(_ source: String) {
    self.source = source
    scalars = source.unicodeScalars.map(\.value)
  }

  // MARK: Errors

  private func mistake(_ what: String) -> FieldpackError {
    FieldpackError(.invalidData, "the pattern '\(source)' \(what) (character \(index + 1))")
  }

  private func unsupported(_ what: String) -> FieldpackError {
    FieldpackError(
      .unsupported,
      "the pattern '\(source)' has \(what) (character \(index + 1)), which no matcher "
        + "compares in a time that grows with the text alone")
  }

  // MARK: Characters

  private var peek: UInt32? { index < scalars.count ? scalars[index] : nil }

  private func isNext(_ text: StaticString) -> Bool {
    text.withUTF8Buffer { bytes in
      index + bytes.count <= scalars.count
        && bytes.indices.allSatisfy { scalars[index + $0] == UInt32(bytes[$0]) }
    }
  }

  private mutating func take(_ text: StaticString) -> Bool {
    guard isNext(text) else { return false }
    index += text.utf8CodeUnitCount
    return true
  }

  // MARK: Structure

  private mutating func choice() throws(FieldpackError) -> PatternNode {
    var ways = [try sequence()]
    while take("|") { ways.append(try sequence()) }
    return ways.count == 1 ? ways[0] : .choice(ways)
  }

  private mutating func sequence() throws(FieldpackError) -> PatternNode {
    var parts: [PatternNode] = []
    while let next = peek, next != code("|"), next != code(")") { parts.append(try term()) }
    return parts.count == 1 ? parts[0] : .sequence(parts)
  }

  private mutating func term() throws(FieldpackError) -> PatternNode {
    if let assertion = takeAssertion() {
      let after = index
      if try quantifier() != nil {
        index = after
        throw mistake("repeats a place, not a character")
      }
      return .assertion(assertion)
    }
    let before = index
    if try quantifier() != nil {
      index = before
      throw mistake("has nothing to repeat")
    }
    let atom = try atom()
    guard let (least, most) = try quantifier() else { return atom }
    return .repetition(atom, least: least, most: most)
  }

  private mutating func takeAssertion() -> PatternAssertion? {
    if take("^") { return .start }
    if take("$") { return .end }
    if take(#"\b"#) { return .wordBoundary }
    if take(#"\B"#) { return .noWordBoundary }
    return nil
  }

  /// How often the term before it stands; `nil` where no quantifier follows. Whether it is greedy makes
  /// no difference to whether a text matches.
  private mutating func quantifier() throws(FieldpackError) -> (least: Int, most: Int?)? {
    let range: (Int, Int?)
    if take("*") {
      range = (0, nil)
    } else if take("+") {
      range = (1, nil)
    } else if take("?") {
      range = (0, 1)
    } else if let braces = bracedQuantifier() {
      if let most = braces.most, most < braces.least {
        throw mistake("repeats at least \(braces.least) and at most \(most) times")
      }
      range = (braces.least, braces.most)
    } else {
      return nil
    }
    _ = take("?")
    return range
  }

  /// `{3}`, `{3,}` or `{3,5}`; braces around anything else stand for themselves.
  private mutating func bracedQuantifier() -> (least: Int, most: Int?)? {
    let start = index
    guard take("{"), let least = number() else {
      index = start
      return nil
    }
    var most: Int? = least
    if take(",") { most = number() }
    guard take("}") else {
      index = start
      return nil
    }
    return (least, most)
  }

  /// Digits; a large number is as good as one larger still, because neither fits into a program.
  private mutating func number() -> Int? {
    let start = index
    var number = 0
    while let digit = peek, (0x30...0x39).contains(digit) {
      number = min(number * 10 + Int(digit - 0x30), 1_000_000_000)
      index += 1
    }
    return index > start ? number : nil
  }

  // MARK: Atoms

  private mutating func atom() throws(FieldpackError) -> PatternNode {
    if isNext("(") { return try group() }
    if take("[") { return .set(try characterClass()) }
    if take(".") { return .set(.dot) }
    if take("\\") { return .set(try escape(inClass: false).set) }
    let literal = scalars[index]
    index += 1
    return .set(ScalarSet([literal...literal]))
  }

  private mutating func group() throws(FieldpackError) -> PatternNode {
    if isNext("(?=") || isNext("(?!") { throw unsupported("a look-ahead") }
    if isNext("(?<=") || isNext("(?<!") { throw unsupported("a look-behind") }
    let start = index
    if take("(?<") {
      while let next = peek, next != code(">") {
        guard next != code(")") else { throw mistake("has a group with a broken name") }
        index += 1
      }
      guard take(">") else { throw mistake("has a group with a broken name") }
    } else if !take("(?:") {
      if isNext("(?") { throw mistake("has a group of an unknown kind") }
      _ = take("(")
    }
    depth += 1
    guard depth <= Self.maximumDepth else {
      throw mistake("has groups more than \(Self.maximumDepth) deep")
    }
    let node = try choice()
    depth -= 1
    guard take(")") else {
      index = start
      throw mistake("has a '(' without its ')'")
    }
    return node
  }

  private mutating func characterClass() throws(FieldpackError) -> ScalarSet {
    let start = index - 1
    let isInverted = take("^")
    var ranges: [ClosedRange<UInt32>] = []
    while !take("]") {
      let low = try classMember(from: start)
      guard isNext("-"), !isNext("-]") else {
        ranges += low.ranges
        continue
      }
      _ = take("-")
      let high = try classMember(from: start)
      if let low = low.single, let high = high.single {
        guard low <= high else { throw mistake("has a range whose end comes before its start") }
        ranges.append(low...high)
      } else {
        // A class such as `\d` has no ends, so the dash stands for itself (Annex B.1.2.7).
        ranges += low.ranges + high.ranges + [code("-")...code("-")]
      }
    }
    let set = ScalarSet(ranges)
    return isInverted ? set.inverted : set
  }

  private mutating func classMember(from start: Int) throws(FieldpackError) -> Member {
    guard let next = peek else {
      index = start
      throw mistake("has a '[' without its ']'")
    }
    if take("\\") { return try escape(inClass: true) }
    index += 1
    return .code(next)
  }

  /// What stands for one character.
  private enum Member {
    case code(UInt32)
    case several(ScalarSet)

    var single: UInt32? { if case .code(let code) = self { code } else { nil } }
    var ranges: [ClosedRange<UInt32>] { self.set.ranges }

    var set: ScalarSet {
      switch self {
      case .code(let code): ScalarSet([code...code])
      case .several(let set): set
      }
    }
  }

  // MARK: Escapes

  /// What follows a backslash.
  private mutating func escape(inClass: Bool) throws(FieldpackError) -> Member {
    guard let letter = peek, let scalar = Unicode.Scalar(letter) else {
      throw mistake("ends in a backslash")
    }
    index += 1
    switch scalar {
    case "d": return .several(.digits)
    case "D": return .several(.digits.inverted)
    case "w": return .several(.word)
    case "W": return .several(.word.inverted)
    case "s": return .several(.space)
    case "S": return .several(.space.inverted)
    case "t": return .code(0x09)
    case "n": return .code(0x0A)
    case "v": return .code(0x0B)
    case "f": return .code(0x0C)
    case "r": return .code(0x0D)
    case "b" where inClass: return .code(0x08)
    case "0"..."9": return try decimalEscape(scalar)
    case "k" where isNext("<"): throw unsupported("a back-reference")
    case "p" where isNext("{"), "P" where isNext("{"):
      throw mistake("names a property of Unicode, which ECMAScript knows with the flag u only")
    case "c": return .code(controlLetter() ?? 0x5C)
    case "x": return .code(hexadecimal(digits: 2) ?? letter)
    case "u": return .code(try unicodeEscape() ?? letter)
    default: return .code(letter)
    }
  }

  private mutating func decimalEscape(_ digit: Unicode.Scalar) throws(FieldpackError) -> Member {
    let isFollowed = peek.map { (0x30...0x39).contains($0) } ?? false
    if digit == "0", !isFollowed { return .code(0) }
    index -= 1
    guard digit == "0" else { throw unsupported("a back-reference") }
    throw mistake("has an octal number, for which '\\x' and two digits stand")
  }

  /// `\cA` to `\cZ`. Before anything else the backslash stands for itself, and so does the c.
  private mutating func controlLetter() -> UInt32? {
    guard let letter = peek, (0x41...0x5A).contains(letter & ~0x20) else {
      index -= 1
      return nil
    }
    index += 1
    return letter % 32
  }

  private mutating func hexadecimal(digits: Int) -> UInt32? {
    guard index + digits <= scalars.count else { return nil }
    var number: UInt32 = 0
    for scalar in scalars[index..<index + digits] {
      guard let digit = Unicode.Scalar(scalar).flatMap({ Character($0).hexDigitValue }),
        scalar < 128
      else { return nil }
      number = number * 16 + UInt32(digit)
    }
    index += digits
    return number
  }

  /// `\u00E9`, `\u{1F600}`, or the two halves of a character above U+FFFF. Half of a character alone
  /// matches nothing.
  private mutating func unicodeEscape() throws(FieldpackError) -> UInt32? {
    if isNext("{") { return try bracedCodePoint() }
    guard let first = hexadecimal(digits: 4) else { return nil }
    let start = index
    guard (0xD800...0xDBFF).contains(first), take(#"\u"#), let second = hexadecimal(digits: 4),
      (0xDC00...0xDFFF).contains(second)
    else {
      index = start
      return first
    }
    return 0x10000 + (first - 0xD800) << 10 + (second - 0xDC00)
  }

  private mutating func bracedCodePoint() throws(FieldpackError) -> UInt32 {
    let start = index
    _ = take("{")
    var number: UInt32 = 0
    while let digit = hexadecimal(digits: 1) { number = min(number * 16 + digit, 0x110000) }
    guard index > start + 1, take("}"), number <= ScalarSet.last else {
      index = start
      throw mistake("has a '\\u{' without the number of a character and a '}'")
    }
    return number
  }
}

private func code(_ scalar: Unicode.Scalar) -> UInt32 { scalar.value }
