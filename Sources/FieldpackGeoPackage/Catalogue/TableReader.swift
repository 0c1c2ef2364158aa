package import FieldpackCore
import FieldpackSQLite

/// Reads the columns of one table or view.
package struct TableReader {
  package let file: GeoPackageSession
  package let table: String
  package let isView: Bool

  package init(file: GeoPackageSession, table: String, isView: Bool) {
    self.file = file
    self.table = table
    self.isView = isView
  }

  package struct Column {
    package var definition: ColumnDefinition
    /// The declared type, word for word.
    package var declared: String

    fileprivate var key: (type: String, isKey: Bool) { (declared, definition.isPrimaryKey) }
  }

  package struct ID {
    /// The column's name; `nil` for a rowid without a column.
    var name: String?
    var sql: String?
  }

  /// - Parameter indexes: the table's indexes, as ``indexes()`` gives them.
  package func columns(_ indexes: [TableIndex]) throws(FieldpackError) -> [Column] {
    // A column is unique where it is alone in a unique index of all rows.
    let unique = Set(
      indexes.filter { $0.isUnique && !$0.isPartial && $0.keys.count == 1 }
        .compactMap { $0.keys[0].column })
    let rows = try file.rows("PRAGMA table_xinfo(\(quoted(table)))")
    return rows.compactMap { row in
      // Column `hidden` of `table_xinfo`: 1 is a hidden column of a virtual table, 2 and 3 are
      // generated columns (https://www.sqlite.org/pragma.html#pragma_table_xinfo).
      guard let name = row[1].textValue, let hidden = row[6].integerValue, hidden != 1 else {
        return nil
      }
      var definition = ColumnDefinition(
        name, ColumnType(sql: row[2].textValue ?? ""), isNullable: row[3].integerValue == 0,
        isUnique: unique.contains(SQLName(name)), defaultSQL: row[4].textValue,
        isGenerated: hidden == 2 || hidden == 3)
      definition.isPrimaryKey = (row[5].integerValue ?? 0) > 0
      return Column(definition: definition, declared: row[2].textValue ?? "")
    }
  }

  /// The indexes of the table, including those of its constraints.
  func indexes() throws(FieldpackError) -> [TableIndex] {
    var indexes: [TableIndex] = []
    for index in try file.rows("PRAGMA index_list(\(quoted(table)))") {
      guard let name = index[1].textValue else { continue }
      let columns = try file.rows("PRAGMA index_xinfo(\(quoted(name)))")
      indexes.append(
        TableIndex(
          name: name,
          keys: columns.filter { $0[5] == .integer(1) }.map { key in
            .init(
              column: key[2].textValue.map { SQLName($0) },
              collation: key[4].textValue?.uppercased() ?? "BINARY")
          }, isUnique: index[2] == .integer(1), isPartial: index[4] == .integer(1)))
    }
    return indexes
  }

  /// Removes the column of the feature id from `columns`.
  ///
  /// A table's id is its INTEGER PRIMARY KEY, else its rowid. A view's id is a column with a usual
  /// name for keys, else its first column if that is an INTEGER. Otherwise the view is keyless.
  package func takeID(from columns: inout [Column]) throws(FieldpackError) -> ID? {
    let index = isView ? Self.viewKey(columns) : Self.rowIDIndex(columns.map(\.key))
    if let index {
      let name = columns.remove(at: index).definition.name
      return ID(name: name, sql: quoted(name))
    }
    return isView
      ? nil : try rowID(besides: columns.map(\.definition.name)).map { ID(name: nil, sql: $0) }
  }

  /// Index of the column that is the rowid: the only column of the primary key, declared exactly
  /// INTEGER (https://www.sqlite.org/lang_createtable.html#rowid).
  package static func rowIDIndex(_ columns: [(type: String, isKey: Bool)]) -> Int? {
    let keys = columns.indices.filter { columns[$0].isKey }
    guard keys.count == 1, SQLName(columns[keys[0]].type) == SQLName("integer") else { return nil }
    return keys[0]
  }

  private static func viewKey(_ columns: [Column]) -> Int? {
    func isInteger(_ index: Int) -> Bool {
      switch columns[index].definition.type {
      case .integer, .mediumInt, .smallInt, .tinyInt: true
      default: false
      }
    }
    for usual in ["ogc_fid", "fid", "id", "gid", "objectid"] {
      let found = columns.indices.first {
        SQLName(columns[$0].definition.name) == SQLName(usual) && isInteger($0)
      }
      if let found { return found }
    }
    return columns.isEmpty || !isInteger(0) ? nil : 0
  }

  /// A name of the rowid that no column has; `nil` in a table without rowids.
  package func rowID(besides names: [String]) throws(FieldpackError) -> String? {
    let taken = Set(names.map { SQLName($0) })
    guard let name = ["rowid", "_rowid_", "oid"].first(where: { !taken.contains(SQLName($0)) })
    else { return nil }
    do throws(FieldpackError) {
      _ = try file.rows("SELECT \(name) FROM \(quoted(table)) LIMIT 0")
      return name
    } catch  where error.code == .invalidData {
      return nil
    }
  }
}
