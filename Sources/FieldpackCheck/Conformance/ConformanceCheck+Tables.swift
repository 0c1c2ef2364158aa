import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

extension ConformanceCheck {
  /// Compares a table with its declaration and reports differences; `false` where a column is
  /// missing, so that its values cannot be read.
  ///
  /// - Parameters:
  ///   - anyDefault: a column that may have any default.
  ///   - name: the column's name in this file.
  @discardableResult
  func examine<Table: SystemTable>(
    _: Table.Type, _ requirement: Requirement, in table: String = Table.table,
    anyDefault: Table? = nil, name: (Table) -> String = { $0.sql }
  ) throws(FieldpackError) -> Bool {
    let present = try columns(of: table)
    let declared = try file.sql { () throws(SQLiteError) in try declaredColumns(Table.self) }
    var isComplete = true
    for (column, wanted) in zip(Table.columns, declared) {
      let name = name(column)
      guard let found = present.first(where: { SQLName($0.name) == SQLName(name) }) else {
        isComplete = false
        try report(.error, requirement, table: table, column: name, "the column is missing")
        continue
      }
      for difference in found.differences(from: wanted, anyDefault: column == anyDefault) {
        try report(.error, requirement, table: table, column: name, difference)
      }
    }
    return isComplete
  }

  /// The columns that the declaration creates, as SQLite reports them.
  private func declaredColumns<Table: SystemTable>(
    _: Table.Type
  ) throws(SQLiteError) -> [TableColumn] {
    let connection = if let declarations { declarations } else { try Connection(inMemory: .own) }
    declarations = connection
    try connection.execute(Table.creation())
    let info = try connection.prepare("PRAGMA table_xinfo(\(Table.table))", caching: false)
    var columns: [TableColumn] = []
    while try info.step() { columns.append(TableColumn((0..<7).map { info.value($0) })) }
    // Several tables of a file may have one declaration.
    try connection.execute("DROP TABLE \(Table.table)")
    return columns
  }

  /// Gives the rows of a table one by one.
  ///
  /// - Parameter also: expressions to select after the columns.
  func each<Table: SystemTable>(
    of columns: [Table], also expressions: [String] = [], _ rest: String = "",
    name: (Table) -> String = { $0.sql },
    _ body: (SystemRow<Table>) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let list = (columns.map(name) + expressions).joined(separator: ", ")
    try each("SELECT \(list) FROM \(Table.table)\(rest)") { (row) throws(FieldpackError) in
      try body(SystemRow(columns, row[...]))
    }
  }

  func hasColumns(_ names: [String], in table: String) throws(FieldpackError) -> Bool {
    guard has(table) else { return false }
    let present = Set(try columns(of: table).map { SQLName($0.name) })
    return names.allSatisfy { present.contains(SQLName($0)) }
  }

  func hasColumns<Table: SystemTable>(_ columns: [Table]) throws(FieldpackError) -> Bool {
    try hasColumns(columns.map(\.sql), in: Table.table)
  }
}

extension ConformanceCheck.TableColumn {
  /// - Parameter row: a row of `PRAGMA table_xinfo`.
  init(_ row: [SQLiteValue]) {
    name = row[1].textValue ?? ""
    type = row[2].textValue ?? ""
    isNotNull = row[3].integerValue == 1
    defaultSQL = row[4].textValue
    keyPosition = Int(clamping: row[5].integerValue ?? 0)
    isGenerated = (row[6].integerValue ?? 0) > 1
  }

  fileprivate func differences(from wanted: Self, anyDefault: Bool) -> [String] {
    var differences: [String] = []
    if type.uppercased() != wanted.type {
      differences.append("its type is \(type.isEmpty ? "none" : type), not \(wanted.type)")
    }
    if keyPosition != wanted.keyPosition {
      differences.append(
        wanted.keyPosition == 0 ? "it is part of the primary key" : "it is not the primary key")
    }
    // An INTEGER PRIMARY KEY is never NULL, whatever is declared.
    let isRowID = keyPosition > 0 && type.uppercased() == "INTEGER"
    if !isRowID, wanted.keyPosition == 0 || wanted.isNotNull, isNotNull != wanted.isNotNull {
      differences.append(wanted.isNotNull ? "it is not NOT NULL" : "it is NOT NULL")
    }
    if !anyDefault, Self.normalized(defaultSQL) != Self.normalized(wanted.defaultSQL) {
      differences.append(
        "its default is \(defaultSQL ?? "none"), not \(wanted.defaultSQL ?? "none")")
    }
    return differences
  }

  /// A default's SQL in a form for comparing: in lower case, without blanks and parentheses, and
  /// with one spelling of the current time.
  private static func normalized(_ sql: String?) -> String? {
    guard let sql else { return nil }
    var text = sql.lowercased().filter { !$0.isWhitespace }
    while text.hasPrefix("("), text.hasSuffix(")") { text = String(text.dropFirst().dropLast()) }
    if text == "null" { return nil }
    if text == "strftime('%y-%m-%dt%h:%m:%fz',current_timestamp)" {
      return RequiredTables.now.lowercased()
    }
    return text
  }
}
