/// A pattern of SQLite's `GLOB`, matched by code points: `*` stands for any text, `?` for one
/// character, `[…]` for one of a set, `[^…]` for one outside it.
///
/// A `]` that comes first in a set is a member of it; a set without an end matches nothing.
public struct GlobPattern: Hashable, Sendable {
  private enum Token: WildcardToken, Hashable, Sendable {
    case anyText
    case anyOne
    case one(Unicode.Scalar)
    case set(isInverted: Bool, [ClosedRange<UInt32>])
    /// A set without an end, which matches nothing.
    case nothing

    var isAnyText: Bool { self == .anyText }

    func matches(_ scalar: Unicode.Scalar) -> Bool {
      switch self {
      case .anyText, .nothing: false
      case .anyOne: true
      case .one(let own): own == scalar
      case .set(let isInverted, let ranges):
        ranges.contains { $0.contains(scalar.value) } != isInverted
      }
    }
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

  /// Reads a set up to its `]`.
  private static func set(_ rest: inout ArraySlice<Unicode.Scalar>) -> Token {
    var ranges: [ClosedRange<UInt32>] = []
    let isInverted = rest.first == "^"
    if isInverted { rest.removeFirst() }
    func add(_ scalar: Unicode.Scalar) { ranges.append(scalar.value...scalar.value) }
    if rest.first == "]" { add(rest.removeFirst()) }
    // The character that a following '-' would make the start of a range. A range's end and a ']'
    // that comes first cannot start one.
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

  /// Whether the whole text matches; takes at most time in proportion to the product of both
  /// lengths.
  public func matches(_ text: String) -> Bool { tokens.matches(text) }
}
