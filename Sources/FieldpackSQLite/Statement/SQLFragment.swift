/// A piece of SQL with the values that it binds, as in `"\(quoted(name)) > \(bind: .real(12.5))"`.
/// A string that is interpolated is SQL; an interpolated fragment adds its SQL and its values.
package struct SQLFragment: Hashable, Sendable {
  /// The text with a `?` for each value.
  package private(set) var text: String
  /// The values of the `?` in order.
  package var parameters: [SQLiteValue] = []
  /// The offset of each `?` in the text's bytes.
  private var marks: [Int] = []
  /// About how many entries of its stack SQLite's parser needs for the text; the stack has a hundred.
  package var stack = 6

  package init(_ fragment: SQLFragment, stack: Int) {
    self = fragment
    self.stack = stack
  }

  package static let isTrue: SQLFragment = "1"
  package static let isFalse: SQLFragment = "0"

  /// The text with what `write` gives for each value.
  package func text(_ write: (SQLiteValue) -> String) -> String {
    var result = ""
    var start = text.startIndex
    for (mark, value) in zip(marks, parameters) {
      let end = text.utf8.index(text.startIndex, offsetBy: mark)
      result += text[start..<end]
      result += write(value)
      start = text.utf8.index(after: end)
    }
    return result + text[start...]
  }

  package static func += (a: inout SQLFragment, b: SQLFragment) {
    let end = a.text.utf8.count
    a.text += b.text
    a.parameters += b.parameters
    for mark in b.marks { a.marks.append(end + mark) }
  }

  /// The fragments with `separator` between them, in parentheses; a single fragment gets none.
  ///
  /// More than 32 fragments are put into groups: each term of `a AND b AND c` is one level deeper
  /// than the next, and SQLite limits the depth of an expression to 500.
  package static func joined(_ fragments: [SQLFragment], by separator: String) -> SQLFragment {
    if fragments.count == 1 { return fragments[0] }
    let most = 32
    guard fragments.count > most else { return chain(fragments, by: separator).inParentheses }
    let size = (fragments.count + most - 1) / most
    let groups = stride(from: 0, to: fragments.count, by: size).map {
      joined(Array(fragments[$0..<min($0 + size, fragments.count)]), by: separator)
    }
    return chain(groups, by: separator).inParentheses
  }

  /// The fragments with `separator` between them. While the parser reads a fragment behind the first,
  /// its stack holds two entries more: the terms before the fragment, and the separator.
  package static func chain(_ fragments: [SQLFragment], by separator: String) -> SQLFragment {
    SQLFragment(
      list(fragments, by: separator),
      stack: max(fragments.first?.stack ?? 0, 2 + (fragments.dropFirst().map(\.stack).max() ?? 0)))
  }

  /// The fragments with `separator` between them. The `stack` is the first fragment's; a caller that
  /// knows better replaces it.
  package static func list(_ fragments: [SQLFragment], by separator: String) -> SQLFragment {
    var list = fragments.first ?? ""
    for fragment in fragments.dropFirst() {
      list.text += separator
      list += fragment
    }
    return list
  }

  /// The conjunction of the fragments. Unless the order is kept, the most deeply nested fragment
  /// comes first.
  package static func and(_ fragments: [SQLFragment], keepsOrder: Bool = false) -> SQLFragment {
    let needed = fragments.filter { $0 != .isTrue }
    if needed.isEmpty { return .isTrue }
    if needed.contains(.isFalse) { return .isFalse }
    return joined(keepsOrder ? needed : deepestFirst(needed), by: " AND ")
  }

  /// The disjunction of the fragments; the most deeply nested one comes first.
  package static func or(_ fragments: [SQLFragment]) -> SQLFragment {
    let needed = fragments.filter { $0 != .isFalse }
    if needed.isEmpty { return .isFalse }
    return needed.contains(.isTrue) ? .isTrue : joined(deepestFirst(needed), by: " OR ")
  }

  /// Puts the most deeply nested fragment first. There its parenthesis needs one entry of the parser's
  /// stack and elsewhere three, so that conditions may be nested 64 deep.
  private static func deepestFirst(_ fragments: [SQLFragment]) -> [SQLFragment] {
    guard let deepest = fragments.indices.max(by: { fragments[$0].stack < fragments[$1].stack }),
      deepest > 0, fragments[deepest].isDeep
    else { return fragments }
    var ordered = fragments
    ordered.insert(ordered.remove(at: deepest), at: 0)
    return ordered
  }

  /// Whether the fragment is nested so deeply that it should come first.
  package var isDeep: Bool { stack > 14 }

  package var inParentheses: SQLFragment { SQLFragment("(\(self))", stack: stack + 1) }
}

extension SQLFragment: ExpressibleByStringInterpolation {
  package init(stringLiteral sql: String) { text = sql }

  package init(stringInterpolation: StringInterpolation) { self = stringInterpolation.fragment }

  package struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var fragment: SQLFragment = ""

    package init(literalCapacity: Int, interpolationCount: Int) {
      fragment.text.reserveCapacity(literalCapacity + 16 * interpolationCount)
    }

    package mutating func appendLiteral(_ sql: String) { fragment.text += sql }

    package mutating func appendInterpolation(_ sql: String) { fragment.text += sql }

    package mutating func appendInterpolation(_ part: SQLFragment) { fragment += part }

    package mutating func appendInterpolation(bind value: SQLiteValue) {
      fragment.marks.append(fragment.text.utf8.count)
      fragment.parameters.append(value)
      fragment.text += "?"
    }

    package mutating func appendInterpolation(bind values: [SQLiteValue]) {
      for (index, value) in values.enumerated() {
        if index > 0 { appendLiteral(", ") }
        appendInterpolation(bind: value)
      }
    }
  }
}
