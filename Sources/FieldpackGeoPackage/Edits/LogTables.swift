package import FieldpackCore
import FieldpackSQLite

/// The tables that all change logs of a file share.
package struct LogTables {
  /// The tables that are logged, each with the UUID of the log.
  static let registry = "fieldpack_log"
  /// Who edits, in one row, for the length of a transaction.
  static let editor = "fieldpack_editor"
  /// Identities of features that cannot be derived from the log.
  static let identities = "fieldpack_identity"

  /// The tables that name logged tables in a column `table_name`; the last two are those of the
  /// synchronisation.
  static let naming = [registry, identities, "fieldpack_sync_pull", "fieldpack_sync_server"]

  let file: GeoPackageSession

  /// Whether the file has logs. A view of that name does not count.
  var exist: Bool {
    get throws(FieldpackError) { try file.kind(of: Self.registry) == "table" }
  }

  package init(file: GeoPackageSession) { self.file = file }

  func create() throws(FieldpackError) {
    let tables = [
      (
        Self.registry,
        "(table_name TEXT PRIMARY KEY COLLATE NOCASE NOT NULL, origin TEXT NOT NULL)"
      ),
      (Self.editor, "(id INTEGER PRIMARY KEY CHECK (id = 1), author TEXT, device TEXT)"),
      (
        Self.identities,
        "(table_name TEXT COLLATE NOCASE NOT NULL, feature INTEGER NOT NULL, "
          + "since INTEGER NOT NULL, identity TEXT NOT NULL, "
          + "PRIMARY KEY (table_name, feature, since)) WITHOUT ROWID"
      ),
    ]
    for (name, columns) in tables where try !file.hasTable(name) {
      try file.execute("CREATE TABLE \(name) \(columns)")
      try LayerCreation(file: file).registerExtension(
        Self.registry, table: name, column: nil, scope: "read-write")
    }
    // Without it GDAL shows all tables of a file that has no layer without geometry.
    try LayerCreation(file: file).registerExtension(
      "gdal_aspatial", table: nil, column: nil, scope: "read-write")
    try file.execute(
      "CREATE INDEX IF NOT EXISTS \(Self.identities)_identity ON \(Self.identities) "
        + "(table_name, identity)")
    try file.execute("INSERT OR IGNORE INTO \(Self.editor) (id) VALUES (1)")
  }

  /// Writes who edits until the end of the transaction.
  func begin(_ editor: Editor) throws(FieldpackError) {
    let device = editor.device ?? editor.keptDevice?.find(file.logger)
    try file.execute(
      "INSERT OR REPLACE INTO \(Self.editor) (id, author, device) VALUES (1, ?, ?)",
      [editor.author.map(SQLiteValue.text) ?? .null, device.map(SQLiteValue.text) ?? .null])
  }

  /// Removes author and device, so that edits of other programs do not get them.
  func end() throws(FieldpackError) {
    try file.execute("UPDATE \(Self.editor) SET author = NULL, device = NULL")
  }

  /// The tables that are logged, as the registry has them.
  package func names() throws(FieldpackError) -> [String] {
    guard try exist else { return [] }
    return try file.rows("SELECT table_name FROM \(Self.registry) ORDER BY rowid")
      .compactMap { $0[0].textValue }
  }

  /// Renames a log after another program has renamed its table. SQLite keeps the triggers with the
  /// table, under their old names.
  ///
  /// - Returns: the new name; `nil` where the table is gone, or has a log of its own.
  @discardableResult
  package func follow(_ old: String) throws(FieldpackError) -> String? {
    let triggers = LogShape.triggerNames(on: old)
    let rows = try file.rows(
      "SELECT tbl_name FROM sqlite_master WHERE type = 'trigger' AND lower(name) = lower(?)",
      [.text(triggers[1])])
    let (from, change) = ("\(old)_audit", LayerChange(file: file))
    guard let name = rows.first?.first?.textValue, SQLName(name) != SQLName(old),
      try file.hasTable(from), try !file.hasTable("\(name)_audit")
    else { return nil }
    for trigger in triggers { try file.execute("DROP TRIGGER IF EXISTS \(quoted(trigger))") }
    for index in LogShape.indexNames(on: old) {
      try file.execute("DROP INDEX IF EXISTS \(quoted(index))")
    }
    try change.renameTable(from, to: "\(name)_audit")
    try change.renameInCatalogue(from, to: "\(name)_audit")
    for table in Self.naming where try file.hasTable(table) {
      try file.execute(
        "UPDATE \(table) SET table_name = ? WHERE table_name = ?", [.text(name), .text(old)])
    }
    try EditLog(of: name, in: file)?.refresh()
    return name
  }

  /// Brings the logs up to date whose tables other programs have changed.
  ///
  /// - Returns: the tables whose logs missed edits, or may have.
  func refresh() throws(FieldpackError) -> [String] {
    var stale: [String] = []
    for name in try names() {
      if try !file.hasTable(name) { try follow(name) }
      guard let log = try EditLog(of: name, in: file), try !log.isCurrent() else { continue }
      try log.refresh()
      stale.append(name)
    }
    return stale
  }
}
