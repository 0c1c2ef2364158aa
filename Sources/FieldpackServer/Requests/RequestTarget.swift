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
    var (text, query) = (text, Substring?.none)
    if let mark = text.utf8.firstIndex(of: UInt8(ascii: "?")) {
      query = Substring(text.utf8[mark...].dropFirst())
      text = String(text[..<mark])
    }
    guard let path = text.withUTF8({ Self.path($0) }) else { return nil }
    self.path = path
    guard let query else { return }
    guard let pairs = PercentText.decodePairs(query) else { return nil }
    for (name, value) in pairs {
      guard !name.utf8.contains(0), !value.utf8.contains(0) else { return nil }
      self.query.append(.init(name, value))
    }
  }

  private static func path(_ bytes: UnsafeBufferPointer<UInt8>) -> [String]? {
    guard bytes.first == UInt8(ascii: "/") else { return nil }
    var path: [String] = []
    path.reserveCapacity(4)
    var start = 1
    for end in 1...bytes.count where end == bytes.count || bytes[end] == UInt8(ascii: "/") {
      // A slash at the end means nothing here.
      if start == bytes.count { break }
      guard let part = Self.text(of: .init(rebasing: bytes[start..<end])), Self.isPart(part) else {
        return nil
      }
      path.append(part)
      start = end + 1
    }
    return path
  }

  /// A part without its escapes; `nil` for broken escapes and for NUL. Most parts have neither escapes nor
  /// NUL, and are only looked through once.
  private static func text(of part: UnsafeBufferPointer<UInt8>) -> String? {
    let text = String(decoding: part, as: UTF8.self)
    guard part.contains(where: { $0 == UInt8(ascii: "%") || $0 == 0 }) else { return text }
    guard let plain = PercentText.decodePath(text), !plain.utf8.contains(0) else { return nil }
    return plain
  }

  private static func isPart(_ text: String) -> Bool {
    guard !text.isEmpty else { return false }
    guard text.utf8.first == UInt8(ascii: ".") else { return true }
    // Some servers behind a proxy read `..;a` as `..`.
    let name = text.prefix { $0 != ";" }
    return name != "." && name != ".."
  }
}
