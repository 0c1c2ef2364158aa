/// A pattern for DE-9IM matrices: nine characters, for the interior, boundary and exterior of one
/// geometry against those of another.
public enum RelationPattern {
  /// Whether `text` has nine characters of `T`, `F`, `0`, `1`, `2` and `*`.
  public static func isPattern(_ text: String) -> Bool {
    text.utf8.count == 9 && text.allSatisfy("TF012*tf".contains)
  }

  /// Whether only geometries that share a point fit the pattern.
  public static func asksForSharedPoint(_ pattern: String) -> Bool {
    // The four characters for the interior and boundary of one geometry against those of the other.
    let characters = Array(pattern)
    return characters.count == 9
      && [0, 1, 3, 4].contains { "Tt012".contains(characters[$0]) }
  }

  /// The pattern for the two geometries in exchanged order.
  public static func transposed(_ pattern: String) -> String {
    let characters = Array(pattern)
    guard characters.count == 9 else { return pattern }
    return String([0, 3, 6, 1, 4, 7, 2, 5, 8].map { characters[$0] })
  }

  package static func complaint(_ text: String) -> String {
    "'\(text)' is no DE-9IM pattern (nine characters of T, F, 0, 1, 2 and *)"
  }
}
