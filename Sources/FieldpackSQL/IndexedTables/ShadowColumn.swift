import FieldpackSQLite

/// A column of the table behind an ``IndexedLayerTable``.
struct ShadowColumn {
  let name: String
  let type: String
  let collation: String
  let affinity: TypeAffinity
  /// Whether the column comes first in an index that holds all rows in the column's collation.
  let isIndexed: Bool

  /// The column in the declaration of the virtual table.
  var sql: String {
    // SQLite hides a column of a virtual table that has the word HIDDEN in its type.
    let type = type.uppercased().contains("HIDDEN") ? "" : type
    return "\(quoted(name)) \(type) COLLATE \(quoted(collation))"
  }

  /// The columns in the order of `SELECT *`.
  static func all(
    of table: String, in schema: String, on connection: Connection
  ) throws(SQLiteError) -> [ShadowColumn] {
    let indexed = try indexedNames(table, schema, connection)
    var columns: [ShadowColumn] = []
    let statement = try connection.prepare(
      "SELECT name FROM pragma_table_xinfo(?, ?) WHERE hidden <> 1 ORDER BY cid")
    try statement.bind([.text(table), .text(schema)])
    while try statement.step() {
      let name = statement.string(0) ?? ""
      let facts = try connection.facts(ofColumn: name, table: table, in: schema)
      columns.append(
        ShadowColumn(
          name: name, type: facts.type, collation: facts.collation,
          affinity: facts.affinity,
          isIndexed: indexed[SQLName(name)] == SQLName(facts.collation)))
    }
    return columns
  }

  /// The first column of each index, with its collation.
  private static func indexedNames(
    _ table: String, _ schema: String, _ connection: Connection
  ) throws(SQLiteError) -> [SQLName: SQLName] {
    let statement = try connection.prepare(
      "SELECT i.name, i.coll FROM pragma_index_list(?1, ?2) AS l "
        + "JOIN pragma_index_xinfo(l.name, ?2) AS i "
        + "WHERE i.seqno = 0 AND i.name IS NOT NULL AND NOT l.partial")
    try statement.bind([.text(table), .text(schema)])
    var names: [SQLName: SQLName] = [:]
    while try statement.step() {
      names[SQLName(statement.string(0) ?? "")] = SQLName(statement.string(1) ?? "BINARY")
    }
    return names
  }
}
