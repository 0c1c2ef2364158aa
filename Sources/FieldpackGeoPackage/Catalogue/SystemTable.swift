import FieldpackCore
package import FieldpackSQLite

/// A table of the GeoPackage standard or of an extension. Its cases are the columns; a case's raw
/// value is the column's declaration in SQL.
///
/// One declaration serves writers, which create the table by it, readers, which select its columns,
/// and the check, which compares it with a file's table.
package protocol SystemTable: CaseIterable, RawRepresentable, Equatable, Sendable
where RawValue == String, AllCases == [Self] {
  static var table: String { get }
  /// The columns that the table is created with; all, unless an extension adds some.
  static var columns: [Self] { get }
  /// The table's constraints in SQL.
  static var constraints: [String] { get }
}

extension SystemTable {
  package static var columns: [Self] { allCases }
  package static var constraints: [String] { [] }

  /// The column's name.
  package var sql: String { String(decoding: rawValue.utf8.prefix { $0 != 0x20 }, as: UTF8.self) }

  package static func creation(_ columns: [Self] = columns) -> String {
    let lines = columns.map(\.rawValue) + constraints
    return "CREATE TABLE \(table) (\n  \(lines.joined(separator: ",\n  "))\n)"
  }

  /// The names of columns with commas between them.
  static func list(_ columns: [Self], prefix: String = "") -> String {
    columns.map { prefix + $0.sql }.sqlList
  }

  package static func selection(_ columns: [Self]) -> String {
    "SELECT \(list(columns)) FROM \(table)"
  }

  /// A statement that inserts a row, with a parameter for each column. It names the columns, because
  /// their order differs in files of other programs.
  static func insertion(_ columns: [Self] = columns, replacing: Bool = false) -> String {
    let marks = columns.map { _ in "?" }.sqlList
    return
      "INSERT \(replacing ? "OR REPLACE " : "")INTO \(table) (\(list(columns))) VALUES (\(marks))"
  }
}

/// Values of one row of a table.
package struct SystemRow<Table: SystemTable> {
  private let columns: [Table]
  private let values: ArraySlice<SQLiteValue>

  /// - Parameter values: the values of the columns, and perhaps more, which ``also(_:)`` gives.
  package init(_ columns: [Table], _ values: ArraySlice<SQLiteValue>) {
    self.columns = columns
    self.values = values
  }

  /// - Precondition: the column was selected.
  package subscript(column: Table) -> SQLiteValue {
    guard let index = columns.firstIndex(of: column) else {
      preconditionFailure("\(Table.table).\(column.sql) was not selected")
    }
    return values[values.startIndex + index]
  }

  package subscript(columns: [Table]) -> [SQLiteValue] { columns.map { self[$0] } }

  /// The value of an expression that was selected after the columns.
  package func also(_ index: Int) -> SQLiteValue {
    values[values.startIndex + columns.count + index]
  }
}

extension GeoPackageSession {
  /// The rows of a table that exists.
  func rows<Table: SystemTable>(
    of columns: [Table], _ rest: String = ""
  ) throws(FieldpackError) -> [SystemRow<Table>] {
    try rows(Table.selection(columns) + rest).map { SystemRow(columns, $0[...]) }
  }

  /// Creates the table, unless the file has it.
  func ensure<Table: SystemTable>(_: Table.Type) throws(FieldpackError) {
    if try !hasTable(Table.table) { try execute(Table.creation()) }
  }
}
