/// `name` as an SQL identifier; the only way a name gets into SQL.
package func quoted(_ name: String) -> String { enclosed(name, in: "\"") }

/// `text` as an SQL string literal, for triggers, which take no parameters.
package func literal(_ text: String) -> String { enclosed(text, in: "'") }

/// The text between two marks; a mark in the text is doubled.
private func enclosed(_ text: String, in mark: Unicode.Scalar) -> String {
  guard text.utf8.contains(UInt8(ascii: mark)) else {
    let edge = String(mark)
    return edge + text + edge
  }
  var scalars = String.UnicodeScalarView([mark])
  for scalar in text.unicodeScalars {
    if scalar == mark { scalars.append(mark) }
    scalars.append(scalar)
  }
  return String(scalars) + "\(mark)"
}

extension [String] {
  /// The terms with commas between them.
  ///
  /// The first call of `joined` makes the runtime search all conformances of the program, which the
  /// benchmark of a condition with an index shows.
  package var sqlList: String {
    var list = first ?? ""
    for term in dropFirst() { list += ", \(term)" }
    return list
  }
}

/// A name as SQL compares it: byte by byte, but ASCII letters whatever their case.
package struct SQLName: Hashable, Comparable, Sendable {
  private let folded: [UInt8]

  package init(_ name: String) {
    folded = name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
  }

  /// An order for lists of names.
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
