package import FieldpackCore
import FieldpackSQLite

extension GeoPackageWriter {
  /// Gives an attribute's column another name, everywhere where the file names it.
  ///
  /// - Throws: `.notFound` for an unknown layer or column, `.invalidArgument` where the layer has a
  ///   column of the new name.
  package func renameColumn(
    _ column: String, to name: String, in layer: LayerID
  ) throws(FieldpackError) {
    let table = try writable(layer)
    try whole { () throws(FieldpackError) in
      try LayerChange(file: file).rename(try table.column(column, file.store), to: name, in: table)
    }
  }

  /// Gives an attribute's column the definition `column`; the values stay, and the column comes last.
  ///
  /// - Throws: `.notFound` for an unknown layer or column, `.constraint` where a value does not fit,
  ///   `.unsupported` where an index or a key of the table needs the column.
  package func redefine(
    _ column: ColumnDefinition, in layer: LayerID
  ) throws(FieldpackError) {
    let table = try writable(layer)
    try whole { () throws(FieldpackError) in
      let old = try table.column(column.name, file.store)
      try LayerChange(file: file).redefine(old, as: column, in: table)
    }
  }
}

extension LayerTable {
  /// The column of an attribute as the table spells it.
  fileprivate func column(
    _ name: String, _ store: StoreID
  ) throws(FieldpackError) -> ColumnDefinition {
    guard let index = schema.columnIndex(name) else {
      throw schema.unknownColumn(name).adding(location: .init(store: store))
    }
    return schema.columns[index]
  }
}

extension LayerChange {
  /// The tables that name columns of user tables.
  private static let columnNaming = [
    "gpkg_data_columns", "gpkg_extensions", "gpkg_metadata_reference",
  ]

  func rename(
    _ column: ColumnDefinition, to name: String, in table: LayerTable
  ) throws(FieldpackError) {
    let taken =
      [table.schema.idColumn, table.schema.geometry?.name].compactMap { $0 }
      + table.schema.columns.map(\.name)
    let isSame = SQLName(column.name) == SQLName(name)
    guard isSame || !taken.contains(where: { SQLName($0) == SQLName(name) }) else {
      throw FieldpackError(
        .invalidArgument, "layer '\(table.layer.id)' has a column '\(name)' already",
        location: .init(store: file.store, layer: table.layer.id))
    }
    try renameInTable(column.name, to: name, of: table)
    for naming in Self.columnNaming where try file.hasTable(naming) {
      try file.execute(
        "UPDATE \(naming) SET column_name = ? "
          + "WHERE lower(table_name) = lower(?) AND lower(column_name) = lower(?)",
        [.text(name), .text(table.table), .text(column.name)])
    }
    if try file.hasTable("gpkg_data_columns") {
      // A name of GeoPackage's schema extension that only repeats the column's follows it.
      try file.execute(
        "UPDATE gpkg_data_columns SET name = ? "
          + "WHERE lower(table_name) = lower(?) AND column_name = ? AND name = ?",
        [.text(name), .text(table.table), .text(name), .text(column.name)])
    }
    file.forgetCatalogue()
  }

  private func renameInTable(
    _ old: String, to new: String, of table: LayerTable
  ) throws(FieldpackError) {
    try file.execute(
      "ALTER TABLE \(quoted(table.table)) RENAME COLUMN \(quoted(old)) TO \(quoted(new))")
  }

  /// SQLite cannot change a column's definition, so that a new column takes the old one's place.
  func redefine(
    _ old: ColumnDefinition, as column: ColumnDefinition, in table: LayerTable
  ) throws(FieldpackError) {
    var replacement = column
    replacement.name = "fieldpack_new_\(old.name)"
    try file.execute(
      "ALTER TABLE \(quoted(table.table)) ADD COLUMN \(LayerCreation.columnSQL(replacement))")
    try file.execute(
      "UPDATE \(quoted(table.table)) SET \(quoted(replacement.name)) = \(quoted(old.name))")
    try file.execute("ALTER TABLE \(quoted(table.table)) DROP COLUMN \(quoted(old.name))")
    try renameInTable(replacement.name, to: old.name, of: table)
    file.forgetCatalogue()
  }
}
