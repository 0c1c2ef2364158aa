/// A pattern of SQLite's `GLOB`, matched by code points: `*` stands for any text, `?` for one
/// character, `[…]` for one of a set, `[^…]` for one outside it.
///
/// A `]` that comes first in a set is a member; nothing matches a set that does not end.
public struct GlobPattern: Hashable, Sendable {
  private enum Token: Hashable, Sendable {
    case anyText
    case anyOne
    case one(Unicode.Scalar)
    case set(isInverted: Bool, [ClosedRange<UInt32>])
    /// A set without an end.
    case nothing
  }

  private let tokens: [Token]

  public init(_ pattern: String) {
    var rest = Array(pattern.unicodeScalars)[...]
    var tokens: [Token] = []
    while let next = rest.popFirst() {
      switch next {
      case "*": if tokens.last != .anyText { tokens.append(.anyText) }
      case "?": tokens.append(.anyOne)
      case "[": tokens.append(Self.set(&rest))
      default: tokens.append(.one(next))
      }
    }
    self.tokens = tokens
  }

  /// Takes a set up to its `]`.
  private static func set(_ rest: inout ArraySlice<Unicode.Scalar>) -> Token {
    var ranges: [ClosedRange<UInt32>] = []
    let isInverted = rest.first == "^"
    if isInverted { rest.removeFirst() }
    func add(_ scalar: Unicode.Scalar) { ranges.append(scalar.value...scalar.value) }
    if rest.first == "]" { add(rest.removeFirst()) }
    // What a '-' may begin a range with: no end of another one, and no ']' in first place.
    var start: UInt32?
    while let next = rest.popFirst() {
      if next == "]" { return .set(isInverted: isInverted, ranges) }
      if next == "-", let low = start, let high = rest.first, high != "]" {
        rest.removeFirst()
        if low <= high.value { ranges.append(low...high.value) }
        start = nil
      } else {
        add(next)
        start = next.value
      }
    }
    return .nothing
  }

  /// Whether the whole text matches; the time is at most the product of both lengths.
  public func matches(_ text: String) -> Bool {
    let scalars = Array(text.unicodeScalars)
    var (token, place) = (0, 0)
    // Where to go on when what follows the last `*` does not match: it takes one character more.
    var retry: (token: Int, place: Int)?
    while place < scalars.count {
      if token < tokens.count, tokens[token] == .anyText {
        retry = (token + 1, place)
        token += 1
      } else if token < tokens.count, Self.matches(tokens[token], scalars[place]) {
        token += 1
        place += 1
      } else if let last = retry {
        retry = (last.token, last.place + 1)
        (token, place) = (last.token, last.place + 1)
      } else {
        return false
      }
    }
    return tokens[token...].allSatisfy { $0 == .anyText }
  }

  private static func matches(_ token: Token, _ scalar: Unicode.Scalar) -> Bool {
    switch token {
    case .anyText, .nothing: false
    case .anyOne: true
    case .one(let own): own == scalar
    case .set(let isInverted, let ranges):
      ranges.contains { $0.contains(scalar.value) } != isInverted
    }
  }
}
