/// A piece of a pattern: any text, or what one character may be.
protocol WildcardToken {
  var isAnyText: Bool { get }
  /// Not asked of any text.
  func matches(_ scalar: Unicode.Scalar) -> Bool
}

extension Array where Element: WildcardToken {
  /// Whether the pieces match the whole text, code point by code point.
  ///
  /// Going back to the last piece of any text alone is enough, so the time is at most the product of
  /// both lengths.
  func matches(_ text: String) -> Bool {
    let scalars = text.unicodeScalars
    var (token, place) = (0, scalars.startIndex)
    // Where to go on when what follows any text does not match: it takes one character more.
    var retry: (token: Int, place: String.Index)?
    while place < scalars.endIndex {
      if token < count, self[token].isAnyText {
        token += 1
        retry = (token, place)
      } else if token < count, self[token].matches(scalars[place]) {
        token += 1
        scalars.formIndex(after: &place)
      } else if let last = retry {
        (token, place) = (last.token, scalars.index(after: last.place))
        retry = (token, place)
      } else {
        return false
      }
    }
    return self[token...].allSatisfy(\.isAnyText)
  }
}
