import FieldpackSQLite

/// `name` as an SQL identifier; the only way a name gets into SQL.
func quoted(_ name: some StringProtocol) -> String {
  var text = "\""
  text.reserveCapacity(name.utf8.count + 2)
  for character in name.unicodeScalars {
    if character == "\"" { text += "\"" }
    text.unicodeScalars.append(character)
  }
  return text + "\""
}

extension [String] {
  /// As the standard library's, which for its first call has the runtime look for conformances for
  /// as long as several statements take to be prepared.
  func joined(separator: String) -> String {
    var text = ""
    for (index, element) in enumerated() {
      if index > 0 { text += separator }
      text += element
    }
    return text
  }
}

/// `text` as an SQL string literal, for triggers, which take no parameters.
func literal(_ text: some StringProtocol) -> String {
  var result = "'"
  for character in text.unicodeScalars {
    if character == "'" { result += "'" }
    result.unicodeScalars.append(character)
  }
  return result + "'"
}

/// A name as SQL compares it: byte by byte, but ASCII letters whatever their case.
struct SQLName: Hashable, Comparable, Sendable {
  private let folded: [UInt8]

  init(_ name: some StringProtocol) {
    folded = name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
  }

  /// An order for looking names up.
  static func < (a: SQLName, b: SQLName) -> Bool {
    a.folded.lexicographicallyPrecedes(b.folded)
  }

  func hasPrefix(_ prefix: String) -> Bool { folded.starts(with: prefix.utf8) }
}

/// A piece of SQL with the values of its `?` in order.
struct SQLFragment: Hashable, Sendable {
  var text: String
  var parameters: [SQLiteValue] = []

  init(_ text: String, _ parameters: [SQLiteValue] = []) {
    self.text = text
    self.parameters = parameters
  }

  static let isTrue = SQLFragment("1")
  static let isFalse = SQLFragment("0")

  /// The fragments between parentheses with `separator` between them; one stands alone.
  static func joined(_ fragments: [SQLFragment], by separator: String) -> SQLFragment {
    SQLFragment(
      nested(fragments.map(\.text)[...], by: separator), fragments.flatMap(\.parameters))
  }

  /// SQLite's parser stacks terms up, a thousand deep at most, so many terms are halved.
  private static func nested(_ texts: ArraySlice<String>, by separator: String) -> String {
    if texts.count == 1, let only = texts.first { return only }
    guard texts.count > 64 else { return "(" + texts.joined(separator: separator) + ")" }
    let middle = texts.startIndex + texts.count / 2
    return "(" + nested(texts[..<middle], by: separator) + separator
      + nested(texts[middle...], by: separator) + ")"
  }

  static func and(_ fragments: [SQLFragment]) -> SQLFragment {
    let needed = fragments.filter { $0 != .isTrue }
    if needed.isEmpty { return .isTrue }
    return needed.contains(.isFalse) ? .isFalse : joined(needed, by: " AND ")
  }

  static func or(_ fragments: [SQLFragment]) -> SQLFragment {
    let needed = fragments.filter { $0 != .isFalse }
    if needed.isEmpty { return .isFalse }
    return needed.contains(.isTrue) ? .isTrue : joined(needed, by: " OR ")
  }
}
