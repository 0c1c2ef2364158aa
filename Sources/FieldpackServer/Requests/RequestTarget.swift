import FieldpackCore

/// The path and the query of a request's first line.
struct RequestTarget: Hashable {
  /// The parts of the path between slashes, without escapes.
  var path: [String] = []
  var query: [ServerRequest.Parameter] = []

  /// - Returns: `nil` for what is no target of a request: broken escapes, bytes that are not UTF-8, NUL, a
  ///   part `.` or `..` in any spelling, parts with a semicolon behind dots, and empty parts.
  init?(_ text: String) {
    let sides = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let first = sides.first, first.utf8.first == UInt8(ascii: "/") else { return nil }
    var parts = first.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
    // A slash at the end means nothing here.
    if parts.last?.isEmpty == true { parts.removeLast() }
    for part in parts {
      guard let text = PercentText.decodePath(part), Self.isPart(text) else { return nil }
      path.append(text)
    }
    for pair in (sides.count > 1 ? sides[1] : "").split(separator: "&") {
      let sides = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = PercentText.decodeQuery(sides[0]),
        let value = PercentText.decodeQuery(sides.count > 1 ? sides[1] : ""),
        !name.utf8.contains(0), !value.utf8.contains(0)
      else { return nil }
      query.append(.init(name, value))
    }
  }

  private static func isPart(_ text: String) -> Bool {
    guard !text.isEmpty, !text.utf8.contains(0) else { return false }
    // Some servers behind a proxy read `..;a` as `..`.
    let name = text.prefix { $0 != ";" }
    return name != "." && name != ".."
  }
}
