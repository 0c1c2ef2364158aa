import FieldpackCore
import FieldpackSQLite

/// The change log `t_audit` of a table `t`, which SpatialConnect and GeoGig keep by triggers. It
/// follows the table's changes.
struct AuditLog {
  let file: GeoPackageSession
  private var table: String
  private let triggers: [AuditTrigger]
  /// The log, where this version made it; all others are older.
  private let own: EditLog?

  /// The table in which GeoGig lists the logs of a file.
  private static let registry = "geogig_audited_tables"

  /// - Returns: `nil` where the table has no log whose triggers are known.
  init?(of table: String, in file: GeoPackageSession) throws(FieldpackError) {
    (self.file, self.table) = (file, table)
    own = try EditLog(of: table, in: file)
    guard own == nil else {
      triggers = []
      return
    }
    var found: [AuditTrigger] = []
    for name in AuditTrigger.names(on: table) {
      let rows = try file.rows(
        "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND lower(name) = lower(?)",
        [.text(name)])
      guard let sql = rows.first?.first?.textValue,
        let trigger = AuditTrigger(TriggerTokens(sql), called: name, on: table)
      else { continue }
      found.append(trigger)
    }
    guard !found.isEmpty else { return nil }
    triggers = found
  }

  private var log: String { "\(table)_audit" }

  private func dropTriggers() throws(FieldpackError) {
    for name in AuditTrigger.names(on: table) {
      try file.execute("DROP TRIGGER IF EXISTS \(quoted(name))")
    }
  }

  private func createTriggers(
    _ renamed: (SQLName) -> SQLName? = { $0 }
  ) throws(FieldpackError) {
    for trigger in triggers { try file.execute(trigger.sql(on: table, renamed)) }
  }

  /// Runs `body` without the triggers.
  ///
  /// - Parameter renamed: a column's name after `body`; `nil` where the column is gone.
  func paused(
    _ renamed: (SQLName) -> SQLName?, _ body: () throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    if let own { return try own.paused(body) }
    try dropTriggers()
    try body()
    try createTriggers(renamed)
  }

  /// Follows the table, which `body` renames.
  mutating func rename(
    to name: String, _ body: () throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    if let own { return try own.rename(to: name, body) }
    try dropTriggers()
    try body()
    let old = log
    table = name
    guard try !file.hasTable(log) || SQLName(old) == SQLName(log) else {
      throw FieldpackError(
        .cannotCreate, "the change log '\(old)' cannot follow: there is a table '\(log)' already",
        location: .init(store: file.store, layer: LayerID(name)))
    }
    try LayerChange(file: file).renameTable(old, to: log)
    try LayerChange(file: file).renameInCatalogue(old, to: log)
    try createTriggers()
    guard try file.hasTable(Self.registry) else { return }
    try file.execute(
      "UPDATE \(Self.registry) SET table_name = ?, audit_table = ? WHERE lower(audit_table) = "
        + "lower(?)", [.text(name), .text(log), .text(old)])
  }

  /// Whether the log has a column of that name.
  func has(_ column: String) throws(FieldpackError) -> Bool {
    try file.rows("PRAGMA table_info(\(quoted(log)))").contains {
      SQLName($0[1].textValue ?? "") == SQLName(column)
    }
  }

  func renameColumn(_ column: String, to name: String) throws(FieldpackError) {
    if let own { return try own.renameColumn(column, to: name) }
    guard try has(column) else { return }
    try file.execute(
      "ALTER TABLE \(quoted(log)) RENAME COLUMN \(quoted(column)) TO \(quoted(name))")
  }

  /// Logs the values of columns that the table has from now on.
  func add(_ columns: [ColumnDefinition]) throws(FieldpackError) {
    if let own { return try own.refresh() }
    try dropTriggers()
    for column in columns where try !has(column.name) {
      try file.execute(
        "ALTER TABLE \(quoted(log)) ADD COLUMN \(quoted(column.name)) \(column.type.sql)")
    }
    for trigger in triggers {
      let whole = columns.reduce(trigger) { $0.copying(SQLName($1.name)) }
      try file.execute(whole.sql(on: table) { $0 })
    }
  }

  /// Removes the log with its table.
  func remove() throws(FieldpackError) {
    if let own { return try own.remove() }
    try dropTriggers()
    let change = LayerChange(file: file)
    if let layer = try file.catalogue().layer(LayerID(log)) {
      try change.remove(layer)
    } else {
      try change.forget(log)
      try file.drop(log)
    }
    guard try file.hasTable(Self.registry) else { return }
    try file.execute(
      "DELETE FROM \(Self.registry) WHERE lower(audit_table) = lower(?)", [.text(log)])
  }
}
