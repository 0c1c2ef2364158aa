import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// The metadata extension: annex F.8.
struct MetadataCheck {
  let check: ConformanceCheck
  private static let table = GPKGMetadata.table
  private static let references = GPKGMetadataReference.table

  func run() throws(FieldpackError) {
    let tables = [Self.table, Self.references]
    try check.attempt(.core(140), "the metadata extension") { () throws(FieldpackError) in
      try check.requireTables(["gpkg_metadata"], tables: tables, .core(140))
      try check.requireScope(["gpkg_metadata"], .core(140))
      try check.requireRows(["gpkg_metadata"], tables: tables, .core(140))
    }
    guard check.has(Self.table) else { return }
    try check.attempt(.core(93), table: Self.table, "the table") { () throws(FieldpackError) in
      // In 1.0 the column `metadata` has no default.
      let anyDefault: GPKGMetadata? = check.version < 10_100 ? .content : nil
      guard try check.examine(GPKGMetadata.self, .core(93), anyDefault: anyDefault) else { return }
      try examineScopes()
    }
    guard check.has(Self.references) else {
      if !check.isRegistered("gpkg_metadata") {
        try check.report(.error, .core(95), table: Self.references, "the table is missing")
      }
      return
    }
    try check.attempt(.core(95), table: Self.references, "the table") { () throws(FieldpackError) in
      guard try check.examine(GPKGMetadataReference.self, .core(95)) else { return }
      try examineReferences()
    }
  }

  private static let scopes = Set(Metadata.Scope.all.map(\.rawValue))

  private func examineScopes() throws(FieldpackError) {
    try check.each(of: [GPKGMetadata.id, .scope]) { (row) throws(FieldpackError) in
      guard !Self.scopes.contains(row[.scope].textValue ?? "") else { return }
      // Since 1.3 the list only gives examples.
      try check.report(
        check.version >= 10_300 ? .note : .error, .core(94), table: Self.table, column: "md_scope",
        row: row[.id].integerValue, "'\(row[.scope].textValue ?? "")' is no scope of the standard's"
      )
    }
  }

  private func examineReferences() throws(FieldpackError) {
    let also = [
      "md_file_id IN (SELECT id FROM gpkg_metadata)",
      "md_parent_id IS NULL OR (md_parent_id <> md_file_id "
        + "AND md_parent_id IN (SELECT id FROM gpkg_metadata))",
      "gpkg_metadata_reference.rowid",
    ]
    try check.each(of: GPKGMetadataReference.columns, also: also) { (row) throws(FieldpackError) in
      try check.noteRow()
      let id = row.also(2).integerValue
      let reference = Reference(row)
      try examineScope(reference, id)
      if !ContentsCheck.isMoment(row[.timestamp]) {
        try report(
          100, id,
          "timestamp '\(row[.timestamp].textValue ?? "")' is not like 2024-05-06T07:08:09.012Z",
          repair: check.table(Self.references)?.isView == true ? nil : .metadataTime)
      }
      if row.also(0).integerValue != 1 {
        let metadata = row[.metadata].integerValue ?? 0
        try report(101, id, "md_file_id \(metadata) is not in gpkg_metadata")
      }
      if row.also(1).integerValue == 0 {
        let parent = row[.parent].integerValue ?? 0
        try report(102, id, "md_parent_id \(parent) is not another row of gpkg_metadata")
      }
    }
  }

  private struct Reference {
    var scope: String
    var table: String?
    var column: String?
    var rowID: Int64?

    init(_ row: SystemRow<GPKGMetadataReference>) {
      scope = row[.scope].textValue ?? ""
      table = row[.tableName].textValue
      column = row[.columnName].textValue
      rowID = row[.rowID].integerValue
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
