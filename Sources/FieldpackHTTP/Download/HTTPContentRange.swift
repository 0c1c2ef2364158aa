/// Which bytes of a whole a partial answer holds, by `Content-Range` (RFC 9110, 14.4).
struct HTTPContentRange: Hashable {
  var bytes: Range<Int>
  /// The length of the whole, where the server tells it.
  var total: Int?

  /// Reads values such as `bytes 42-1233/1234` and `bytes 42-1233/*`; others are `nil`.
  init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2, words[0].lowercased() == "bytes" else { return nil }
    let parts = words[1].split(separator: "/", omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = HTTPSyntax.number(ends[0]),
      let last = HTTPSyntax.number(ends[1]), first <= last, last < .max
    else { return nil }
    bytes = first..<last + 1
    if parts[1] == "*" { return }
    guard let total = HTTPSyntax.number(parts[1]), total >= bytes.upperBound else { return nil }
    self.total = total
  }
}
