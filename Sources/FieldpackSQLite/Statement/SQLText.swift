/// `name` as an SQL identifier; the only way a name gets into SQL.
package func quoted(_ name: some StringProtocol) -> String {
  var text = "\""
  text.reserveCapacity(name.utf8.count + 2)
  for character in name.unicodeScalars {
    if character == "\"" { text += "\"" }
    text.unicodeScalars.append(character)
  }
  return text + "\""
}

/// `text` as an SQL string literal, for triggers, which take no parameters.
package func literal(_ text: some StringProtocol) -> String {
  var result = "'"
  for character in text.unicodeScalars {
    if character == "'" { result += "'" }
    result.unicodeScalars.append(character)
  }
  return result + "'"
}

/// A name as SQL compares it: byte by byte, but ASCII letters whatever their case.
package struct SQLName: Hashable, Comparable, Sendable {
  private let folded: [UInt8]

  package init(_ name: some StringProtocol) {
    folded = name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
  }

  /// An order for looking names up.
  package static func < (a: SQLName, b: SQLName) -> Bool {
    a.folded.lexicographicallyPrecedes(b.folded)
  }

  package func hasPrefix(_ prefix: String) -> Bool { folded.starts(with: prefix.utf8) }

  package func hasSuffix(_ suffix: String) -> Bool {
    folded.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }

  /// The name with its ASCII letters in lower case.
  package var lowercased: String { String(decoding: folded, as: UTF8.self) }

  /// What is left without that many bytes at both ends.
  package func dropping(first: Int, last: Int) -> SQLName {
    SQLName(String(decoding: folded.dropFirst(first).dropLast(last), as: UTF8.self))
  }

  package var count: Int { folded.count }
}
