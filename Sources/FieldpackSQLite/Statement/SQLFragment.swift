/// A piece of SQL with the values of its `?` in order.
package struct SQLFragment: Hashable, Sendable {
  package var text: String
  package var parameters: [SQLiteValue] = []
  /// How many of the hundred entries of its stack SQLite's parser takes for the text, about.
  package var stack: Int

  package init(_ text: String, _ parameters: [SQLiteValue] = [], stack: Int = 6) {
    self.text = text
    self.parameters = parameters
    self.stack = stack
  }

  package static let isTrue = SQLFragment("1")
  package static let isFalse = SQLFragment("0")

  /// The fragments between parentheses with `separator` between them; one stands alone.
  package static func joined(_ fragments: [SQLFragment], by separator: String) -> SQLFragment {
    joined(fragments[...], by: separator)
  }

  /// SQLite takes expressions 500 deep, and of `a AND b AND c` each term is one deeper than the
  /// next, so many terms are put into groups.
  private static func joined(
    _ fragments: ArraySlice<SQLFragment>, by separator: String
  ) -> SQLFragment {
    if fragments.count == 1, let only = fragments.first { return only }
    let most = 32
    guard fragments.count > most else { return chain(fragments, by: separator).inParentheses }
    let size = (fragments.count + most - 1) / most
    let groups = stride(from: fragments.startIndex, to: fragments.endIndex, by: size).map {
      joined(fragments[$0..<min($0 + size, fragments.endIndex)], by: separator)
    }
    return chain(groups[...], by: separator).inParentheses
  }

  /// The fragments with `separator` between them: while one behind the first is read, what stands
  /// before it and the separator are on the stack.
  package static func chain(
    _ fragments: ArraySlice<SQLFragment>, by separator: String
  ) -> SQLFragment {
    SQLFragment(
      fragments.map(\.text).joined(separator: separator), fragments.flatMap(\.parameters),
      stack: max(fragments.first?.stack ?? 0, 2 + (fragments.dropFirst().map(\.stack).max() ?? 0)))
  }

  /// `AND`; the order of what is nested deep is its own where it need not be kept.
  package static func and(_ fragments: [SQLFragment], keepsOrder: Bool = false) -> SQLFragment {
    let needed = fragments.filter { $0 != .isTrue }
    if needed.isEmpty { return .isTrue }
    if needed.contains(.isFalse) { return .isFalse }
    return joined(keepsOrder ? needed : deepestFirst(needed), by: " AND ")
  }

  package static func or(_ fragments: [SQLFragment]) -> SQLFragment {
    let needed = fragments.filter { $0 != .isFalse }
    if needed.isEmpty { return .isFalse }
    return needed.contains(.isTrue) ? .isTrue : joined(deepestFirst(needed), by: " OR ")
  }

  /// What stands first takes one entry of the parser's stack for its parenthesis, everything else
  /// three, so that 64 conditions fit into one another.
  private static func deepestFirst(_ fragments: [SQLFragment]) -> [SQLFragment] {
    guard let deepest = fragments.indices.max(by: { fragments[$0].stack < fragments[$1].stack }),
      deepest > 0, fragments[deepest].isDeep
    else { return fragments }
    var ordered = fragments
    ordered.insert(ordered.remove(at: deepest), at: 0)
    return ordered
  }

  /// Whether it is worth putting the fragment first.
  package var isDeep: Bool { stack > 14 }

  package var inParentheses: SQLFragment { SQLFragment("(\(text))", parameters, stack: stack + 1) }
}
