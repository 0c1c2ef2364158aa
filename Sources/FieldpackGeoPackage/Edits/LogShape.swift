import FieldpackCore
import FieldpackSQLite

/// The names and the triggers of the change log `t_audit` of a table `t`.
///
/// The log has all columns of the table and its own. An own column whose name the table has gets
/// `audit_` before it. Triggers of SQLite's own functions write the log, so that every program
/// that changes the table fires them.
struct LogShape: Hashable {
  /// The columns that a log has of its own.
  enum Own: String, CaseIterable {
    /// The number of the edit, which grows.
    case number = "audit_id"
    /// The id of the row, where the table has no column for it.
    case feature = "audit_fid"
    /// 0 for the row as it was before its first edit, 1 inserted, 2 updated, 3 deleted.
    case operation = "audit_op"
    case time = "audit_timestamp"
    case sent, received
    case edit = "edit_id"
    case author, device

    var type: String {
      switch self {
      case .number: "INTEGER PRIMARY KEY AUTOINCREMENT"
      case .feature, .operation: "INTEGER"
      case .time, .sent, .received: "DATETIME"
      case .edit, .author, .device: "TEXT"
      }
    }
  }

  let table: String
  /// The id of a row: the column of the primary key, or a name of the rowid that no column has.
  let id: String
  let hasIDColumn: Bool
  /// The columns that are copied, as the table spells and orders them.
  let columns: [String]
  /// The position of the id in ``columns``.
  let idColumn: Int?
  private let names: [Own: String]
  private let quotedNames: [Own: String]

  init(table: String, id: String, hasIDColumn: Bool, columns: [String]) {
    (self.table, self.id, self.hasIDColumn, self.columns) = (table, id, hasIDColumn, columns)
    let known = columns.map { SQLName($0) }
    idColumn = hasIDColumn ? known.firstIndex(of: SQLName(id)) : nil
    var names: [Own: String] = [:]
    for column in Own.allCases {
      var name = column.rawValue
      while known.contains(SQLName(name)) { name = "audit_\(name)" }
      names[column] = name
    }
    self.names = names
    quotedNames = names.mapValues { quoted($0) }
  }

  var log: String { "\(table)_audit" }

  /// The name of an own column, in quotes.
  func own(_ column: Own) -> String { quotedNames[column] ?? quoted(column.rawValue) }

  func name(of column: Own) -> String { names[column] ?? column.rawValue }

  /// The column of the log that holds the id of the row, in quotes.
  var feature: String { hasIDColumn ? quoted(id) : own(.feature) }

  /// The own columns in the order in which the table of the log has them.
  var ownColumns: [Own] { Own.allCases.filter { $0 != .feature || !hasIDColumn } }

  // MARK: Texts

  /// Now, in UTC to the millisecond.
  static let now = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')"

  /// A new UUID of version 7 (RFC 9562, 5.7 and 6.2): the time in milliseconds, bits of a row's number,
  /// and 48 random bits. An index of them grows at its end, also by one statement that changes many rows,
  /// for all of which SQLite has the same time.
  ///
  /// - Parameter row: an expression in SQL.
  static func newID(of row: String) -> String {
    let time = "CAST((julianday('now') - 2440587.5) * 86400000.0 AS INTEGER)"
    return "printf('%08x-%04x-7%03x-%04x-%012x', \(time) >> 16, \(time) & 65535, "
      + "(\(row) >> 18) & 4095, 32768 | ((\(row) >> 4) & 16383), random() & 281474976710655)"
  }

  /// The statement that makes the table of the log.
  ///
  /// - Parameter types: the declared types of ``columns``.
  func tableSQL(_ types: [String]) -> String {
    let copies = zip(columns, types).map { "\(quoted($0)) \($1)" }
    let own = ownColumns.map { "\(self.own($0)) \($0.type)" }
    return "CREATE TABLE \(quoted(log)) (\(([own[0]] + copies + own.dropFirst()).sqlList))"
  }

  /// The names of the indexes of a table's log.
  static func indexNames(on table: String) -> [String] {
    ["feature", "inserted", "edit", "pending"].map { "\(table)_audit_\($0)" }
  }

  /// The indexes of the log with their names: by feature, of insertions by feature, by edit, and of what
  /// is not sent.
  var indexes: [(name: String, sql: String)] {
    let keys = [
      "(\(feature))", "(\(feature)) WHERE \(own(.operation)) = 1", "(\(own(.edit)))",
      "(\(own(.number))) WHERE \(own(.sent)) IS NULL",
    ]
    return zip(Self.indexNames(on: table), keys).map { name, keys in
      (name, "CREATE INDEX IF NOT EXISTS \(quoted(name)) ON \(quoted(log)) \(keys)")
    }
  }

  /// The names that the triggers of a table's log have.
  static func triggerNames(on table: String) -> [String] {
    ["replace", "insert", "before", "update", "moved", "delete"].map { "\(table)_audit_\($0)" }
  }

  /// The triggers of the log with their names.
  ///
  /// Their conditions are in WHEN: an INSERT that selects from the log, into which it inserts, makes
  /// SQLite build a table for the result with each edit.
  var triggers: [(name: String, sql: String)] {
    let t = quoted(table)
    let id = quoted(id)
    func isUnknown(_ row: String) -> String {
      "NOT EXISTS (SELECT 1 FROM \(quoted(log)) WHERE \(feature) = \(row).\(id))"
    }
    func state(_ row: String?) -> String { (copies(id, row) + ["0", Self.now, Self.now]).sqlList }
    let before = insertion([.operation, .time, .sent])
    let last =
      "(SELECT \(own(.operation)) FROM \(quoted(log)) WHERE \(feature) = NEW.\(id) "
      + "ORDER BY \(own(.number)) DESC LIMIT 1)"
    let isMoved = "OLD.\(id) <> NEW.\(id)"
    let bodies = [
      // The row that an insertion replaces, as in INSERT OR REPLACE, is known before only.
      "BEFORE INSERT ON \(t) WHEN EXISTS (SELECT 1 FROM \(t) WHERE \(id) = NEW.\(id)) "
        + "AND \(isUnknown("NEW")) BEGIN \(before) SELECT \(state(nil)) FROM \(t) "
        + "WHERE \(id) = NEW.\(id); END",
      "AFTER INSERT ON \(t) BEGIN "
        + edit("NEW", "CASE WHEN \(last) IN (0, 1, 2) THEN 2 ELSE 1 END") + " END",
      "BEFORE UPDATE ON \(t) WHEN \(isUnknown("OLD")) BEGIN \(before) VALUES (\(state("OLD"))); END",
      "AFTER UPDATE ON \(t) BEGIN "
        + edit("NEW", "CASE WHEN \(isMoved) THEN 1 ELSE 2 END") + " END",
      "AFTER UPDATE ON \(t) WHEN \(isMoved) BEGIN \(edit("OLD", "3")) END",
      "AFTER DELETE ON \(t) BEGIN \(edit("OLD", "3")) END",
    ]
    return zip(Self.triggerNames(on: table), bodies).map { name, body in
      (name, "CREATE TRIGGER \(quoted(name)) \(body)")
    }
  }

  private func insertion(_ own: [Own]) -> String {
    let names =
      (hasIDColumn ? [] : [feature]) + columns.map { quoted($0) } + own.map { self.own($0) }
    return "INSERT INTO \(quoted(log)) (\(names.sqlList))"
  }

  /// The values of the table's columns; `row` is NEW, OLD, or `nil` for the row that is read.
  private func copies(_ id: String, _ row: String?) -> [String] {
    ((hasIDColumn ? [] : [id]) + columns.map { quoted($0) }).map { name in
      row.map { "\($0).\(name)" } ?? name
    }
  }

  /// The statement that logs all rows as deleted.
  var removalSQL: String {
    "\(insertion(Self.own)) SELECT \(values(quoted(table), "3")) FROM \(quoted(table))"
  }

  /// The own columns that an edit has from the beginning.
  private static let own: [Own] = [.operation, .time, .edit, .author, .device]

  private func values(_ row: String, _ operation: String) -> String {
    let editor = ["author", "device"].map { "(SELECT \($0) FROM \(LogTables.editor))" }
    let edit = [operation, Self.now, Self.newID(of: "\(row).\(quoted(id))")]
    return (copies(quoted(id), row) + edit + editor).sqlList
  }

  private func edit(_ row: String, _ operation: String) -> String {
    "\(insertion(Self.own)) VALUES (\(values(row, operation)));"
  }
}

extension LogShape {
  /// The shape that a trigger was written from; `nil` for a trigger of any other text.
  init?(_ text: TriggerTokens, called name: String, on table: String) {
    let names = Self.triggerNames(on: table)
    guard let index = names.firstIndex(where: { SQLName($0) == SQLName(name) }),
      // Triggers that keep a row as it was set three own columns; those that log an edit set five.
      let shape = Self(reading: text.tokens, on: table, own: [3, 5, 3, 5, 5, 5][index]),
      TriggerTokens(shape.triggers[index].sql).tokens == text.tokens
    else { return nil }
    self = shape
  }

  /// The shape that the columns of the first INSERT INTO, and the first comparison of an id, tell.
  private init?(reading tokens: [TriggerTokens.Token], on table: String, own: Int) {
    guard let into = tokens.firstIndex(of: .word(SQLName("into"))),
      let open = tokens[into...].firstIndex(of: .symbol(UInt8(ascii: "("))),
      let close = tokens[open...].firstIndex(of: .symbol(UInt8(ascii: ")"))),
      let id = Self.id(in: tokens)
    else { return nil }
    let names = tokens[tokens.index(after: open)..<close]
      .split(separator: .symbol(UInt8(ascii: ","))).compactMap { $0.first?.asName?.lowercased }
    guard names.count > own else { return nil }
    let copies = names.dropLast(own)
    let hasIDColumn = copies.contains(id)
    self.init(
      table: table, id: id, hasIDColumn: hasIDColumn,
      columns: Array(hasIDColumn ? copies : copies.dropFirst()))
  }

  /// The id of the row: what a text compares with, as in `= NEW.id`, else the first value of OLD.
  private static func id(in tokens: [TriggerTokens.Token]) -> String? {
    func name(from index: Int, _ row: String) -> String? {
      guard tokens.indices.contains(index + 2), tokens[index] == .word(SQLName(row)),
        tokens[index + 1] == .symbol(UInt8(ascii: "."))
      else { return nil }
      return tokens[index + 2].asName?.lowercased
    }
    let equal = TriggerTokens.Token.symbol(UInt8(ascii: "="))
    for index in tokens.indices where tokens[index] == equal {
      if let name = name(from: index + 1, "new") ?? name(from: index + 1, "old") { return name }
    }
    return tokens.indices.lazy.compactMap { name(from: $0, "old") }.first
  }
}
