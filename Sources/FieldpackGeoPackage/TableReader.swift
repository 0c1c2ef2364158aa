import FieldpackCore
import FieldpackSQLite

/// Reads the columns of one table or view.
struct TableReader {
  let file: GeoPackageFile
  let table: String
  let isView: Bool

  struct Column {
    var definition: ColumnDefinition
    var keyPlace: Int64
  }

  struct ID {
    /// The column's name; `nil` for a row id without a column.
    var name: String?
    var sql: String?
  }

  func columns() throws(FieldpackError) -> [ColumnDefinition] {
    let unique = isView ? [] : try uniqueColumns()
    let rows = try file.rows("PRAGMA table_xinfo(\(quoted(table)))")
    return rows.compactMap { row in
      // hidden: 1 a hidden column of a virtual table, 2 and 3 generated columns.
      guard let name = row[1].textValue, let hidden = row[6].integerValue, hidden != 1 else {
        return nil
      }
      var definition = ColumnDefinition(
        name, ColumnType(sql: row[2].textValue ?? ""), isNullable: row[3].integerValue == 0,
        isUnique: unique.contains(name), defaultSQL: row[4].textValue,
        isGenerated: hidden == 2 || hidden == 3)
      definition.isPrimaryKey = (row[5].integerValue ?? 0) > 0
      return definition
    }
  }

  private func uniqueColumns() throws(FieldpackError) -> Set<String> {
    var found: Set<String> = []
    for index in try file.rows("PRAGMA index_list(\(quoted(table)))") {
      guard let name = index[1].textValue, index[2].integerValue == 1, index[4].integerValue == 0
      else { continue }
      let columns = try file.rows("PRAGMA index_info(\(quoted(name)))")
      if columns.count == 1, let column = columns[0][2].textValue { found.insert(column) }
    }
    return found
  }

  /// Takes the column of the feature id out of `columns`.
  ///
  /// A table has its INTEGER PRIMARY KEY, else its row id. A view has what looks most like a key:
  /// a column of a usual name, else an INTEGER as its first column; without one it is keyless.
  func takeID(from columns: inout [ColumnDefinition]) -> ID? {
    if !isView {
      let keys = columns.indices.filter { columns[$0].isPrimaryKey }
      guard keys.count == 1, columns[keys[0]].type == .integer else {
        return ID(name: nil, sql: "rowid")
      }
      let name = columns.remove(at: keys[0]).name
      return ID(name: name, sql: quoted(name))
    }
    let usual = ["ogc_fid", "fid", "id", "gid", "objectid"]
    let candidates = columns
    let named = usual.lazy.compactMap { name in
      candidates.firstIndex { $0.name.lowercased() == name && Self.isInteger($0.type) }
    }.first
    let first = columns.first.map { Self.isInteger($0.type) } == true ? 0 : nil
    guard let place = named ?? first else { return nil }
    let name = columns.remove(at: place).name
    return ID(name: name, sql: quoted(name))
  }

  private static func isInteger(_ type: ColumnType) -> Bool {
    switch type {
    case .integer, .mediumInt, .smallInt, .tinyInt: true
    default: false
    }
  }
}
