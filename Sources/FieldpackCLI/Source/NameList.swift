/// Column names separated by commas; one that holds a comma, or begins with a quote or a `-` that
/// would mean something, stands in double quotes, with those in it doubled.
struct NameList: Hashable, Sendable {
  struct Entry: Hashable, Sendable {
    var name: String
    /// Whether a `-` stood before it.
    var isNegative = false
  }

  private(set) var entries: [Entry] = []

  /// - Parameter takesMinus: whether a `-` before a name is not part of it.
  init(_ text: String, takesMinus: Bool) throws(ValueError) {
    var rest = Substring(text)
    while true {
      var entry = Entry(name: "")
      if takesMinus, rest.first == "-" {
        entry.isNegative = true
        rest = rest.dropFirst()
      }
      if let (name, after) = Self.quoted(rest) {
        entry.name = name
        rest = after
      } else {
        entry.name = String(rest.prefix { $0 != "," })
        rest = rest.dropFirst(entry.name.count)
      }
      guard !entry.name.isEmpty else { throw ValueError("has an empty part") }
      entries.append(entry)
      guard rest.first == "," else { return }
      rest = rest.dropFirst()
    }
  }

  /// A name in quotes up to a comma or the end, and what follows it.
  private static func quoted(_ text: Substring) -> (name: String, rest: Substring)? {
    guard text.first == "\"" else { return nil }
    var name = ""
    var rest = text.dropFirst()
    while let character = rest.popFirst() {
      if character != "\"" {
        name.append(character)
      } else if rest.first == "\"" {
        name.append(character)
        rest = rest.dropFirst()
      } else {
        return rest.isEmpty || rest.first == "," ? (name, rest) : nil
      }
    }
    return nil
  }
}

extension ValueForm where Value == NameList {
  static func names(_ placeholder: String, takesMinus: Bool = false) -> ValueForm {
    ValueForm(placeholder, completion: .list(.column)) { (text) throws(ValueError) -> NameList in
      try NameList(text, takesMinus: takesMinus)
    }
  }
}
