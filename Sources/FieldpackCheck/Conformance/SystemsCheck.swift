import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// Reference systems: clause 1.1.2 and the CRS WKT extension.
struct SystemsCheck {
  let check: ConformanceCheck
  private static let table = GPKGSpatialRefSys.table
  private static let wkt2 = GPKGSpatialRefSys.wkt2.sql

  func run() throws(FieldpackError) {
    guard check.has(Self.table) else {
      try check.report(
        .error, .core(10), table: Self.table, "the table is missing",
        repair: check.isGeoPackage ? .systemsTable : nil)
      return
    }
    try check.attempt(.core(10), table: Self.table, "the table") { () throws(FieldpackError) in
      // Versions before 1.3 gave the definition a default.
      try check.examine(GPKGSpatialRefSys.self, .core(10), anyDefault: .definition)
      let hasWKT2 = try checkExtension()
      let needed: [GPKGSpatialRefSys] = [.id, .organization, .code, .definition]
      guard try check.hasColumns(needed) else { return }
      try checkRows(needed, hasWKT2: hasWKT2)
    }
  }

  /// The rows whose values the standard fixes: `srs_id`, organization, its code, definition.
  private static let required: [Int64: (organization: String, code: Int64)] = [
    -1: ("NONE", -1), 0: ("NONE", 0), 4326: ("EPSG", 4326),
  ]

  private func checkRows(
    _ columns: [GPKGSpatialRefSys], hasWKT2: Bool
  ) throws(FieldpackError) {
    var missing = Set(Self.required.keys)
    var found: Set<Int64> = []
    try check.each(of: columns, also: [hasWKT2 ? Self.wkt2 : "NULL"]) {
      (row) throws(FieldpackError) in
      guard let id = row[.id].integerValue else { return }
      found.insert(id)
      missing.remove(id)
      if Self.required[id] != nil { try checkRequired(id, row, hasWKT2: hasWKT2) }
      let definitions = [row[.definition], row.also(0)].map { Self.isDefinition($0) }
      if id != 0, id != -1, !definitions.contains(true) {
        try check.report(
          hasWKT2 ? .error : .warning, .core(117), table: Self.table, row: id,
          "the reference system has no definition")
      }
    }
    check.systems = found
    for id in missing.sorted() {
      try check.report(
        .error, .core(11), table: Self.table, row: id, "srs_id \(id) is missing",
        repair: .requiredSystems)
    }
  }

  private static func isDefinition(_ value: SQLiteValue) -> Bool {
    value.textValue.map { !ReferenceSystems.isUndefined($0) } ?? false
  }

  private func checkRequired(
    _ id: Int64, _ row: SystemRow<GPKGSpatialRefSys>, hasWKT2: Bool
  ) throws(FieldpackError) {
    guard let wanted = Self.required[id] else { return }
    let organization = row[.organization].textValue ?? ""
    let found = row[.code].integerValue
    if organization.uppercased() != wanted.organization || found != wanted.code {
      let code = found.map { "\($0)" } ?? "none"
      try check.report(
        .error, .core(11), table: Self.table, row: id,
        "srs_id \(id) is \(organization):\(code), not \(wanted.organization):\(wanted.code)",
        // 4326 is not repaired: rows that use the number for another system would change their
        // meaning.
        repair: id == 4326 ? nil : .requiredSystems)
      return
    }
    if id == 4326 {
      guard !Self.isDefinition(row.also(0)) else { return }
      if !Self.isDefinition(row[.definition]) {
        try check.report(
          .error, .core(11), table: Self.table, row: id, "srs_id 4326 has no definition",
          repair: .requiredSystems)
      } else if hasWKT2 {
        try check.report(
          .error, .core(116), table: Self.table, row: id,
          "srs_id 4326 has no \(Self.wkt2)", repair: .requiredSystems)
      }
    } else if row[.definition].textValue != "undefined" {
      try check.report(
        .error, .core(11), table: Self.table, row: id,
        "the definition of srs_id \(id) is '\(row[.definition].textValue ?? "")', not 'undefined'",
        repair: .requiredSystems)
    } else if hasWKT2, row.also(0).textValue != "undefined" {
      try check.report(
        .error, .core(116), table: Self.table, row: id,
        "\(Self.wkt2) of srs_id \(id) is '\(row.also(0).textValue ?? "")', not 'undefined'",
        repair: .requiredSystems)
    }
  }

  /// Checks the column of the CRS WKT extension; returns whether the table has it.
  private func checkExtension() throws(FieldpackError) -> Bool {
    let column = try check.column(Self.wkt2, of: Self.table)
    let epoch = try check.column(GPKGSpatialRefSys.epoch.sql, of: Self.table)
    let isPlain = check.isRegistered("gpkg_crs_wkt")
    let isNewer = check.isRegistered("gpkg_crs_wkt_1_1")
    if column == nil, isPlain || isNewer, check.isExtensionsReadable {
      try check.report(
        .error, .core(115), table: Self.table, column: Self.wkt2,
        "the CRS WKT extension is registered, and its column is missing")
    }
    if let column {
      if column.type.uppercased() != "TEXT" || !column.isNotNull {
        try check.report(
          .error, .core(115), table: Self.table, column: column.name, "it is not TEXT NOT NULL")
      }
      if column.defaultSQL != nil {
        // Up to version 1.2 the extension asked for a default.
        try check.report(
          check.version < 10_300 ? .note : .warning, .core(115), table: Self.table,
          column: column.name,
          "its default is \(column.defaultSQL ?? ""), and the standard has none")
      }
      if epoch == nil, !isPlain, !isNewer {
        try reportRegistration("gpkg_crs_wkt", of: column.name)
      }
    }
    guard epoch != nil else { return column != nil }
    // Version 1.1 registers both columns, regardless of older registrations.
    for column in [column, epoch].compactMap(\.self)
    where !check.isRegistered("gpkg_crs_wkt_1_1", table: Self.table, column: column.name) {
      try reportRegistration("gpkg_crs_wkt_1_1", of: column.name)
    }
    return column != nil
  }

  private func reportRegistration(
    _ name: String, of column: String
  ) throws(FieldpackError) {
    try check.report(
      .error, .core(145), table: Self.table, column: column,
      "\(name) is not registered in gpkg_extensions for it",
      repair: .extensionRow(
        ExtensionRow(name: name, table: Self.table, column: column.lowercased())))
  }
}
