import FieldpackSQLite

/// The triggers and views of a schema, and the names by which SQLite reports what its views do.
///
/// An authorizer gets the name of the innermost trigger, view or named CTE that asks. For a view
/// that is its own name or that of a CTE in its text. Every other name that is no trigger's belongs
/// to a CTE of the statement itself.
struct SchemaReach: Sendable {
  /// The name and the text of each trigger.
  private(set) var triggers: [(name: String, sql: String)] = []
  /// The names that may belong to a view.
  private(set) var views = Names()
  /// The first entry whose text SQLite would not have written so. Such a file may do anything.
  private(set) var unclear: String?

  struct Names: Sendable {
    private var known: Set<SQLName> = []
    /// All words of texts with CTEs; the CTEs' names are among them.
    private var words: Set<SQLName> = []

    var isEmpty: Bool { known.isEmpty }

    mutating func insert(_ name: String, _ text: Set<SQLName>) {
      known.insert(SQLName(name))
      if text.contains(Self.with) { words.formUnion(text) }
    }

    func hold(_ source: String) -> Bool {
      known.contains(SQLName(source)) || !words.isEmpty && source.sqlWords.isSubset(of: words)
    }

    private static let with = SQLName("with")
  }

  /// - Parameter rows: the name and the text of every schema entry except tables and indexes.
  init(_ rows: [(name: String, sql: String)]) {
    for (name, sql) in rows {
      switch Self.kind(of: sql, called: name) {
      case "trigger": triggers.append((name, sql))
      case "view": views.insert(name, sql.sqlWords)
      case "table", "index", "virtual", "unique": break
      default: unclear = unclear ?? name
      }
    }
  }

  /// The second word of a CREATE text; `nil` where the text does not create an entry of its row's
  /// name. SQLite goes by the name in the text.
  private static func kind(of sql: String, called name: String) -> String? {
    let start = TriggerTokens(String(sql.prefix(name.count * 2 + 100)))
    guard start.tokens.count > 2, start.tokens[0] == .word(SQLName("create")),
      case .word(let kind) = start.tokens[1]
    else { return nil }
    guard kind == SQLName("trigger") || kind == SQLName("view") else { return kind.lowercased }
    return start.tokens[2].asName == SQLName(name) ? kind.lowercased : nil
  }
}

extension String {
  /// The words of a text or of a name, without what is between them. All words of a name that
  /// occurs in a text, quoted or not, are words of the text.
  fileprivate var sqlWords: Set<SQLName> {
    Set(utf8.split { !$0.isInSQLWord }.map { SQLName(String(Substring($0))) })
  }
}

extension UInt8 {
  fileprivate var isInSQLWord: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
      true
    default: false
    }
  }
}
