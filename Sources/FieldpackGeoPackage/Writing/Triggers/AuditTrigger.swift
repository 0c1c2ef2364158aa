import FieldpackSQLite

/// A trigger that copies each row of `t` that is inserted, updated or deleted to `t_audit`.
/// SpatialConnect from 0.10 on and GeoGig keep their change logs with such triggers.
///
/// `CREATE TRIGGER t_audit_insert AFTER INSERT ON t BEGIN INSERT INTO t_audit (a, b, audit_op)
/// VALUES (NEW.a, NEW.b, 1); END`. Columns may be left out. `audit_op` is 1 for an inserted row, 2
/// for an updated one and 3 for a deleted one, with the values of `OLD`. `sent` and `received` are
/// NULL, and `synced` is 0.
struct AuditTrigger {
  private static let events: [(event: String, code: String, rows: [String])] = [
    ("insert", "1", ["new"]), ("update", "2", ["new"]), ("delete", "3", ["old"]),
  ]

  /// `nil` for a trigger that does anything else.
  init?(_ text: TriggerTokens, called name: String, on table: String) {
    guard
      let kind = Self.events.first(where: { SQLName("\(table)_audit_\($0.event)") == SQLName(name) }
      )
    else { return nil }
    var rest = text.tokens.dropFirst(3)
    func take(_ words: String...) -> Bool {
      words.allSatisfy { rest.popFirst() == .word(SQLName($0)) }
    }
    func takeSemicolon() -> Bool { rest.popFirst() == .symbol(UInt8(ascii: ";")) }
    guard take("after", kind.event, "on"), rest.popFirst()?.asName == SQLName(table),
      take("begin", "insert", "into"), rest.popFirst()?.asName == SQLName("\(table)_audit"),
      let columns = Self.list(&rest), take("values"), let values = Self.list(&rest),
      takeSemicolon(), take("end"), rest.isEmpty, columns.count == values.count
    else { return nil }
    for (column, value) in zip(columns, values) {
      guard let name = Self.column(column),
        Self.copies(value, of: name, from: kind.rows) || Self.marks(value, name, kind.code)
      else { return nil }
    }
  }

  private typealias Tokens = ArraySlice<TriggerTokens.Token>

  /// The elements of a list in parentheses, separated by commas. Elements hold no parentheses.
  private static func list(_ rest: inout Tokens) -> [Tokens]? {
    guard rest.popFirst() == .symbol(UInt8(ascii: "(")),
      let end = rest.firstIndex(of: .symbol(UInt8(ascii: ")")))
    else { return nil }
    let inner = rest[..<end]
    rest = rest[rest.index(after: end)...]
    return inner.split(
      separator: .symbol(UInt8(ascii: ",")), omittingEmptySubsequences: false)
  }

  /// The column that an element of INSERT's list names. SQLite takes a text there as a name.
  private static func column(_ tokens: Tokens) -> SQLName? {
    guard tokens.count == 1, let token = tokens.first else { return nil }
    if case .text(let text) = token { return SQLName(text) }
    return token.asName
  }

  private static func copies(_ value: Tokens, of column: SQLName, from rows: [String]) -> Bool {
    let parts = Array(value)
    guard parts.count == 3, parts[1] == .symbol(UInt8(ascii: ".")) else { return false }
    return rows.contains { parts[0] == .word(SQLName($0)) } && parts[2].asName == column
  }

  private static func marks(_ value: Tokens, _ column: SQLName, _ code: String) -> Bool {
    guard value.count == 1, case .word(let word)? = value.first else { return false }
    switch column {
    case SQLName("audit_op"): return word == SQLName(code)
    case SQLName("sent"), SQLName("received"): return word == SQLName("null")
    case SQLName("synced"): return word == SQLName("0")
    default: return false
    }
  }
}
