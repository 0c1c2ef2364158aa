import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// The table of contents: clause 1.1.3.
struct ContentsCheck {
  let check: ConformanceCheck
  private static let table = GPKGContents.table
  private static let needed: [GPKGContents] =
    [.tableName, .dataType, .lastChange, .srsID] + GPKGContents.extent

  func run() throws(FieldpackError) {
    guard check.has(Self.table) else {
      try check.report(
        .error, .core(13), table: Self.table, "the table is missing",
        repair: check.isGeoPackage ? .contentsTable : nil)
      try readGeometryColumns()
      return
    }
    try check.attempt(.core(13), table: Self.table, "the table") { () throws(FieldpackError) in
      try check.examine(GPKGContents.self, .core(13))
      guard try check.hasColumns(Self.needed) else { return }
      try readRows()
    }
    try readGeometryColumns()
    for row in check.contents ?? [] { try examine(row) }
  }

  private func readRows() throws(FieldpackError) {
    try check.takeContents(Self.needed) { (row) throws(FieldpackError) in
      guard let table = row[.tableName].textValue else {
        try check.report(.error, .core(14), table: Self.table, "a row names no table")
        return nil
      }
      return .init(
        table: table, dataType: row[.dataType].textValue ?? "", lastChange: row[.lastChange],
        extent: row[GPKGContents.extent], srsID: row[.srsID].integerValue)
    }
  }

  private func readGeometryColumns() throws(FieldpackError) {
    let name = GPKGGeometryColumns.table
    guard check.has(name) else { return }
    try check.attempt(.core(21), table: name, "the table") { () throws(FieldpackError) in
      guard try check.examine(GPKGGeometryColumns.self, .core(21)) else { return }
      try check.takeGeometryColumns { row in
        .init(
          table: row[.tableName].textValue ?? "", column: row[.columnName].textValue ?? "",
          type: row[.typeName].textValue ?? "", srsID: row[.srsID].integerValue,
          z: row[.z].integerValue, m: row[.m].integerValue)
      }
    }
  }

  // MARK: Rows

  private func examine(_ row: ConformanceCheck.ContentsRow) throws(FieldpackError) {
    if let found = check.table(row.table) {
      if found.name != row.table {
        try check.report(
          .warning, .core(14), table: row.table,
          "the table's name is '\(found.name)', which differs in case")
      }
    } else {
      try check.report(
        .error, .core(14), table: row.table, "it is in gpkg_contents, but there is no such table")
    }
    try examineType(row)
    if !Self.isMoment(row.lastChange) {
      try check.report(
        .error, .core(15), table: row.table, column: "last_change",
        "'\(row.lastChange.textValue ?? "")' is not like 2024-05-06T07:08:09.012Z",
        repair: .lastChange(table: row.table))
    }
    if let id = row.srsID, check.lacksSystem(id) {
      try check.report(
        .error, .core(16), table: row.table, column: "srs_id",
        "srs_id \(id) is not in gpkg_spatial_ref_sys")
    }
  }

  private static let dataTypes: Set = ["features", "tiles", "attributes", "2d-gridded-coverage"]

  private func examineType(_ row: ConformanceCheck.ContentsRow) throws(FieldpackError) {
    guard !Self.dataTypes.contains(row.dataType) else { return }
    let lower = row.dataType.lowercased()
    if Self.dataTypes.contains(lower) {
      try check.report(
        .error, .core(18), table: row.table, column: "data_type",
        "'\(row.dataType)' is not in lower case", repair: .dataType(table: row.table))
    } else {
      try check.report(
        lower == "aspatial" ? .note : .warning, .core(17), table: row.table, column: "data_type",
        "'\(row.dataType)' is no data type of the standard")
    }
  }

  /// Whether the value is a moment in the form of clause 1.1.3.1.2. The fraction may have any
  /// length.
  static func isMoment(_ value: SQLiteValue) -> Bool {
    guard var text = value.textValue, text.hasSuffix("Z"), text.contains("T") else { return false }
    let parsed = text.withUTF8 { DateTimeParser.dateTime($0) }
    return parsed.map { $0.hasZone && $0.fractionDigits > 0 } ?? false
  }
}
