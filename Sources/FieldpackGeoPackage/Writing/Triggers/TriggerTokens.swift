import FieldpackSQLite

/// The text of a trigger as tokens, and what can be read off them. Two programs that write the same
/// trigger give the same tokens.
///
/// White space, comments, the quotes of names and the case of words are gone. `NOT NULL` and
/// `IS NOT NULL` are `NOTNULL`, `IS NULL` is `ISNULL`, and `<>` is `!=`. `FOR EACH ROW`, which
/// means nothing in SQLite, is left out.
struct TriggerTokens: Sendable {
  enum Token: Hashable, Sendable {
    /// A word without quotes: a keyword, a name or a number.
    case word(SQLName)
    /// A name in quotes, which is never a keyword.
    case name(SQLName)
    /// The content of a text in single quotes.
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
    /// The table's name as the trigger spells it.
    var spelled: String
  }

  let tokens: [Token]
  private let spellings: [String]

  init(_ sql: String) {
    var reader = TriggerTokenReader(sql)
    (tokens, spellings) = reader.read()
  }

  // MARK: Reading

  /// Index of the table's name, after `CREATE TRIGGER name AFTER UPDATE OF a, b ON`; `nil` where
  /// the text does not begin so.
  private var tableIndex: Int? {
    guard word(0) == "create", word(1) == "trigger", tokens.count > 2, tokens[2].asName != nil
    else { return nil }
    var index = 3
    switch word(index) {
    case "before", "after": index += 1
    case "instead": index += 2
    default: break
    }
    let event = word(index)
    guard ["insert", "update", "delete"].contains(event) else { return nil }
    index += 1
    if event == "update", word(index) == "of" {
      index += 1
      while index + 1 < tokens.count, tokens[index].asName != nil,
        tokens[index + 1] == .symbol(UInt8(ascii: ","))
      {
        index += 2
      }
      index += 1
    }
    guard word(index) == "on", index + 1 < tokens.count, tokens[index + 1].asName != nil else {
      return nil
    }
    return index + 1
  }

  /// The table or view that the trigger is on.
  var table: String? { tableIndex.map { spellings[$0] } }

  /// Whether the trigger runs after the row is written.
  var isAfter: Bool { word(3) == "after" }

  private var bodyStart: Int { (tokens.firstIndex(of: .word(SQLName("begin"))) ?? -1) + 1 }

  /// The effects of the statements in the trigger's body, in order and without repetition.
  var effects: [Effect] {
    var found: [Effect] = []
    for index in tokens.indices.dropFirst(bodyStart) {
      guard let (kind, at) = statement(index), at < tokens.count,
        let name = tokens[at].asName
      else {
        continue
      }
      let effect = Effect(kind: kind, table: name, spelled: spellings[at])
      if !found.contains(effect) { found.append(effect) }
    }
    return found
  }

  /// The effect of a statement that begins at `index`, and the index of its table.
  private func statement(_ index: Int) -> (Effect.Kind, Int)? {
    switch (word(index), word(index + 1)) {
    case ("into", _): (.inserts, index + 1)
    case ("delete", "from"): (.deletes, index + 2)
    case ("update", "set"): nil
    case ("update", "or"): (.updates, index + 3)
    case ("update", _): (.updates, index + 1)
    default: nil
    }
  }

  /// Whether the trigger can make SQLite skip a change without an error: `RAISE(IGNORE)`.
  var canIgnore: Bool { raises { $0 == "ignore" } }

  /// Whether the trigger can fail a change.
  var canRefuse: Bool { raises { $0 != "ignore" } }

  private func raises(_ how: (String) -> Bool) -> Bool {
    tokens.indices.contains { index in
      word(index) == "raise" && index + 2 < tokens.count
        && tokens[index + 1] == .symbol(UInt8(ascii: "(")) && how(word(index + 2))
    }
  }

  /// The word at `index` in lower case; empty where the token is no word.
  private func word(_ index: Int) -> String {
    guard tokens.indices.contains(index), case .word = tokens[index] else { return "" }
    return spellings[index].lowercased()
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
