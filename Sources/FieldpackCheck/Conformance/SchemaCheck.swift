import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// The schema extension: annex F.9.
struct SchemaCheck {
  let check: ConformanceCheck
  private static let columns = "gpkg_data_columns"
  private static let constraints = "gpkg_data_column_constraints"

  func run() throws(FieldpackError) {
    let tables = [Self.columns, Self.constraints]
    try check.attempt(.core(141), "the schema extension") { () throws(FieldpackError) in
      try check.requireTables(["gpkg_schema"], tables: tables, .core(141))
      try check.requireScope(["gpkg_schema"], .core(141))
      try check.requireRows(["gpkg_schema"], tables: tables, .core(141))
      if check.has(Self.columns), !check.has(Self.constraints),
        !check.isRegistered("gpkg_schema")
      {
        try check.report(.error, .core(141), table: Self.constraints, "the table is missing")
      }
    }
    if check.has(Self.columns) {
      try check.attempt(.core(103), table: Self.columns, "the table") {
        () throws(FieldpackError) in
        guard try TableDefinition.dataColumns.examine(Self.columns, in: check) else { return }
        try examineColumns()
      }
    }
    guard check.has(Self.constraints) else { return }
    try check.attempt(.core(107), table: Self.constraints, "the table") {
      () throws(FieldpackError) in
      try examineConstraints()
    }
  }

  // MARK: Columns

  private func examineColumns() throws(FieldpackError) {
    let hasConstraints = try check.hasColumns(["constraint_name"], in: Self.constraints)
    let known =
      hasConstraints
      ? "constraint_name IN (SELECT constraint_name FROM gpkg_data_column_constraints)" : "0"
    var registered = Set((check.contents ?? []).map { SQLName($0.table) })
    if check.isExtensionsReadable {
      try check.each("SELECT DISTINCT table_name FROM gpkg_extensions") { row in
        if let name = row[0].textValue { registered.insert(SQLName(name)) }
      }
    }
    try check.each(
      "SELECT table_name, column_name, constraint_name, \(known) FROM gpkg_data_columns"
    ) { (row) throws(FieldpackError) in
      let table = row[0].textValue ?? ""
      let column = row[1].textValue ?? ""
      if check.contents != nil, !registered.contains(SQLName(table)) {
        try check.report(
          .error, .core(104), table: table, column: column,
          "gpkg_data_columns describes it, and it is neither in gpkg_contents nor gpkg_extensions")
      }
      if let object = check.table(table) {
        if try check.column(column, of: object.name) == nil {
          try check.report(
            .error, .core(105), table: table, column: column,
            "gpkg_data_columns describes it, and there is no such column")
        }
      } else {
        try check.report(
          .error, .core(105), table: table, column: column,
          "gpkg_data_columns describes it, and there is no such table")
      }
      if let constraint = row[2].textValue, row[3].integerValue != 1 {
        try check.report(
          .error, .core(106), table: table, column: column,
          "constraint '\(constraint)' is not in gpkg_data_column_constraints")
      }
    }
  }

  // MARK: Constraints

  private func examineConstraints() throws(FieldpackError) {
    let table = Self.constraints
    var ends = ("min_is_inclusive", "max_is_inclusive")
    if try check.column("minIsInclusive", of: table) != nil {
      ends = ("minIsInclusive", "maxIsInclusive")
      try check.report(
        check.version < 10_100 ? .note : .error, .core(107), table: table,
        column: "minIsInclusive", "1.1 renamed it min_is_inclusive", repair: .inclusiveColumns)
    }
    guard try TableDefinition.dataColumnConstraints(ends).examine(table, in: check) else { return }
    try check.each(
      "SELECT constraint_name, constraint_type, value, min, max, \(ends.0), \(ends.1), "
        + "min < max, rowid FROM gpkg_data_column_constraints"
    ) { (row) throws(FieldpackError) in
      let fault = Self.fault(row)
      guard let fault else { return }
      try check.report(
        .error, .core(fault.requirement), table: table, row: row[8].integerValue,
        "constraint '\(row[0].textValue ?? "")': \(fault.reason)")
    }
    try check.each(
      "SELECT constraint_name, count(*) FROM gpkg_data_column_constraints WHERE constraint_name IN "
        + "(SELECT constraint_name FROM gpkg_data_column_constraints "
        + "WHERE constraint_type IN ('range', 'glob')) GROUP BY constraint_name HAVING count(*) > 1"
    ) { (row) throws(FieldpackError) in
      try check.report(
        .error, .core(109), table: table,
        "constraint '\(row[0].textValue ?? "")' is there \(row[1].integerValue ?? 0) times")
    }
  }

  private static func fault(_ row: [SQLiteValue]) -> (requirement: Int, reason: String)? {
    let isSet = { (value: SQLiteValue) in value != .null }
    switch row[1].textValue {
    case "range":
      if isSet(row[2]) { return (110, "a range has no value") }
      if row[7].integerValue != 1 { return (111, "its minimum is not below its maximum") }
      let flags = row[5...6].map(\.integerValue)
      return flags.allSatisfy { $0 == 0 || $0 == 1 }
        ? nil : (112, "it does not say whether its ends belong to it")
    case "enum", "glob":
      if row[3...6].contains(where: isSet) { return (113, "only a range has a minimum or maximum") }
      return isSet(row[2]) ? nil : (114, "it has no value")
    default:
      return (108, "'\(row[1].textValue ?? "")' is none of range, enum and glob")
    }
  }
}
