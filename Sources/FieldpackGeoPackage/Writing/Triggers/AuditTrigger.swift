import FieldpackSQLite

/// A trigger that copies each row of `t` that is inserted, updated or deleted to `t_audit`.
/// SpatialConnect from 0.10 on and GeoGig keep their change logs with such triggers.
///
/// `CREATE TRIGGER t_audit_insert AFTER INSERT ON t BEGIN INSERT INTO t_audit (a, b, audit_op)
/// VALUES (NEW.a, NEW.b, 1); END`. Columns may be left out. `audit_op` is 1 for an inserted row, 2
/// for an updated one and 3 for a deleted one, with the values of `OLD`. `sent` and `received` are
/// NULL, and `synced` is 0.
struct AuditTrigger {
  private static let events: [(event: String, code: String, row: String)] = [
    ("insert", "1", "new"), ("update", "2", "new"), ("delete", "3", "old"),
  ]

  /// The names that the triggers of a table have.
  static func names(on table: String) -> [String] {
    events.map { "\(table)_audit_\($0.event)" }
  }

  private let event: (event: String, code: String, row: String)
  /// The columns that are written, and whether each is a copy of the table's.
  private(set) var columns: [(name: SQLName, isCopy: Bool)] = []

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
    event = kind
    for (column, value) in zip(columns, values) {
      guard let name = Self.column(column) else { return nil }
      let isCopy = Self.copies(value, of: name, from: kind.row)
      guard isCopy || (Self.word(value).map { $0 == Self.mark(name, kind.code) } ?? false) else {
        return nil
      }
      self.columns.append((name, isCopy))
    }
  }

  /// The text of the same trigger for a table and for columns of other names.
  ///
  /// - Parameter renamed: the new name of a column; `nil` leaves the column out.
  func sql(on table: String, _ renamed: (SQLName) -> SQLName?) -> String {
    let columns = columns.compactMap { column in
      column.isCopy ? renamed(column.name).map { ($0, true) } : column
    }
    let names = columns.map { quoted($0.0.lowercased) }.sqlList
    let values = columns.map { name, isCopy in
      isCopy
        ? "\(event.row.uppercased()).\(quoted(name.lowercased))"
        : (Self.mark(name, event.code)?.lowercased ?? "").uppercased()
    }.sqlList
    return "CREATE TRIGGER \(quoted("\(table)_audit_\(event.event)")) AFTER "
      + "\(event.event.uppercased()) ON \(quoted(table)) BEGIN "
      + "INSERT INTO \(quoted("\(table)_audit")) (\(names)) VALUES (\(values)); END"
  }

  /// The same trigger with one more column, where it copies rows and not keys alone.
  func copying(_ column: SQLName) -> AuditTrigger {
    guard columns.lazy.filter(\.isCopy).count > 1 || event.row == "new" else { return self }
    var copy = self
    copy.columns.append((column, true))
    return copy
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

  private static func copies(_ value: Tokens, of column: SQLName, from row: String) -> Bool {
    let parts = Array(value)
    guard parts.count == 3, parts[1] == .symbol(UInt8(ascii: ".")) else { return false }
    return parts[0] == .word(SQLName(row)) && parts[2].asName == column
  }

  private static func word(_ value: Tokens) -> SQLName? {
    guard value.count == 1, case .word(let word)? = value.first else { return nil }
    return word
  }

  /// What is written to a column that is not copied; `nil` where it is none of these.
  private static func mark(_ column: SQLName, _ code: String) -> SQLName? {
    switch column {
    case SQLName("audit_op"): SQLName(code)
    case SQLName("sent"), SQLName("received"): SQLName("null")
    case SQLName("synced"): SQLName("0")
    default: nil
    }
  }
}
