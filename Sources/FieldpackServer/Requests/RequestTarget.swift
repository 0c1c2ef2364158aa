import FieldpackCore

/// The path and the query of a request's first line.
struct RequestTarget: Hashable {
  /// The parts of the path between slashes, without escapes.
  var path: [String] = []
  var query: [ServerRequest.Parameter] = []

  /// - Returns: `nil` for what is no target of a request: broken escapes, bytes that are not UTF-8, NUL, a
  ///   part `.` or `..` in any spelling, parts with a semicolon behind dots, and empty parts.
  init?(_ text: String) {
    // Bytes are compared, not characters, which takes a tenth of the time.
    let bytes = text.utf8
    guard bytes.first == UInt8(ascii: "/") else { return nil }
    let end = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
    var parts = bytes[..<end].dropFirst().split(
      separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    // A slash at the end means nothing here.
    if parts.last?.isEmpty == true { parts.removeLast() }
    for part in parts {
      guard let text = Self.text(of: part), Self.isPart(text) else { return nil }
      path.append(text)
    }
    guard end < bytes.endIndex else { return }
    guard let pairs = PercentText.decodePairs(Substring(bytes[end...].dropFirst())) else {
      return nil
    }
    for (name, value) in pairs {
      guard !name.utf8.contains(0), !value.utf8.contains(0) else { return nil }
      query.append(.init(name, value))
    }
  }

  /// A part without its escapes; `nil` for broken escapes and for NUL. Most parts have neither escapes nor
  /// NUL, and are only looked through once.
  private static func text(of part: Substring.UTF8View) -> String? {
    if !part.contains(where: { $0 == UInt8(ascii: "%") || $0 == 0 }) {
      return String(Substring(part))
    }
    guard let text = PercentText.decodePath(Substring(part)), !text.utf8.contains(0) else {
      return nil
    }
    return text
  }

  private static func isPart(_ text: String) -> Bool {
    guard !text.isEmpty else { return false }
    guard text.utf8.first == UInt8(ascii: ".") else { return true }
    // Some servers behind a proxy read `..;a` as `..`.
    let name = text.prefix { $0 != ";" }
    return name != "." && name != ".."
  }
}
