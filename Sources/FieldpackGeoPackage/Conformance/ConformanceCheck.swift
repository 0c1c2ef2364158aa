import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// One look through a file: what all parts of it share.
final class ConformanceCheck {
  /// The greatest version that is known: 1.4 and its corrections.
  static let knownVersion = 10_499

  let file: GeoPackageFile
  /// As `user_version` counts: 10000 for 1.0, 10400 for 1.4.
  let version: Int
  private let receive: (ConformanceFinding) throws(FieldpackError) -> Void
  private let progress: (Int) throws(FieldpackError) -> Void
  /// What the findings ask for.
  private(set) var repairs: Set<Repair> = []
  private(set) var rowCount = 0
  /// Whether SQLite found pages that are not whole, and no index alone.
  private(set) var isDamaged = false

  /// Tables and views by name.
  private(set) var tables: [SQLName: SchemaObject] = [:]
  private(set) var triggers: [SQLName: SchemaObject] = [:]
  private var knownColumns: [SQLName: [TableColumn]] = [:]
  /// `nil` where the table is missing or cannot be read, so that nothing is missing from it.
  var contents: [ContentsRow]?
  var geometryColumns: [GeometryColumnRow]?
  var systems: Set<Int64>?

  struct SchemaObject {
    var name: String
    var type: String
    var table: String
    var sql: String
    var isView: Bool { type == "view" }
  }

  struct TableColumn {
    var name: String
    var type: String
    var isNotNull: Bool
    var defaultSQL: String?
    /// The place in the primary key from 1 on; 0 for none.
    var keyPlace: Int
    var isGenerated: Bool
  }

  struct ContentsRow {
    var table: String
    var dataType: String
    var lastChange: SQLiteValue
    var extent: [SQLiteValue]
    var srsID: Int64?
  }

  struct GeometryColumnRow {
    var table: String
    var column: String
    var type: String
    var srsID: Int64?
    var z: Int64?
    var m: Int64?
  }

  init(
    _ file: GeoPackageFile, version: Int,
    progress: @escaping (Int) throws(FieldpackError) -> Void,
    receive: @escaping (ConformanceFinding) throws(FieldpackError) -> Void
  ) {
    self.file = file
    self.version = version
    self.progress = progress
    self.receive = receive
  }

  /// Looks at everything, from the file as a whole to its rows.
  func run() throws(FieldpackError) {
    try readSchema()
    try ContainerCheck(check: self).run()
    try SystemsCheck(check: self).run()
    try ContentsCheck(check: self).run()
    try FeaturesCheck(check: self).run()
    try AttributesCheck(check: self).run()
    try TilesCheck(check: self).run()
    try CoverageCheck(check: self).run()
    try ExtensionsCheck(check: self).run()
    try MetadataCheck(check: self).run()
    try SchemaCheck(check: self).run()
    try RelationsCheck(check: self).run()
  }

  // MARK: Findings

  func report(
    _ level: ConformanceFinding.Level, _ requirement: Requirement, table: String? = nil,
    column: String? = nil, row: Int64? = nil, _ reason: String, repair: Repair? = nil
  ) throws(FieldpackError) {
    if let repair { repairs.insert(repair) }
    try receive(
      ConformanceFinding(
        level, requirement, table: table, column: column, row: row, reason,
        isMendable: repair != nil))
  }

  /// Counts a row that was read.
  func noteRow() throws(FieldpackError) {
    rowCount += 1
    if rowCount & 1023 == 0 { try progress(rowCount) }
  }

  /// Runs a part of the check; what it cannot read is a finding, and the rest goes on.
  func attempt(
    _ requirement: Requirement, table: String? = nil, _ what: String,
    _ body: () throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    try progress(rowCount)
    do throws(FieldpackError) {
      try body()
    } catch {
      guard let reason = error.damage else { throw error }
      guard error.code == .corrupt else {
        return try report(
          .error, requirement, table: table, "\(what) cannot be read: \(reason)")
      }
      try reportDamage(table: table, "\(what) cannot be read: \(reason)")
    }
  }

  /// Reports pages that are not whole, with which nothing is to be written to the file.
  func reportDamage(table: String? = nil, _ reason: String) throws(FieldpackError) {
    isDamaged = true
    try report(.error, .core(6), table: table, reason)
  }

  // MARK: Reading

  /// Gives the rows of a result one by one.
  func each(
    _ sql: String, _ values: [SQLiteValue] = [],
    _ body: ([SQLiteValue]) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let statement = try file.sql { () throws(SQLiteError) in
      let statement = try file.connection.prepare(sql, caching: false)
      try statement.bind(values)
      return statement
    }
    let count = statement.columnCount
    while try file.sql({ () throws(SQLiteError) in try statement.step() }) {
      try body((0..<count).map { statement.value($0) })
    }
  }

  private func readSchema() throws(FieldpackError) {
    try attempt(.core(6), "the schema") { () throws(FieldpackError) in
      try each("SELECT name, type, tbl_name, sql FROM sqlite_master") { row in
        let object = SchemaObject(
          name: row[0].textValue ?? "", type: row[1].textValue ?? "",
          table: row[2].textValue ?? "", sql: row[3].textValue ?? "")
        switch object.type {
        case "table", "view": tables[SQLName(object.name)] = object
        case "trigger": triggers[SQLName(object.name)] = object
        default: break
        }
      }
    }
  }

  func table(_ name: String) -> SchemaObject? { tables[SQLName(name)] }

  func has(_ name: String) -> Bool { table(name) != nil }

  /// The rows of the contents with one of the data types.
  func layers(_ dataTypes: String...) -> [ContentsRow] {
    (contents ?? []).filter { dataTypes.contains($0.dataType.lowercased()) }
  }

  /// The table's row of the contents.
  func contents(of table: String) -> ContentsRow? {
    let name = SQLName(table)
    return contents?.first { SQLName($0.table) == name }
  }

  /// Whether a reference system is not among those of the file, as far as these are known.
  func lacksSystem(_ id: Int64?) -> Bool {
    guard let systems else { return false }
    return id.map { !systems.contains($0) } ?? true
  }

  /// Whether there is anything of a GeoPackage, which could be made whole.
  var isGeoPackage: Bool { has("gpkg_contents") || has("gpkg_geometry_columns") }

  /// The columns of a table or view, hidden ones of virtual tables left out; none where there are
  /// none to be had.
  func columns(of name: String) throws(FieldpackError) -> [TableColumn] {
    if let known = knownColumns[SQLName(name)] { return known }
    var columns: [TableColumn] = []
    try attempt(.core(14), table: name, "its columns") { () throws(FieldpackError) in
      try each("PRAGMA table_xinfo(\(quoted(name)))") { row in
        let hidden = row[6].integerValue ?? 0
        guard hidden != 1 else { return }
        columns.append(
          TableColumn(
            name: row[1].textValue ?? "", type: row[2].textValue ?? "",
            isNotNull: row[3].integerValue == 1, defaultSQL: row[4].textValue,
            keyPlace: Int(clamping: row[5].integerValue ?? 0), isGenerated: hidden > 1))
      }
    }
    knownColumns[SQLName(name)] = columns
    return columns
  }

  func column(_ column: String, of name: String) throws(FieldpackError) -> TableColumn? {
    let wanted = SQLName(column)
    return try columns(of: name).first { SQLName($0.name) == wanted }
  }

  /// The name for the row id: the INTEGER PRIMARY KEY, else one of SQLite's that no column has;
  /// `nil` for views and tables without row ids.
  func rowID(of name: String) throws(FieldpackError) -> String? {
    guard let table = table(name), !table.isView else { return nil }
    let columns = try columns(of: name)
    let keys = columns.filter { $0.keyPlace > 0 }
    if keys.count == 1, SQLName(keys[0].type) == SQLName("integer") { return quoted(keys[0].name) }
    let taken = Set(columns.map { SQLName($0.name) })
    guard let free = ["rowid", "_rowid_", "oid"].first(where: { !taken.contains(SQLName($0)) })
    else { return nil }
    do throws(FieldpackError) {
      _ = try file.rows("SELECT \(free) FROM \(quoted(name)) LIMIT 0")
      return free
    } catch {
      guard error.damage != nil else { throw error }
      return nil
    }
  }

  /// Whether the table `gpkg_extensions` names this extension, for a table and column if given; so
  /// it is taken to be where the table cannot be asked.
  func isRegistered(
    _ name: String, table: String? = nil, column: String? = nil
  ) throws(FieldpackError) -> Bool {
    guard try isExtensionsReadable() else { return has("gpkg_extensions") }
    var sql = "SELECT 1 FROM gpkg_extensions WHERE lower(extension_name) = lower(?1)"
    if table != nil { sql += " AND lower(table_name) = lower(?2)" }
    if column != nil { sql += " AND lower(column_name) = lower(?3)" }
    let values = [name, table, column].compactMap { $0 }.map(SQLiteValue.text)
    return try file.integer(sql + " LIMIT 1", values) != nil
  }

  /// Whether `gpkg_extensions` is there, with the columns that are asked for.
  func isExtensionsReadable() throws(FieldpackError) -> Bool {
    try hasColumns(
      ["table_name", "column_name", "extension_name", "definition", "scope"],
      in: "gpkg_extensions")
  }

  func hasColumns(_ names: [String], in table: String) throws(FieldpackError) -> Bool {
    guard has(table) else { return false }
    let present = Set(try columns(of: table).map { SQLName($0.name) })
    return names.allSatisfy { present.contains(SQLName($0)) }
  }
}

extension FieldpackError {
  /// SQLite's own words, where the file is at fault and not the world around it.
  var damage: String? {
    let cause = underlying as? SQLiteError
    // 18 is SQLITE_TOOBIG: a value above the limit for files of others.
    if cause?.code == 18 { return "a value is too large" }
    switch code {
    case .corrupt, .invalidData, .constraint, .unsupported: return cause?.message ?? message
    default: return nil
    }
  }
}
