import FieldpackSQLite

/// The names under which SQLite tells of what a file's own texts do.
///
/// An authorizer hears the innermost trigger, view or named CTE that asks. What a trigger does bears
/// its name, that of a view that it reads, or that of a CTE in the text of either. Every other name
/// is that of a CTE in the statement itself.
struct SchemaReach: Sendable {
  /// What may come from a trigger, directly or by way of views.
  private(set) var triggers = Names()
  /// What may come from a view.
  private(set) var views = Names()
  /// Where a text is not what SQLite writes, or there are too many, nothing is told apart.
  private(set) var isUnclear = false

  struct Names: Sendable {
    private var known: Set<SQLName> = []
    /// The words of texts with CTEs, whose names are among them.
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

  /// - Parameter rows: the name and the text of all but tables and indexes.
  init(_ rows: [(name: String, sql: String)]) {
    var reached: Set<SQLName> = []
    var unread: [(name: String, nameWords: Set<SQLName>, words: Set<SQLName>)] = []
    for (name, sql) in rows {
      let words = sql.sqlWords
      if Self.makes("TRIGGER", name, sql) {
        triggers.insert(name, words)
        reached.formUnion(words)
      } else if Self.makes("VIEW", name, sql) {
        views.insert(name, words)
        unread.append((name, name.sqlWords, words))
      } else {
        isUnclear = true
      }
    }
    guard !reached.isEmpty else { return }
    // Each view is looked for again after every other one.
    if unread.count > 1_000 { isUnclear = true }
    while !isUnclear,
      let place = unread.firstIndex(where: { $0.nameWords.isSubset(of: reached) })
    {
      let view = unread.remove(at: place)
      triggers.insert(view.name, view.words)
      reached.formUnion(view.words)
    }
  }

  /// Whether a text of the schema, which is what SQLite goes by, makes what its row is called.
  private static func makes(_ kind: String, _ name: String, _ sql: String) -> Bool {
    let start = "CREATE \(kind) "
    guard sql.utf8.starts(with: start.utf8) else { return false }
    let rest = sql.utf8.dropFirst(start.utf8.count)
    func begins(_ text: String, notBefore isMore: (UInt8) -> Bool) -> Bool {
      guard rest.starts(with: text.utf8) else { return false }
      return rest.dropFirst(text.utf8.count).first.map { !isMore($0) } ?? false
    }
    if begins(quoted(name), notBefore: { $0 == UInt8(ascii: "\"") }) { return true }
    for (open, close) in [("[", "]"), ("`", "`"), ("'", "'")] {
      let mark = UInt8(ascii: close.unicodeScalars.first ?? " ")
      if !name.utf8.contains(mark), begins(open + name + close, notBefore: { $0 == mark }) {
        return true
      }
    }
    return !name.isEmpty && name.utf8.allSatisfy(\.isInSQLWord)
      && begins(name, notBefore: { $0.isInSQLWord || $0 == UInt8(ascii: "$") })
  }
}

extension String {
  /// The words of a text or of a name, whatever stands between them. A name that occurs in a text,
  /// quoted or not, has no word that the text has not.
  fileprivate var sqlWords: Set<SQLName> {
    Set(utf8.split { !$0.isInSQLWord }.map { SQLName(Substring($0)) })
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
