import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// The table of extensions: clause 2.3.
struct ExtensionsCheck {
  let check: ConformanceCheck
  private static let table = GPKGExtensions.table

  func run() throws(FieldpackError) {
    guard check.has(Self.table) else { return }
    try check.attempt(.core(58), table: Self.table, "the table") { () throws(FieldpackError) in
      guard try check.examine(GPKGExtensions.self, .core(58)), check.isExtensionsReadable else {
        return
      }
      try check.each(of: GPKGExtensions.columns) { (row) throws(FieldpackError) in
        let name = row[.name].textValue ?? ""
        let (table, column) = (row[.tableName].textValue, row[.columnName].textValue)
        try examineName(name)
        try examineTarget(table, column, name)
        try examineRTree(row, name)
        if name == "gpkg_zoom_other", column != "tile_data" {
          try check.report(
            .error, .core(88), table: table, "\(name) is not registered for column tile_data")
        }
        if (row[.definition].textValue ?? "").isEmpty {
          try check.report(
            .warning, .core(63), table: Self.table, "\(name) does not say where it is defined")
        }
        if !["read-write", "write-only"].contains(row[.scope].textValue) {
          try check.report(
            .error, .core(64), table: Self.table,
            "the scope of \(name) is '\(row[.scope].textValue ?? "")'")
        }
      }
    }
  }

  // MARK: Names

  private static let known: Set = [
    "gpkg_rtree_index", "gpkg_zoom_other", "gpkg_webp", "gpkg_metadata", "gpkg_schema",
    "gpkg_crs_wkt", "gpkg_crs_wkt_1_1", "gpkg_elevation_tiles", "gpkg_2d_gridded_coverage",
    "gpkg_related_tables", "related_tables",
  ]
  /// The extensions that version 1.2 removed.
  private static let retired: Set = ["gpkg_geometry_type_trigger", "gpkg_srs_id_trigger"]

  private func examineName(_ name: String) throws(FieldpackError) {
    if Self.known.contains(name) { return }
    if Self.retired.contains(name) {
      guard check.version >= 10_200 else { return }
      return try check.report(
        .error, .core(62), table: Self.table, "\(name) is no extension since 1.2",
        repair: .retiredTriggers)
    }
    let parts = name.split(separator: "_", maxSplits: 1, omittingEmptySubsequences: false)
    let isFormed =
      parts.count == 2 && !parts[0].isEmpty && !parts[1].isEmpty
      && parts[0].utf8.allSatisfy { Self.isLetterOrDigit($0) }
      && parts[1].utf8.allSatisfy { Self.isLetterOrDigit($0) || $0 == UInt8(ascii: "_") }
    guard isFormed else {
      return try check.report(
        .error, .core(62), table: Self.table, "'\(name)' is not of the form author_extension")
    }
    // Up to 1.1 a user-defined geometry type was registered as gpkg_geom_ with a name.
    if parts[0] == "gpkg", !name.hasPrefix("gpkg_geom_") {
      try check.report(
        .error, .core(62), table: Self.table, "'\(name)' is no extension of the standard's")
    }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: false
    }
  }

  // MARK: Targets

  private func examineTarget(
    _ table: String?, _ column: String?, _ name: String
  ) throws(FieldpackError) {
    guard let table else {
      guard let column else { return }
      return try check.report(
        .error, .core(61), table: Self.table, "\(name) is for column '\(column)' of no table")
    }
    guard let object = check.table(table) else {
      return try check.report(
        .error, .core(60), table: table, "\(name) is registered for it, and there is no such table")
    }
    guard let column, try check.column(column, of: object.name) == nil else { return }
    try check.report(
      .error, .core(61), table: table, column: column,
      "\(name) is registered for it, and there is no such column")
  }

  private func examineRTree(
    _ row: SystemRow<GPKGExtensions>, _ name: String
  ) throws(FieldpackError) {
    guard name == RTreeSQL.extensionName, let table = row[.tableName].textValue, check.has(table)
    else { return }
    guard let column = row[.columnName].textValue else {
      return try check.report(
        .error, .core(76), table: table, "an R-tree is registered for it, and for no column")
    }
    guard check.geometryColumns != nil else { return }
    let isGeometry = check.geometryColumns(of: table).contains {
      SQLName($0.column) == SQLName(column)
    }
    if !isGeometry, try check.column(column, of: table) != nil {
      try check.report(
        .error, .core(75), table: table, column: column,
        "an R-tree is registered for it, which is no geometry column")
    }
    if row[.scope].textValue == "read-write" {
      try check.report(
        .error, .core(76), table: table, column: column, "its R-tree is not write-only",
        repair: .extensionRow(
          ExtensionRow(name: name, table: table, column: column, scope: "write-only")))
    }
  }
}

extension ConformanceCheck {
  /// Reports missing rows in `gpkg_extensions` for extensions whose tables exist. Before 1.2.1 a
  /// row without a table name was enough.
  func requireRows(
    _ names: [String], tables: [String], _ requirement: Requirement
  ) throws(FieldpackError) {
    for table in tables where has(table) {
      if names.contains(where: { isRegistered($0, table: table) }) { continue }
      let isOld = version <= 10_200 && names.contains { isRegistered($0) }
      // Before 1.1 these tables were part of the core.
      let isCore = version < 10_100 && ["gpkg_metadata", "gpkg_schema"].contains(names[0])
      try report(
        isCore ? .note : isOld ? .warning : .error, requirement, table: table,
        "\(names[0]) is not registered in gpkg_extensions for it",
        repair: .extensionRow(ExtensionRow(name: names[0], table: table)))
    }
  }

  /// Reports registered extensions whose tables do not exist.
  func requireTables(
    _ names: [String], tables: [String], _ requirement: Requirement
  ) throws(FieldpackError) {
    guard isExtensionsReadable, names.contains(where: { isRegistered($0) }) else { return }
    for table in tables where !has(table) {
      try report(
        .error, requirement, table: table,
        "the extension \(names[0]) is registered, and its table is missing")
    }
  }

  /// Reports registered extensions whose scope is not read-write.
  func requireScope(_ names: [String], _ requirement: Requirement) throws(FieldpackError) {
    guard isExtensionsReadable, names.contains(where: { isRegistered($0) }) else { return }
    let list = names.map { literal($0) }.joined(separator: ", ")
    try each(
      of: GPKGExtensions.columns,
      " WHERE extension_name IN (\(list)) AND scope IS NOT 'read-write'"
    ) { (row) throws(FieldpackError) in
      let table = row[.tableName].textValue
      try report(
        .error, requirement, table: table,
        "the scope of \(names[0]) is '\(row[.scope].textValue ?? "")', not read-write",
        repair: .extensionRow(
          ExtensionRow(
            name: row[.name].textValue ?? "", table: table, column: row[.columnName].textValue)))
    }
  }
}
