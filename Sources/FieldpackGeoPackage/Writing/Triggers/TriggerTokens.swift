import FieldpackSQLite

/// The text of a trigger as tokens that two writers of the same trigger agree about, and what can be
/// read off them.
///
/// White space, comments, the quotes of names and the case of words are gone. `NOT NULL` and
/// `IS NOT NULL` are `NOTNULL`, `IS NULL` is `ISNULL`, `<>` is `!=`, and `FOR EACH ROW`, which says
/// nothing, is left out.
struct TriggerTokens: Sendable {
  enum Token: Hashable, Sendable {
    /// A word without quotes: a keyword, a name or a number.
    case word(SQLName)
    /// A name in quotes, which is no keyword whatever it says.
    case name(SQLName)
    /// What a text in single quotes says.
    case text(String)
    case symbol(UInt8)

    /// The name that a word or a quoted name stands for.
    var asName: SQLName? {
      switch self {
      case .word(let name), .name(let name): name
      case .text, .symbol: nil
      }
    }
  }

  /// What a trigger does to a table.
  struct Effect: Hashable, Sendable {
    enum Kind: Hashable, Sendable { case inserts, updates, deletes }

    var kind: Kind
    var table: SQLName
    /// The table's name as the text has it.
    var spelled: String
  }

  let tokens: [Token]
  private let spellings: [String]

  init(_ sql: String) {
    var reader = TriggerTokenReader(sql)
    (tokens, spellings) = reader.read()
  }

  // MARK: What it says

  /// The place of the table's name, behind `CREATE TRIGGER name AFTER UPDATE OF a, b ON`; `nil` where
  /// the text is not so.
  private var tablePlace: Int? {
    guard word(0) == "create", word(1) == "trigger", tokens.count > 2, tokens[2].asName != nil
    else { return nil }
    var place = 3
    switch word(place) {
    case "before", "after": place += 1
    case "instead": place += 2
    default: break
    }
    let event = word(place)
    guard ["insert", "update", "delete"].contains(event) else { return nil }
    place += 1
    if event == "update", word(place) == "of" {
      place += 1
      while place + 1 < tokens.count, tokens[place].asName != nil,
        tokens[place + 1] == .symbol(UInt8(ascii: ","))
      {
        place += 2
      }
      place += 1
    }
    guard word(place) == "on", place + 1 < tokens.count, tokens[place + 1].asName != nil else {
      return nil
    }
    return place + 1
  }

  /// The table or view that it is on.
  var table: String? { tablePlace.map { spellings[$0] } }

  /// Whether it runs when the row is written already.
  var isAfter: Bool { word(3) == "after" }

  private var bodyPlace: Int { (tokens.firstIndex(of: .word(SQLName("begin"))) ?? -1) + 1 }

  /// What the statements of its body do, in their order; each once.
  var effects: [Effect] {
    var found: [Effect] = []
    for place in tokens.indices.dropFirst(bodyPlace) {
      guard let (kind, at) = statement(place), at < tokens.count,
        let name = tokens[at].asName
      else {
        continue
      }
      let effect = Effect(kind: kind, table: name, spelled: spellings[at])
      if !found.contains(effect) { found.append(effect) }
    }
    return found
  }

  /// What a statement that begins at a place does, and the place of its table.
  private func statement(_ place: Int) -> (Effect.Kind, Int)? {
    switch (word(place), word(place + 1)) {
    case ("into", _): (.inserts, place + 1)
    case ("delete", "from"): (.deletes, place + 2)
    case ("update", "set"): nil
    case ("update", "or"): (.updates, place + 3)
    case ("update", _): (.updates, place + 1)
    default: nil
    }
  }

  /// Whether it can have a change pass that is not made: `RAISE(IGNORE)`.
  var canIgnore: Bool { raises { $0 == "ignore" } }

  /// Whether it can fail a change.
  var canRefuse: Bool { raises { $0 != "ignore" } }

  private func raises(_ how: (String) -> Bool) -> Bool {
    tokens.indices.contains { place in
      word(place) == "raise" && place + 2 < tokens.count
        && tokens[place + 1] == .symbol(UInt8(ascii: "(")) && how(word(place + 2))
    }
  }

  /// A word, as a keyword is compared; empty for all else.
  private func word(_ place: Int) -> String {
    guard tokens.indices.contains(place), case .word = tokens[place] else { return "" }
    return spellings[place].lowercased()
  }
}

/// Reads the tokens of a trigger's text, and how they were spelled.
private struct TriggerTokenReader {
  private var source: SQLTokens
  private var tokens: [TriggerTokens.Token] = []
  private var spellings: [String] = []

  init(_ sql: String) { source = SQLTokens(sql) }

  mutating func read() -> ([TriggerTokens.Token], [String]) {
    while let token = source.next() {
      switch token {
      case .text(let text): add(text: SQLTokens.unquoted(text))
      case .name(let name): add(name: SQLTokens.unquoted(name))
      case .word(let word): add(words: word)
      case .other(UInt8(ascii: "[")): add(name: Array(source.take(upTo: UInt8(ascii: "]"))))
      case .other(let byte):
        if !Self.isSpace(byte) { add(symbol: byte) }
      }
    }
    return (tokens, spellings)
  }

  private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || (9...13).contains(byte) }

  private mutating func append(_ token: TriggerTokens.Token, _ spelling: [UInt8]) {
    tokens.append(token)
    spellings.append(String(decoding: spelling, as: UTF8.self))
  }

  private mutating func add(name: [UInt8]) {
    append(.name(SQLName(String(decoding: name, as: UTF8.self))), name)
  }

  /// SQLite takes a text for a name where only a name can be.
  private mutating func add(text: [UInt8]) {
    if isNameNext { return add(name: text) }
    append(.text(String(decoding: text, as: UTF8.self)), text)
  }

  private var isNameNext: Bool {
    switch tokens.last {
    case .symbol(UInt8(ascii: "."))?: true
    case .word(let word)?: Self.beforeNames.contains(word)
    default: false
    }
  }

  private static let beforeNames = Set(["trigger", "on", "of", "into", "update"].map(SQLName.init))

  private mutating func add(words: ArraySlice<UInt8>) {
    var isFirst = true
    for part in words.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false) {
      if !isFirst { append(.symbol(UInt8(ascii: ".")), [UInt8(ascii: ".")]) }
      isFirst = false
      if !part.isEmpty { add(word: Array(part)) }
    }
  }

  private mutating func add(word bytes: [UInt8]) {
    append(.word(SQLName(String(decoding: bytes, as: UTF8.self))), bytes)
    if ends(with: ["is", "not", "null"]) {
      replace(3, by: "notnull")
    } else if ends(with: ["not", "null"]) {
      replace(2, by: "notnull")
    } else if ends(with: ["is", "null"]) {
      replace(2, by: "isnull")
    } else if ends(with: ["for", "each", "row"]) {
      tokens.removeLast(3)
      spellings.removeLast(3)
    }
  }

  private func ends(with words: [String]) -> Bool {
    tokens.count >= words.count
      && tokens.suffix(words.count).elementsEqual(words.map { .word(SQLName($0)) })
  }

  private mutating func replace(_ count: Int, by word: String) {
    tokens.removeLast(count)
    spellings.removeLast(count)
    append(.word(SQLName(word)), Array(word.utf8))
  }

  private mutating func add(symbol byte: UInt8) {
    if byte == UInt8(ascii: ">"), tokens.last == .symbol(UInt8(ascii: "<")) {
      tokens.removeLast()
      spellings.removeLast()
      add(symbol: UInt8(ascii: "!"))
      return add(symbol: UInt8(ascii: "="))
    }
    append(.symbol(byte), [byte])
  }
}
