import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// The metadata extension: annex F.8.
struct MetadataCheck {
  let check: ConformanceCheck
  private static let table = "gpkg_metadata"
  private static let references = "gpkg_metadata_reference"

  func run() throws(FieldpackError) {
    let tables = [Self.table, Self.references]
    try check.attempt(.core(140), "the metadata extension") { () throws(FieldpackError) in
      try check.requireTables(["gpkg_metadata"], tables: tables, .core(140))
      try check.requireScope(["gpkg_metadata"], .core(140))
      try check.requireRows(["gpkg_metadata"], tables: tables, .core(140))
    }
    guard check.has(Self.table) else { return }
    try check.attempt(.core(93), table: Self.table, "the table") { () throws(FieldpackError) in
      guard try TableDefinition.metadata(check.version).examine(Self.table, in: check) else {
        return
      }
      try examineScopes()
    }
    guard check.has(Self.references) else {
      if !check.isRegistered("gpkg_metadata") {
        try check.report(.error, .core(95), table: Self.references, "the table is missing")
      }
      return
    }
    try check.attempt(.core(95), table: Self.references, "the table") { () throws(FieldpackError) in
      guard try TableDefinition.metadataReference.examine(Self.references, in: check) else {
        return
      }
      try examineReferences()
    }
  }

  private static let scopes = Set(Metadata.Scope.all.map(\.rawValue))

  private func examineScopes() throws(FieldpackError) {
    try check.each("SELECT id, md_scope FROM gpkg_metadata") { (row) throws(FieldpackError) in
      guard !Self.scopes.contains(row[1].textValue ?? "") else { return }
      // Since 1.3 the list only gives examples.
      try check.report(
        check.version >= 10_300 ? .note : .error, .core(94), table: Self.table, column: "md_scope",
        row: row[0].integerValue, "'\(row[1].textValue ?? "")' is no scope of the standard's")
    }
  }

  private func examineReferences() throws(FieldpackError) {
    try check.each(
      "SELECT reference_scope, table_name, column_name, row_id_value, timestamp, "
        + "md_file_id IN (SELECT id FROM gpkg_metadata), "
        + "md_parent_id IS NULL OR (md_parent_id <> md_file_id "
        + "AND md_parent_id IN (SELECT id FROM gpkg_metadata)), md_file_id, md_parent_id, "
        + "gpkg_metadata_reference.rowid FROM gpkg_metadata_reference"
    ) { (row) throws(FieldpackError) in
      try check.noteRow()
      let id = row[9].integerValue
      let reference = Reference(row)
      try examineScope(reference, id)
      if !ContentsCheck.isMoment(row[4]) {
        try report(
          100, id, "timestamp '\(row[4].textValue ?? "")' is not like 2024-05-06T07:08:09.012Z",
          repair: check.table(Self.references)?.isView == true ? nil : .metadataTime)
      }
      if row[5].integerValue != 1 {
        try report(101, id, "md_file_id \(row[7].integerValue ?? 0) is not in gpkg_metadata")
      }
      if row[6].integerValue == 0 {
        try report(
          102, id, "md_parent_id \(row[8].integerValue ?? 0) is not another row of gpkg_metadata")
      }
    }
  }

  private struct Reference {
    var scope: String
    var table: String?
    var column: String?
    var rowID: Int64?

    init(_ row: [SQLiteValue]) {
      scope = row[0].textValue ?? ""
      table = row[1].textValue
      column = row[2].textValue
      rowID = row[3].integerValue
    }

    var isOfColumn: Bool { scope == "column" || scope == "row/col" }
    var isOfRow: Bool { scope == "row" || scope == "row/col" }
  }

  private func report(
    _ requirement: Int, _ id: Int64?, _ reason: String, repair: Repair? = nil
  ) throws(FieldpackError) {
    try check.report(
      .error, .core(requirement), table: Self.references, row: id, reason, repair: repair)
  }

  private func examineScope(_ reference: Reference, _ id: Int64?) throws(FieldpackError) {
    guard ["geopackage", "table", "column", "row", "row/col"].contains(reference.scope) else {
      return try report(96, id, "'\(reference.scope)' is no scope of a reference")
    }
    guard reference.scope != "geopackage" else {
      if reference.table != nil { try report(97, id, "it is about the file, and names a table") }
      if reference.column != nil { try report(98, id, "it is about the file, and names a column") }
      if reference.rowID != nil { try report(99, id, "it is about the file, and names a row") }
      return
    }
    guard let table = reference.table, let object = check.table(table),
      check.contents == nil || check.contents(of: table) != nil
    else {
      return try report(97, id, "table '\(reference.table ?? "")' is not in gpkg_contents")
    }
    switch (reference.isOfColumn, reference.column) {
    case (false, .some): try report(98, id, "it is about a \(reference.scope), and names a column")
    case (true, nil): try report(98, id, "it is about a column, and names none")
    case (true, let column?) where try check.column(column, of: object.name) == nil:
      try report(98, id, "column '\(column)' is not in table '\(table)'")
    default: break
    }
    switch (reference.isOfRow, reference.rowID) {
    case (false, .some): try report(99, id, "it is about a \(reference.scope), and names a row")
    case (true, nil): try report(99, id, "it is about a row, and names none")
    case (true, let row?): try examineRow(row, object, id)
    default: break
    }
  }

  private func examineRow(
    _ row: Int64, _ object: ConformanceCheck.SchemaObject, _ id: Int64?
  ) throws(FieldpackError) {
    guard let key = try check.rowID(of: object.name) else { return }
    let found = try check.integer(
      "SELECT 1 FROM \(quoted(object.name)) WHERE \(key) = ?", [.integer(row)])
    if found == nil { try report(99, id, "row \(row) is not in table '\(object.name)'") }
  }
}
