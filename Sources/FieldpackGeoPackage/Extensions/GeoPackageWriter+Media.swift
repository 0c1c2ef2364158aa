import FieldpackCore
import FieldpackSQLite

extension GeoPackageTransaction {
  /// Stores a row of a layer of media, together with its link if it has one.
  func addMedia(
    _ content: RawSpan, _ contentType: String, _ attributes: Attributes, to layer: LayerID,
    linkedTo base: FeatureID, by relation: Relation
  ) throws(FieldpackError) -> FeatureID {
    try file.connection.savepoint { () throws(FieldpackError) in
      let id = try addMedia(content, contentType, attributes, to: layer)
      try RelationTables(file: file).link(base, id, relation, [:])
      return id
    }
  }

  /// Stores a row of a layer of media.
  func addMedia(
    _ content: RawSpan, _ contentType: String, _ attributes: Attributes, to layer: LayerID
  ) throws(FieldpackError) -> FeatureID {
    var known = attributes
    known[MediaColumns.data] = nil
    known[MediaColumns.contentType] = .text(contentType)
    let table = try writable(layer)
    guard let index = table.schema.columnIndex(MediaColumns.data) else {
      throw FieldpackError(
        .invalidArgument,
        "layer '\(layer)' has no column 'data' and so is no layer of media. Try: createMediaLayer",
        location: .init(store: file.store, layer: layer))
    }
    let values = try FeatureEncoder(file: file, table: table).values(known)
    let names = [quoted(table.schema.columns[index].name)] + values.map(\.0)
    let marks = names.map { _ in "?" }.joined(separator: ", ")
    let sql =
      "INSERT INTO \(quoted(table.table)) (\(names.joined(separator: ", "))) VALUES (\(marks))"
    touch(table)
    let (changes, id) = try file.sql(layer: layer) { () throws(SQLiteError) in
      let statement = try file.connection.prepare(sql)
      for (index, value) in values.enumerated() { try statement.bind(value.1, at: index + 2) }
      try content.withUnsafeBytes { (bytes) throws(SQLiteError) in
        try statement.bindUnowned(bytes, at: 1)
        // The cached statement must not point to the caller's bytes.
        defer { statement.clearBindings() }
        try statement.run()
      }
      return (file.connection.changes, file.connection.lastInsertRowID)
    }
    guard changes == 1 else { throw file.ignored(nil, in: layer, table: table.table) }
    return .integer(id)
  }
}

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

extension GeoPackageReading {
  /// Lends the bytes of a row of a layer of media.
  func withMedia<R>(
    _ id: FeatureID, in layer: LayerID, _ body: (RawSpan, String) throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R? {
    let catalogue = try file.catalogue()
    guard let table = catalogue.layer(layer) else { throw file.missingLayer(layer, in: catalogue) }
    guard let wanted = table.sqlValue(of: id) else { return nil }
    let statement = try file.sql(layer: layer, feature: id) { () throws(SQLiteError) in
      let statement = try file.connection.prepare(
        "SELECT \(quoted(MediaColumns.data)), \(quoted(MediaColumns.contentType)) "
          + "FROM \(quoted(table.table)) WHERE \(table.publicID) = ?")
      try statement.bind(wanted, at: 1)
      return try statement.step() ? statement : nil
    }
    guard let statement else { return nil }
    defer { statement.reset() }
    let contentType = statement.string(1) ?? ""
    return try statement.withBytes(0) { (bytes) throws(FieldpackError) in
      try body(bytes, contentType)
    }
  }
}
