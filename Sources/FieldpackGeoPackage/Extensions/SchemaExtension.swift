package import FieldpackCore
package import FieldpackSQLite

/// The Schema extension: `gpkg_data_columns` and `gpkg_data_column_constraints`.
struct SchemaExtension {
  let file: GeoPackageSession

  static let columnsTable = GPKGDataColumns.table
  static let constraintsTable = GPKGDataColumnConstraints.table

  // MARK: Reading

  /// The extension's description of a column.
  struct Entry {
    var table: String
    var column: String
    var shortName: String?
    var title: String?
    var description: String?
    var mediaType: String?
    var constraint: ColumnConstraint?

    /// Adds the description to a column.
    func describe(_ column: inout ColumnDefinition) {
      column.title = title
      column.description = description
      column.shortName = shortName
      column.isSourceID = title == DataColumnMark.sourceID
      column.constraint = constraint
      if case .text = column.type, mediaType == "application/json" {
        column.type = .json
      } else {
        column.mediaType = mediaType
      }
    }
  }

  /// All rows of `gpkg_data_columns`, which must exist.
  func entries() throws(FieldpackError) -> [Entry] {
    let rows = try file.rows(of: GPKGDataColumns.columns)
    let isConstrained = rows.contains { $0[.constraintName].textValue != nil }
    let constraints = isConstrained ? try constraints() : [:]
    return rows.map { row in
      Entry(
        table: row[.tableName].textValue ?? "", column: row[.columnName].textValue ?? "",
        shortName: row[.name].textValue, title: row[.title].textValue,
        description: row[.description].textValue, mediaType: row[.mediaType].textValue,
        constraint: row[.constraintName].textValue.flatMap { constraints[SQLName($0)] })
    }
  }

  /// The constraints of the file by name. Rows that make no sense are skipped.
  func constraints() throws(FieldpackError) -> [SQLName: ColumnConstraint] {
    guard try file.hasTable(Self.constraintsTable) else { return [:] }
    let names = try constraintColumns().sqlList
    let rows = try file.rows("SELECT \(names) FROM \(Self.constraintsTable) ORDER BY rowid")
      .map { SystemRow(GPKGDataColumnConstraints.columns, $0[...]) }
    var found: [SQLName: ColumnConstraint] = [:]
    // Several rows may have one name; the first that makes sense tells the kind of the constraint.
    var members: [SQLName: [ColumnConstraint.Member]] = [:]
    for row in rows {
      guard let spelling = row[.name].textValue else { continue }
      let name = SQLName(spelling)
      if row[.type].textValue?.lowercased() == "enum" {
        guard let value = row[.value].anyText, found[name] == nil || members[name] != nil else {
          continue
        }
        members[name, default: []].append(
          .init(value, description: row[.description].textValue))
        if found[name] == nil { found[name] = ColumnConstraint(spelling, .oneOf([])) }
      } else if found[name] == nil {
        found[name] = Self.constraint(spelling, row)
      }
    }
    for (name, members) in members { found[name]?.rule = .oneOf(members) }
    return found
  }

  /// The names of the columns in the file. Two names changed after version 1.0. In place of one of
  /// these or of the description, which some files lack, there is `NULL`.
  private func constraintColumns() throws(FieldpackError) -> [String] {
    let names = try file.rows("PRAGMA table_info(\(Self.constraintsTable))")
      .compactMap { $0[1].textValue?.lowercased() }
    return GPKGDataColumnConstraints.columns.map { column in
      switch column {
      case .minIsInclusive, .maxIsInclusive, .description:
        [column.sql, column.formerSQL].first { names.contains($0.lowercased()) } ?? "NULL"
      default: column.sql
      }
    }
  }

  /// The constraint that one row describes alone.
  private static func constraint(
    _ name: String, _ row: SystemRow<GPKGDataColumnConstraints>
  ) -> ColumnConstraint? {
    let text = row[.description].textValue
    switch row[.type].textValue?.lowercased() {
    case "range":
      let low = bound(row[.min], row[.minIsInclusive])
      let high = bound(row[.max], row[.maxIsInclusive])
      guard low != nil || high != nil else { return nil }
      return ColumnConstraint(name, .range(from: low, to: high), description: text)
    case "glob":
      guard let pattern = row[.value].anyText else { return nil }
      return ColumnConstraint(name, .glob(pattern), description: text)
    default: return nil
    }
  }

  /// A bound of a range; `nil` for an infinite one.
  private static func bound(
    _ value: SQLiteValue, _ isInclusive: SQLiteValue
  ) -> ColumnConstraint.Bound? {
    let isInclusive =
      switch isInclusive {
      case .integer(let flag): flag != 0
      case .text(let flag): !["false", "0"].contains(flag.lowercased())
      default: true
      }
    switch value {
    case .integer, .text: return .init(Value(value), isInclusive: isInclusive)
    case .real(let number) where number.isFinite:
      return .init(.real(number), isInclusive: isInclusive)
    default: return nil
    }
  }

  // MARK: Writing

  /// Stores in `gpkg_data_columns` what the declared types cannot tell.
  func describe(
    _ columns: [ColumnDefinition], of table: String
  ) throws(FieldpackError) {
    let described = columns.filter(\.needsDescription)
    guard !described.isEmpty else { return }
    try create()
    for column in described {
      let title = column.isSourceID ? DataColumnMark.sourceID : column.title
      let constraint = try column.constraint.map { constraint throws(FieldpackError) in
        try store(constraint)
      }
      let mediaType = column.type == .json ? "application/json" : column.mediaType
      let texts = [
        table, column.name, try freeShortName(column.shortName, of: table), title,
        column.description, mediaType, constraint,
      ]
      try file.execute(
        GPKGDataColumns.insertion(replacing: true),
        texts.map { $0.map(SQLiteValue.text) ?? .null })
    }
  }

  /// The short name, or `nil` where another column of the table has it.
  private func freeShortName(
    _ name: String?, of table: String
  ) throws(FieldpackError) -> String? {
    guard let name else { return nil }
    let taken = try file.integer(
      "SELECT 1 FROM \(Self.columnsTable) WHERE table_name = ? AND name = ?",
      [.text(table), .text(name)])
    return taken == nil ? name : nil
  }

  /// Gives a column of a layer a constraint, or removes its constraint.
  func set(
    _ constraint: ColumnConstraint?, of column: ColumnDefinition, in table: LayerTable
  ) throws(FieldpackError) {
    let key: [SQLiteValue] = [.text(table.table), .text(column.name)]
    let condition = "lower(table_name) = lower(?) AND lower(column_name) = lower(?)"
    if let constraint {
      try create()
      let name = try store(constraint)
      let known = try file.integer(
        "SELECT 1 FROM \(Self.columnsTable) WHERE \(condition)", key)
      let sql =
        known == nil
        ? GPKGDataColumns.insertion([.constraintName, .tableName, .columnName])
        : "UPDATE \(Self.columnsTable) SET constraint_name = ? WHERE \(condition)"
      try file.execute(sql, [.text(name)] + key)
    } else if try file.hasTable(Self.columnsTable) {
      try file.execute(
        "UPDATE \(Self.columnsTable) SET constraint_name = NULL WHERE \(condition)", key)
      try file.execute(
        "DELETE FROM \(Self.columnsTable) WHERE \(condition) AND name IS NULL AND title IS NULL "
          + "AND description IS NULL AND mime_type IS NULL AND constraint_name IS NULL", key)
    }
    if let old = column.constraint { try removeUnused([old.name]) }
    try dropIfEmpty()
  }

  /// Writes the rows of a constraint unless they exist; returns its name in this file. The name is
  /// changed where a different constraint has it.
  func store(_ constraint: ColumnConstraint) throws(FieldpackError) -> String {
    try check(constraint)
    let known = try constraints()
    let wanted = constraint.name.lowercased()
    var name = wanted
    var number = 1
    while let other = known[SQLName(name)] {
      if other.rule == constraint.rule { return other.name }
      number += 1
      name = "\(wanted)_\(number)"
    }
    try insert(constraint, as: name)
    return name
  }

  private func check(_ constraint: ColumnConstraint) throws(FieldpackError) {
    let problem: String? =
      switch constraint.rule {
      case _ where constraint.name.isEmpty: "has no name"
      case .oneOf(let members):
        members.isEmpty
          ? "allows nothing"
          : Set(members.map { Array($0.value.utf8) }).count < members.count
            ? "has a value twice" : nil
      case .range(let low, let high): Self.problem(low, high)
      case .glob: nil
      }
    guard let problem else { return }
    throw FieldpackError(
      .invalidArgument, "constraint '\(constraint.name)' \(problem)",
      location: .init(store: file.store))
  }

  private static func problem(
    _ low: ColumnConstraint.Bound?, _ high: ColumnConstraint.Bound?
  ) -> String? {
    let bounds = [low, high].compactMap { $0?.value }
    let isNumeric = bounds.allSatisfy {
      switch $0 {
      case .integer: true
      case .real(let number): number.isFinite
      default: false
      }
    }
    if bounds.isEmpty { return "is a range without bounds" }
    if !isNumeric, bounds.count < 2 { return "needs both ends, as a range of dates" }
    guard let low, let high else { return nil }
    let isAscending = ColumnConstraint(
      "", .range(from: nil, to: .init(high.value, isInclusive: false))
    ).allows(low.value)
    return isAscending ? nil : "is a range whose lower end is not below its upper end"
  }

  private func insert(
    _ constraint: ColumnConstraint, as name: String
  ) throws(FieldpackError) {
    var columns = try constraintColumns()
    // The description is the last column.
    if columns.last == "NULL" { columns.removeLast() }
    let marks = columns.map { _ in "?" }.sqlList
    let sql =
      "INSERT INTO \(Self.constraintsTable) (\(columns.sqlList)) VALUES (\(marks))"
    func write(_ values: [SQLiteValue], _ text: String?) throws(FieldpackError) {
      let row = [.text(name)] + values + [text.map(SQLiteValue.text) ?? .null]
      try file.execute(sql, Array(row.prefix(columns.count)))
    }
    let none: [SQLiteValue] = [.null, .null, .null, .null]
    switch constraint.rule {
    case .oneOf(let members):
      for member in members {
        try write([.text("enum"), .text(member.value)] + none, member.description)
      }
    case .range(let low, let high):
      // The standard requires both bounds, so an open one is infinite.
      let ends =
        [SQLiteValue(low?.value ?? .real(-.infinity)), .integer(low?.isInclusive == false ? 0 : 1)]
        + [
          SQLiteValue(high?.value ?? .real(.infinity)),
          .integer(high?.isInclusive == false ? 0 : 1),
        ]
      try write([.text("range"), .null] + ends, constraint.description)
    case .glob(let pattern):
      try write([.text("glob"), .text(pattern)] + none, constraint.description)
    }
  }

  private func create() throws(FieldpackError) {
    let creation = LayerCreation(file: file)
    try file.ensure(GPKGDataColumns.self)
    try file.ensure(GPKGDataColumnConstraints.self)
    for table in [Self.columnsTable, Self.constraintsTable] {
      try creation.registerExtension(
        "gpkg_schema", table: table, column: nil, scope: "read-write")
    }
  }

  // MARK: Removing

  /// Whether the extension describes columns of a table.
  func describes(_ table: String) throws(FieldpackError) -> Bool {
    guard try file.hasTable(Self.columnsTable) else { return false }
    return try file.integer(
      "SELECT 1 FROM \(Self.columnsTable) WHERE lower(table_name) = lower(?)", [.text(table)])
      != nil
  }

  /// The names of the constraints on a table's columns.
  func constraintNames(of table: String) throws(FieldpackError) -> [String] {
    guard try file.hasTable(Self.columnsTable) else { return [] }
    return try file.rows(
      "SELECT DISTINCT constraint_name FROM \(Self.columnsTable) "
        + "WHERE lower(table_name) = lower(?) AND constraint_name NOT NULL", [.text(table)]
    ).compactMap { $0[0].textValue }
  }

  /// Removes those of the constraints that no column uses any more.
  func removeUnused(_ names: [String]) throws(FieldpackError) {
    guard try file.hasTable(Self.constraintsTable), try file.hasTable(Self.columnsTable) else {
      return
    }
    for name in names {
      try file.execute(
        "DELETE FROM \(Self.constraintsTable) WHERE lower(constraint_name) = lower(?1) AND "
          + "NOT EXISTS (SELECT 1 FROM \(Self.columnsTable) d "
          + "WHERE lower(d.constraint_name) = lower(?1))", [.text(name)])
    }
  }

  /// Removes the extension's tables when no row needs them any more.
  func dropIfEmpty() throws(FieldpackError) {
    let tables = [Self.columnsTable, Self.constraintsTable]
    guard try file.hasTable(tables[0]), try file.hasTable(tables[1]),
      try file.integer(
        "SELECT EXISTS (SELECT 1 FROM \(tables[0])) + EXISTS (SELECT 1 FROM \(tables[1]))") == 0
    else { return }
    for table in tables {
      try file.execute("DROP TABLE \(table)")
      try file.execute("DELETE FROM gpkg_extensions WHERE lower(table_name) = ?", [.text(table)])
    }
  }
}

extension ColumnDefinition {
  /// Whether the column has properties that its declaration cannot tell.
  fileprivate var needsDescription: Bool {
    type == .json || isSourceID || title != nil || description != nil || shortName != nil
      || mediaType != nil || constraint != nil
  }
}

extension SQLiteValue {
  /// A text, or a number as text.
  fileprivate var anyText: String? {
    switch self {
    case .text(let text): text
    case .integer(let number): number.description
    case .real(let number): number.description
    default: nil
    }
  }

  /// The stored form of a value, independent of the column.
  package init(_ value: Value) {
    self =
      switch value {
      case .null: .null
      case .boolean(let flag): .integer(flag ? 1 : 0)
      case .integer(let number): .integer(number)
      case .real(let number): .real(number)
      case .text(let text): .text(text)
      case .blob(let bytes): .blob(bytes)
      case .date(let day): .text(day.description)
      case .dateTime(let instant): .text(instant.description)
      }
  }
}
