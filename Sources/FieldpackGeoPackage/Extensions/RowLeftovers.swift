import FieldpackCore
import FieldpackSQLite

/// Removes what refers to a deleted row: links of relations, and metadata about the row.
struct RowLeftovers {
  let file: GeoPackageSession

  /// Deletes a row of `table` by `delete`, together with everything that refers to the row.
  ///
  /// - Parameter id: the row's id in SQL.
  func deleting(
    _ number: Int64, of table: String, id: String, _ delete: () throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    guard try file.catalogue().hasRowReferences else { return try delete() }
    let unlinking = try RelationTables(file: file).unlinking(number, of: table, id: id)
    let metadata = MetadataTables(file: file)
    let hasMetadata = try metadata.exists ? metadata.isAbout(row: number, of: table) : false
    guard hasMetadata || !unlinking.isEmpty else { return try delete() }
    try file.connection.savepoint { () throws(FieldpackError) in
      for statement in unlinking { try file.execute(statement.text, statement.parameters) }
      if hasMetadata { try metadata.forget(row: number, of: table) }
      try delete()
    }
  }
}
