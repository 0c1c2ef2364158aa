/// A piece of a pattern: a wildcard for any text, or a test of one character.
protocol WildcardToken {
  var isAnyText: Bool { get }
  /// Whether the piece matches a character; not called for a wildcard for any text.
  func matches(_ scalar: Unicode.Scalar) -> Bool
}

extension Array where Element: WildcardToken {
  /// Whether the pieces match the whole text, code point by code point.
  ///
  /// After a mismatch only the last wildcard for any text has to be retried, so the time is at most
  /// proportional to the product of both lengths.
  func matches(_ text: String) -> Bool {
    let scalars = text.unicodeScalars
    var (token, index) = (0, scalars.startIndex)
    // Where to retry after a mismatch: the last wildcard for any text takes one character more.
    var retry: (token: Int, index: String.Index)?
    while index < scalars.endIndex {
      if token < count, self[token].isAnyText {
        token += 1
        retry = (token, index)
      } else if token < count, self[token].matches(scalars[index]) {
        token += 1
        scalars.formIndex(after: &index)
      } else if let last = retry {
        (token, index) = (last.token, scalars.index(after: last.index))
        retry = (token, index)
      } else {
        return false
      }
    }
    return self[token...].allSatisfy(\.isAnyText)
  }
}
