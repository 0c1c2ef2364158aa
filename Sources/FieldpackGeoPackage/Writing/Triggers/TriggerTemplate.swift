import FieldpackSQLite

/// A trigger that may run, as a text with placeholders for names.
///
/// Words in capitals are keywords. All other words are names, in quotes or without. `"<t>"` is the
/// trigger's table. `"<c>"`, `"<i>"` and other names in angle brackets stand for any one name, the
/// same wherever they occur, and `'<x>'` for a text that says the same. `'*'` is any text. Words in
/// braces are optional.
struct TriggerTemplate: Sendable {
  private indirect enum Element: Sendable {
    case keyword(SQLName)
    case name(SQLName)
    case placeholder(SQLName)
    case textOfPlaceholder(SQLName)
    case text(String)
    case anyText
    case symbol(UInt8)
    case optional([Element])
  }

  /// The trigger's name before and after its variable piece, in lower case. The suffix is `nil`
  /// where the name has no such piece.
  private let name: (prefix: String, suffix: String?)
  private let elements: [Element]

  /// - Parameters:
  ///   - name: the trigger's name. `*` in it stands for one piece of any length, which is `<*>` in
  ///     the text; for example `<rtree_*>` is that piece with `rtree_` before it.
  ///   - text: what follows the name.
  init(_ name: String, _ text: String) {
    let parts = name.lowercased().split(separator: "*", omittingEmptySubsequences: false)
    self.name = (String(parts[0]), parts.count > 1 ? String(parts[1]) : nil)
    var rest = TriggerTokens(text).tokens[...]
    elements = Self.elements(of: &rest, capitals: Self.capitals(text))
  }

  /// The words that a template has in capitals.
  private static func capitals(_ text: String) -> Set<SQLName> {
    var words: Set<SQLName> = [SQLName("notnull"), SQLName("isnull")]
    for token in SQLTokens(text) {
      guard case .word(let bytes) = token else { continue }
      for part in bytes.split(separator: UInt8(ascii: ".")) {
        let isNumber = part.first.map { $0 <= UInt8(ascii: "9") } ?? false
        let isKeyword = part.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
        if isKeyword || isNumber { words.insert(SQLName(String(decoding: part, as: UTF8.self))) }
      }
    }
    return words
  }

  private static func elements(
    of rest: inout ArraySlice<TriggerTokens.Token>, capitals: Set<SQLName>
  ) -> [Element] {
    var found: [Element] = []
    while let token = rest.popFirst() {
      switch token {
      case .symbol(UInt8(ascii: "{")):
        found.append(.optional(elements(of: &rest, capitals: capitals)))
      case .symbol(UInt8(ascii: "}")): return found
      case .symbol(let byte): found.append(.symbol(byte))
      case .word(let word): found.append(capitals.contains(word) ? .keyword(word) : .name(word))
      case .name(let name): found.append(name.hasPrefix("<") ? .placeholder(name) : .name(name))
      case .text("*"): found.append(.anyText)
      case .text(let text):
        found.append(text.hasPrefix("<") ? .textOfPlaceholder(SQLName(text)) : .text(text))
      }
    }
    return found
  }

  /// The names that the placeholders stand for in a trigger of that name and table; `nil` for a
  /// trigger that does not match.
  func names(
    in text: TriggerTokens, called name: SQLName, on table: SQLName
  ) -> [SQLName: SQLName]? {
    guard let piece = piece(of: name) else { return nil }
    var names = [SQLName("<t>"): table]
    if let suffix = self.name.suffix {
      names[SQLName("<*>")] = piece
      let stem = name.dropping(first: 0, last: suffix.utf8.count)
      names[SQLName("<\(self.name.prefix)*>")] = stem
    }
    return Self.match(elements[...], text.tokens.dropFirst(3), &names) ? names : nil
  }

  /// The piece of a name that `*` stands for.
  private func piece(of name: SQLName) -> SQLName? {
    guard let suffix = self.name.suffix else {
      return name == SQLName(self.name.prefix) ? name : nil
    }
    let (head, tail) = (self.name.prefix.utf8.count, suffix.utf8.count)
    guard name.count > head + tail, name.hasPrefix(self.name.prefix), name.hasSuffix(suffix) else {
      return nil
    }
    return name.dropping(first: head, last: tail)
  }

  /// Whether all tokens match all elements.
  private static func match(
    _ elements: ArraySlice<Element>, _ tokens: ArraySlice<TriggerTokens.Token>,
    _ names: inout [SQLName: SQLName]
  ) -> Bool {
    var (elements, tokens) = (elements, tokens)
    while let element = elements.popFirst() {
      if case .optional(let inner) = element {
        let before = names
        if match(inner + elements, tokens, &names) { return true }
        names = before
        continue
      }
      guard let token = tokens.popFirst(), fits(token, element, &names) else { return false }
    }
    return tokens.isEmpty
  }

  private static func fits(
    _ token: TriggerTokens.Token, _ element: Element, _ names: inout [SQLName: SQLName]
  ) -> Bool {
    switch (element, token) {
    case (.keyword(let keyword), .word(let word)): return keyword == word
    case (.name(let name), _): return token.asName == name
    case (.symbol(let wanted), .symbol(let found)): return wanted == found
    case (.text(let wanted), .text(let found)):
      // Files break the lines of the standard's texts differently.
      return wanted == found || wanted.utf8.filter(isInk).elementsEqual(found.utf8.filter(isInk))
    case (.anyText, .text): return true
    case (.placeholder(let placeholder), _):
      guard let name = token.asName else { return false }
      if let bound = names[placeholder] { return bound == name }
      names[placeholder] = name
      return true
    case (.textOfPlaceholder(let placeholder), .text(let text)):
      return names[placeholder] == SQLName(text)
    default: return false
    }
  }

  private static func isInk(_ byte: UInt8) -> Bool { byte > 32 }
}
