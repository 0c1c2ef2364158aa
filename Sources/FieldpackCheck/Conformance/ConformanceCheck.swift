import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite

/// One check of a file: the state that all its parts share.
final class ConformanceCheck {
  /// The highest version that the check knows: 1.4 and its corrections.
  static let knownVersion = 10_499

  let file: GeoPackageSession
  /// The version in the form of `user_version`: 10000 for 1.0, 10400 for 1.4.
  let version: Int
  /// Whether geometries have to be valid.
  let checksValidity: Bool
  private let receive: (ConformanceFinding) throws(FieldpackError) -> Void
  private let progress: (Int) throws(FieldpackError) -> Void
  /// The repairs of the findings.
  private(set) var repairs: Set<Repair> = []
  private(set) var rowCount = 0
  /// Whether SQLite found damaged pages, beyond wrong indexes.
  private(set) var isDamaged = false

  /// Tables and views by name.
  private(set) var tables: [SQLName: SchemaObject] = [:]
  private(set) var triggers: [SQLName: SchemaObject] = [:]
  private var hasViews = false
  private var knownColumns: [SQLName: [TableColumn]] = [:]
  /// The rows of `gpkg_contents`; `nil` where the table is missing or unreadable. Then no entry
  /// counts as missing.
  private(set) var contents: [ContentsRow]?
  private var contentsIndexes: [SQLName: Int] = [:]
  private(set) var geometryColumns: [GeometryColumnRow]?
  private var geometryIndexes: [SQLName: [Int]] = [:]
  var systems: Set<Int64>?
  private var registrations: Registrations?
  /// A database in memory, in which SQLite reads how tables are declared.
  var declarations: Connection?
  /// How long one view may run, and how long all views together may still run.
  private let patience: Duration
  private var timeForViews: Duration

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
    /// Position in the primary key, from 1; 0 where the column is not in it.
    var keyPosition: Int
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
    _ file: GeoPackageSession, version: Int, patience: Duration, checksValidity: Bool,
    progress: @escaping (Int) throws(FieldpackError) -> Void,
    receive: @escaping (ConformanceFinding) throws(FieldpackError) -> Void
  ) {
    self.file = file
    self.version = version
    self.checksValidity = checksValidity
    self.patience = patience
    timeForViews = patience * Self.patientViews
    self.progress = progress
    self.receive = receive
  }

  /// Checks everything, from the file as a whole to its rows.
  func run() throws(FieldpackError) {
    try readSchema()
    try ContainerCheck(check: self).run()
    try readRegistrations()
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
    try TriggersCheck(check: self).run()
  }

  // MARK: Findings

  func report(
    _ level: ConformanceFinding.Level, _ requirement: Requirement, table: String? = nil,
    column: String? = nil, row: Int64? = nil, place: Position? = nil, _ reason: String,
    repair: Repair? = nil
  ) throws(FieldpackError) {
    if let repair { repairs.insert(repair) }
    try receive(
      ConformanceFinding(
        level, requirement, table: table, column: column, row: row, place: place, reason,
        isMendable: repair != nil))
  }

  /// Counts a row that was read.
  func noteRow() throws(FieldpackError) {
    rowCount += 1
    if rowCount & 1023 == 0 { try progress(rowCount) }
  }

  /// Runs a part of the check. If that part cannot be read, this becomes a finding and the check
  /// continues.
  func attempt(
    _ requirement: Requirement, table: String? = nil, _ what: String,
    _ body: () throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    try progress(rowCount)
    do throws(FieldpackError) {
      try body()
    } catch {
      guard let reason = error.damage else { throw error }
      if error.isOverdue {
        return try report(
          .note, .core(14), table: table,
          "a view takes too long, so \(what) \(what.hasSuffix("s") ? "are" : "is") not checked as a "
            + "whole")
      }
      guard error.code == .corrupt else {
        return try report(
          .error, requirement, table: table, "\(what) cannot be read: \(reason)")
      }
      try reportDamage(table: table, "\(what) cannot be read: \(reason)")
    }
  }

  /// Reports damaged pages. A file with damaged pages must not be written to.
  func reportDamage(table: String? = nil, _ reason: String) throws(FieldpackError) {
    isDamaged = true
    try report(.error, .core(6), table: table, reason)
  }

  // MARK: Reading

  /// How many views may use the full time of one view.
  private static let patientViews = 3

  /// Runs SQL of the file's own views for a limited time.
  ///
  /// - Throws: an error that ``FieldpackError/isOverdue`` when the time is over.
  func limitingViews<R>(
    _ body: () throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R {
    guard !file.connection.hasTimeLimit else { return try body() }
    let clock = file.connection.clock
    let begin = clock.now
    defer { timeForViews -= clock.now - begin }
    return try file.limited("a view", to: max(.zero, min(patience, timeForViews)), body)
  }

  /// Whether the SQL names a view.
  private func namesView(_ sql: String) -> Bool {
    hasViews && TriggerText.words(sql).contains { table($0)?.isView == true }
  }

  func rows(
    _ sql: String, _ values: [SQLiteValue] = []
  ) throws(FieldpackError) -> [[SQLiteValue]] {
    guard namesView(sql) else { return try file.rows(sql, values) }
    return try limitingViews { () throws(FieldpackError) in try file.rows(sql, values) }
  }

  func integer(_ sql: String, _ values: [SQLiteValue] = []) throws(FieldpackError) -> Int64? {
    guard case .integer(let value)?? = try rows(sql, values).first?.first else { return nil }
    return value
  }

  /// Gives the rows of a result one by one. For views the time is limited, and so is the number of
  /// rows: the file must have room for them.
  func each(
    _ sql: String, _ values: [SQLiteValue] = [],
    _ body: ([SQLiteValue]) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    guard namesView(sql) else { return try run(sql, values, body) }
    var size = ResultSize()
    try limitingViews { () throws(FieldpackError) in
      try run(sql, values) { (row) throws(FieldpackError) in
        try size.add(row, of: file)
        try body(row)
      }
    }
  }

  private func run(
    _ sql: String, _ values: [SQLiteValue],
    _ body: ([SQLiteValue]) throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let statement = try file.prepare(sql, values, caching: false)
    while try statement.step() { try body(statement.row.values) }
  }

  private func readSchema() throws(FieldpackError) {
    try attempt(.core(6), "the schema") { () throws(FieldpackError) in
      try each("SELECT name, type, tbl_name, sql FROM sqlite_master") { row in
        let object = SchemaObject(
          name: row[0].textValue ?? "", type: row[1].textValue ?? "",
          table: row[2].textValue ?? "", sql: row[3].textValue ?? "")
        switch object.type {
        case "table", "view":
          tables[SQLName(object.name)] = object
          if object.isView { hasViews = true }
        case "trigger": triggers[SQLName(object.name)] = object
        default: break
        }
      }
    }
  }

  func table(_ name: String) -> SchemaObject? { tables[SQLName(name)] }

  func has(_ name: String) -> Bool { table(name) != nil }

  // MARK: Contents

  func takeContents(
    _ columns: [GPKGContents],
    _ row: (SystemRow<GPKGContents>) throws(FieldpackError) -> ContentsRow?
  ) throws(FieldpackError) {
    try gather(columns, row) { rows in
      contents = rows
      for (index, row) in rows.enumerated() where contentsIndexes[SQLName(row.table)] == nil {
        contentsIndexes[SQLName(row.table)] = index
      }
    }
  }

  func takeGeometryColumns(
    _ row: (SystemRow<GPKGGeometryColumns>) throws(FieldpackError) -> GeometryColumnRow?
  ) throws(FieldpackError) {
    try gather(GPKGGeometryColumns.columns, row) { rows in
      geometryColumns = rows
      for (index, row) in rows.enumerated() {
        geometryIndexes[SQLName(row.table), default: []].append(index)
      }
    }
  }

  /// Keeps rows for later comparison. Of a view that exceeds its limits no rows are kept.
  private func gather<Table: SystemTable, Row>(
    _ columns: [Table], _ row: (SystemRow<Table>) throws(FieldpackError) -> Row?,
    keep: ([Row]) -> Void
  ) throws(FieldpackError) {
    var rows: [Row] = []
    do throws(FieldpackError) {
      try each(of: columns) { (values) throws(FieldpackError) in
        if let taken = try row(values) { rows.append(taken) }
      }
    } catch {
      if error.code == .corrupt { keep(rows) }
      throw error
    }
    keep(rows)
  }

  /// The rows of `gpkg_contents` with one of the data types.
  func layers(_ dataTypes: String...) -> [ContentsRow] {
    (contents ?? []).filter { dataTypes.contains($0.dataType.lowercased()) }
  }

  /// The table's row of `gpkg_contents`.
  func contents(of table: String) -> ContentsRow? {
    contentsIndexes[SQLName(table)].flatMap { contents?[$0] }
  }

  /// The table's rows of `gpkg_geometry_columns`.
  func geometryColumns(of table: String) -> [GeometryColumnRow] {
    (geometryIndexes[SQLName(table)] ?? []).compactMap { geometryColumns?[$0] }
  }

  /// Whether the file does not define an SRS; `false` where the file's systems are not known.
  func lacksSystem(_ id: Int64?) -> Bool {
    guard let systems else { return false }
    return id.map { !systems.contains($0) } ?? true
  }

  /// Whether the file has parts of a GeoPackage, and so could be repaired.
  var isGeoPackage: Bool { has("gpkg_contents") || has("gpkg_geometry_columns") }

  /// The columns of a table or view, without the hidden ones of virtual tables; empty where none
  /// can be read.
  func columns(of name: String) throws(FieldpackError) -> [TableColumn] {
    if let known = knownColumns[SQLName(name)] { return known }
    var columns: [TableColumn] = []
    try attempt(.core(14), table: name, "its columns") { () throws(FieldpackError) in
      try each("PRAGMA table_xinfo(\(quoted(name)))") { row in
        if row[6].integerValue != 1 { columns.append(TableColumn(row)) }
      }
    }
    knownColumns[SQLName(name)] = columns
    return columns
  }

  func column(_ column: String, of name: String) throws(FieldpackError) -> TableColumn? {
    let wanted = SQLName(column)
    return try columns(of: name).first { SQLName($0.name) == wanted }
  }

  /// The name of the rowid: the INTEGER PRIMARY KEY, else one of SQLite's names that no column has;
  /// `nil` for views and tables without rowids.
  func rowID(of name: String) throws(FieldpackError) -> String? {
    guard let table = table(name), !table.isView else { return nil }
    let columns = try columns(of: name)
    if let index = TableReader.rowIDIndex(columns.map { ($0.type, $0.keyPosition > 0) }) {
      return quoted(columns[index].name)
    }
    return try TableReader(file: file, table: table.name, isView: false)
      .rowID(besides: columns.map(\.name))
  }

  /// SQL for the values of a column without NULL. With a NULL among them `NOT IN` is never true.
  func values(of column: String, in table: String) throws(FieldpackError) -> String {
    let select = "SELECT \(quoted(column)) FROM \(quoted(table))"
    // A plain SELECT of the rowid lets SQLite look each row up instead of collecting the values
    // first.
    let isRowID = try rowID(of: table).map { SQLName($0) } == SQLName(quoted(column))
    return isRowID ? "(\(select))" : "(\(select) WHERE \(quoted(column)) NOT NULL)"
  }

  // MARK: Extensions

  private func readRegistrations() throws(FieldpackError) {
    let table = GPKGExtensions.table
    try attempt(.core(58), table: table, "the table") { () throws(FieldpackError) in
      guard try hasColumns(GPKGExtensions.columns) else { return }
      var found = Registrations()
      try each(of: [GPKGExtensions.name, .tableName, .columnName]) { row in
        found.add(
          row[.name].textValue ?? "", row[.tableName].textValue, row[.columnName].textValue)
      }
      registrations = found
    }
  }

  /// Whether `gpkg_extensions` names this extension, for a table and column if given. Where the
  /// table exists and cannot be read, every extension counts as registered.
  func isRegistered(_ name: String, table: String? = nil, column: String? = nil) -> Bool {
    registrations?.has(name, table, column) ?? has("gpkg_extensions")
  }

  /// Whether a non-standard extension is registered for the column.
  func hasOwnExtension(table: String, column: String) -> Bool {
    registrations?.has(nil, table, column) ?? false
  }

  /// Whether `gpkg_extensions` exists with its required columns.
  var isExtensionsReadable: Bool { registrations != nil }
}

extension FieldpackError {
  /// SQLite's message where the file is at fault; `nil` for errors of the environment.
  var damage: String? {
    let cause = underlying as? SQLiteError
    // 18 is SQLITE_TOOBIG: a value exceeds the limit for foreign files.
    if cause?.code == 18 { return "a value is too large" }
    switch code {
    case .corrupt, .invalidData, .constraint, .unsupported: return cause?.message ?? message
    default: return nil
    }
  }
}
