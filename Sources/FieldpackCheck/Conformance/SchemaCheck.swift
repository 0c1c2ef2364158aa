import FieldpackCore
import FieldpackGeoPackage
import FieldpackSQLite

/// The schema extension: annex F.9.
struct SchemaCheck {
  let check: ConformanceCheck
  private static let columns = GPKGDataColumns.table
  private static let constraints = GPKGDataColumnConstraints.table

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
        guard try check.examine(GPKGDataColumns.self, .core(103)) else { return }
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
    let hasConstraints = try check.hasColumns([GPKGDataColumnConstraints.name])
    let known =
      hasConstraints
      ? "constraint_name IN (SELECT constraint_name FROM gpkg_data_column_constraints)" : "0"
    var registered = Set((check.contents ?? []).map { SQLName($0.table) })
    if check.isExtensionsReadable {
      try check.each(of: [GPKGExtensions.tableName]) { row in
        if let name = row[.tableName].textValue { registered.insert(SQLName(name)) }
      }
    }
    try check.each(of: [GPKGDataColumns.tableName, .columnName, .constraintName], also: [known]) {
      (row) throws(FieldpackError) in
      let table = row[.tableName].textValue ?? ""
      let column = row[.columnName].textValue ?? ""
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
      if let constraint = row[.constraintName].textValue, row.also(0).integerValue != 1 {
        try check.report(
          .error, .core(106), table: table, column: column,
          "constraint '\(constraint)' is not in gpkg_data_column_constraints")
      }
    }
  }

  // MARK: Constraints

  private func examineConstraints() throws(FieldpackError) {
    let table = Self.constraints
    let minIsInclusive = GPKGDataColumnConstraints.minIsInclusive.formerSQL
    let isFormer = try check.column(minIsInclusive, of: table) != nil
    if isFormer {
      try check.report(
        check.version < 10_100 ? .note : .error, .core(107), table: table,
        column: minIsInclusive, "1.1 renamed it min_is_inclusive", repair: .inclusiveColumns)
    }
    let name = { (column: GPKGDataColumnConstraints) in isFormer ? column.formerSQL : column.sql }
    guard try check.examine(GPKGDataColumnConstraints.self, .core(107), name: name) else { return }
    try check.each(
      of: GPKGDataColumnConstraints.columns, also: ["min < max", "rowid"], name: name
    ) { (row) throws(FieldpackError) in
      guard let fault = Self.fault(row) else { return }
      try check.report(
        .error, .core(fault.requirement), table: table, row: row.also(1).integerValue,
        "constraint '\(row[.name].textValue ?? "")': \(fault.reason)")
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

  private static func fault(
    _ row: SystemRow<GPKGDataColumnConstraints>
  ) -> (requirement: Int, reason: String)? {
    let isSet = { (value: SQLiteValue) in value != .null }
    switch row[.type].textValue {
    case "range":
      if isSet(row[.value]) { return (110, "a range has no value") }
      if row.also(0).integerValue != 1 { return (111, "its minimum is not below its maximum") }
      let flags = row[[.minIsInclusive, .maxIsInclusive]].map(\.integerValue)
      return flags.allSatisfy { $0 == 0 || $0 == 1 }
        ? nil : (112, "it does not say whether its ends belong to it")
    case "enum", "glob":
      let ends = row[[.min, .minIsInclusive, .max, .maxIsInclusive]]
      if ends.contains(where: isSet) { return (113, "only a range has a minimum or maximum") }
      return isSet(row[.value]) ? nil : (114, "it has no value")
    default:
      return (108, "'\(row[.type].textValue ?? "")' is none of range, enum and glob")
    }
  }
}
