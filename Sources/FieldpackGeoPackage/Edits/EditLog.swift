package import FieldpackCore
import FieldpackSQLite

/// The change log of a table: who made which edit, and what the row was then.
///
/// Triggers write it, so that edits of every program are in it.
package final class EditLog {
  let file: GeoPackageSession
  /// The UUID that copies of the file share: their features have common identities.
  package let origin: String
  let shape: LogShape
  /// What is selected of a row of the log, the columns of the table last.
  let selection: String
  /// The same without the columns of the table.
  let ownSelection: String
  /// The columns that each edit has the values of.
  package var columns: [String] { shape.columns }
  /// The positions in ``columns`` of all but the id, which differs from file to file.
  package let valueColumns: [Int]
  package var layer: LayerID { LayerID(shape.table) }
  /// Whether the table has the content of media, which the log leaves out.
  package let lacksContent: Bool
  /// The columns that hold ids of features of other layers: those of a relation's links.
  package let references: [String: LayerID]
  let statements: KeptStatements<Use>
  // A value of this type is used in one transaction only, so that these are looked up once.
  /// Whether the table of identities has any of this log; `nil` before the first look.
  var knownIdentities: Bool?
  /// The table that the log is of; `nil` before the first edit of another file is written to it.
  var target: LayerTable?

  /// What the kept statements of a log do.
  enum Use: Hashable {
    case last, number, head
    case identity, identityTold, insertion, placeTold, end, endTold
    case changes, row, lastNumber, stamp, markSent
    case insert(withContent: Bool, withID: Bool)
    case update([Int], withContent: Bool)
  }

  /// - Returns: `nil` for a table that is not logged.
  package init?(of table: String, in file: GeoPackageSession) throws(FieldpackError) {
    guard try LogTables(file: file).exist else { return nil }
    let rows = try file.rows(
      "SELECT origin FROM \(LogTables.registry) WHERE table_name = ?", [.text(table)])
    guard let origin = rows.first?.first?.textValue,
      let shape = try LogShape(of: table, in: file)
    else { return nil }
    (self.file, self.origin, self.shape) = (file, origin, shape)
    valueColumns = shape.columns.indices.filter { $0 != shape.idColumn }
    let own: [LogShape.Own] = [
      .number, .operation, .time, .sent, .received, .edit, .author, .device,
    ]
    let names = own.map { shape.own($0) } + [shape.feature]
    ownSelection = names.sqlList
    selection = (names + shape.columns.map { quoted($0) }).sqlList
    lacksContent = try RelationTables.contentColumn(of: table, in: file) != nil
    references = try RelationTables(file: file).references(in: table)
    statements = KeptStatements(of: file, in: LayerID(table))
  }

  /// Begins to log a table. One that is logged stays as it is, but for what is missing.
  ///
  /// - Throws: `.cannotCreate` where another table has the log's name, `.unsupported` for a view.
  @discardableResult
  package static func enable(
    _ name: String, in file: GeoPackageSession
  ) throws(FieldpackError) -> EditLog {
    if let log = try EditLog(of: name, in: file) {
      if try !log.isCurrent() { try log.refresh() }
      return log
    }
    guard let shape = try LogShape(of: name, in: file) else {
      throw FieldpackError(
        .unsupported, "layer '\(name)' is a view, or has no ids, and cannot be logged",
        location: .init(store: file.store, layer: LayerID(name)))
    }
    try LogTables(file: file).create()
    if try file.hasTable(shape.log) { try OlderLog(of: shape, in: file).upgrade() }
    try file.execute(
      "INSERT INTO \(LogTables.registry) (table_name, origin) VALUES (?, \(LogShape.newID(of: "random()")))",
      [.text(name)])
    guard let log = try EditLog(of: name, in: file) else {
      throw FieldpackError(.corrupt, "the file forgets what is written to it")
    }
    try log.refresh()
    return log
  }

  /// Logs what belongs to the features of a logged table: its media, and the links of its relations
  /// to logged tables.
  static func enableRelations(
    of table: String, in file: GeoPackageSession
  ) throws(FieldpackError) {
    for relation in try RelationTables(file: file).all() {
      let ends = [relation.base.rawValue, relation.related.rawValue]
      guard ends.contains(where: { SQLName($0) == SQLName(table) }) else { continue }
      if relation.kind == .media, SQLName(ends[0]) == SQLName(table) {
        try enable(ends[1], in: file)
      }
      guard try EditLog(of: ends[0], in: file) != nil, try EditLog(of: ends[1], in: file) != nil,
        try LogShape(of: relation.mapping, in: file)?.hasIDColumn == true
      else { continue }
      try enable(relation.mapping, in: file)
    }
  }

  /// Whether the triggers, the table and the indexes are those of the table as it is now.
  package func isCurrent() throws(FieldpackError) -> Bool {
    guard try file.hasTable(shape.log), try triggerTexts() == shape.triggers.map(\.sql) else {
      return false
    }
    for index in shape.indexes {
      let found = try file.integer(
        "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = ?", [.text(index.name)])
      if found == nil { return false }
    }
    return true
  }

  private func triggerTexts() throws(FieldpackError) -> [String?] {
    var texts: [String?] = []
    for name in LogShape.triggerNames(on: shape.table) {
      let rows = try file.rows(
        "SELECT sql FROM sqlite_master WHERE type = 'trigger' AND lower(name) = lower(?)",
        [.text(name)])
      texts.append(rows.first?.first?.textValue)
    }
    return texts
  }

  // MARK: Following the table

  func dropTriggers() throws(FieldpackError) {
    for name in LogShape.triggerNames(on: shape.table) {
      try file.execute("DROP TRIGGER IF EXISTS \(quoted(name))")
    }
  }

  /// Makes the log fit the table as it is: its table, columns, indexes and triggers.
  package func refresh() throws(FieldpackError) {
    guard let now = try LogShape(of: shape.table, in: file) else { return }
    let before = try shapeBefore()
    try dropTriggers()
    let types = try now.types(in: file)
    if try !file.hasTable(now.log) {
      try file.execute(now.tableSQL(types))
      try LayerCreation(file: file).registerExtension(
        LogTables.registry, table: now.log, column: nil, scope: "read-write")
    } else {
      try moveOwnColumns(from: before ?? now, to: now)
      var known = Set(try columnNames())
      for (column, type) in zip(now.columns, types) where known.insert(SQLName(column)).inserted {
        try add(column, type, now)
      }
    }
    for index in now.indexes { try file.execute(index.sql) }
    for trigger in now.triggers { try file.execute(trigger.sql) }
    try file.learnTriggers()
  }

  /// Adds a column of the table to the log. Rows of before read as those of the table do, by its default.
  private func add(
    _ column: String, _ type: String, _ now: LogShape
  ) throws(FieldpackError) {
    let sql = "ALTER TABLE \(quoted(now.log)) ADD COLUMN \(quoted(column)) \(type)"
    let value = try TableReader(file: file, table: now.table, isView: false).columns([])
      .first { SQLName($0.definition.name) == SQLName(column) }?.definition.defaultSQL
    guard let value else { return try file.execute(sql) }
    do throws(FieldpackError) {
      try file.execute("\(sql) DEFAULT (\(value))")
    } catch  where error.code == .invalidData || error.code == .invalidArgument {
      // SQLite adds no column with a default that differs from row to row.
      try file.execute(sql)
    }
  }

  /// The shape that the triggers were made from; `nil` where they are gone.
  private func shapeBefore() throws(FieldpackError) -> LogShape? {
    for (name, text) in zip(LogShape.triggerNames(on: shape.table), try triggerTexts()) {
      if let text, let shape = LogShape(TriggerTokens(text), called: name, on: shape.table) {
        return shape
      }
    }
    return nil
  }

  /// Renames own columns of the log where the table has got columns of the same names.
  private func moveOwnColumns(from before: LogShape, to now: LogShape) throws(FieldpackError) {
    let known = Set(try columnNames())
    for column in now.ownColumns {
      let (old, new) = (before.name(of: column), now.name(of: column))
      if old != new, known.contains(SQLName(old)), !known.contains(SQLName(new)) {
        try file.execute(
          "ALTER TABLE \(quoted(now.log)) RENAME COLUMN \(quoted(old)) TO \(quoted(new))")
      } else if !known.contains(SQLName(new)) {
        try file.execute(
          "ALTER TABLE \(quoted(now.log)) ADD COLUMN \(quoted(new)) \(column.type)")
      }
    }
  }

  /// Whether the log has a column for each of the table's.
  func hasAllColumns() throws(FieldpackError) -> Bool {
    let known = Set(try columnNames())
    let own = shape.ownColumns.map { shape.name(of: $0) }
    return (own + columns).allSatisfy { known.contains(SQLName($0)) }
  }

  /// The names of the columns that the table of the log has.
  private func columnNames() throws(FieldpackError) -> [SQLName] {
    try file.rows("PRAGMA table_info(\(quoted(shape.log)))").map { SQLName($0[1].textValue ?? "") }
  }

  /// Runs `body`, which changes the columns of the table, and fits the log to it.
  func paused(_ body: () throws(FieldpackError) -> Void) throws(FieldpackError) {
    let before = try shapeBefore()
    try dropTriggers()
    try body()
    guard let log = try EditLog(of: shape.table, in: file) else { return }
    if let now = try LogShape(of: shape.table, in: file), let before {
      try log.moveOwnColumns(from: before, to: now)
    }
    try log.refresh()
  }

  /// Follows the table, which `body` renames.
  func rename(
    to name: String, _ body: () throws(FieldpackError) -> Void
  ) throws(FieldpackError) {
    let log = "\(name)_audit"
    try dropTriggers()
    for index in shape.indexes { try file.execute("DROP INDEX IF EXISTS \(quoted(index.name))") }
    try body()
    guard try !file.hasTable(log) || SQLName(shape.log) == SQLName(log) else {
      throw FieldpackError(
        .cannotCreate,
        "the change log '\(shape.log)' cannot follow: there is a table '\(log)' already",
        location: .init(store: file.store, layer: LayerID(name)))
    }
    let change = LayerChange(file: file)
    try change.renameTable(shape.log, to: log)
    try change.renameInCatalogue(shape.log, to: log)
    try change.renameInCatalogue(shape.table, to: name)
    try EditLog(of: name, in: file)?.refresh()
  }

  func renameColumn(_ column: String, to name: String) throws(FieldpackError) {
    let known = try columnNames()
    guard known.contains(SQLName(column)) else { return }
    guard SQLName(column) == SQLName(name) || !known.contains(SQLName(name)) else {
      // The table had a column of that name before.
      return try file.execute(
        "UPDATE \(quoted(shape.log)) SET \(quoted(name)) = \(quoted(column)) "
          + "WHERE \(quoted(column)) IS NOT NULL")
    }
    try file.execute(
      "ALTER TABLE \(quoted(shape.log)) RENAME COLUMN \(quoted(column)) TO \(quoted(name))")
  }

  /// Logs all rows as deleted, before the table is dropped.
  func logRemoval() throws(FieldpackError) {
    try file.execute(shape.removalSQL)
  }

  /// Ends the log, and removes what it has.
  package func remove() throws(FieldpackError) {
    try dropTriggers()
    try LayerChange(file: file).forget(shape.log)
    try file.drop(shape.log)
    for table in LogTables.naming where try file.hasTable(table) {
      try file.execute("DELETE FROM \(table) WHERE table_name = ?", [.text(shape.table)])
    }
  }
}

extension LogShape {
  /// The shape for a table as it is; `nil` for what is no table with ids.
  init?(of table: String, in file: GeoPackageSession) throws(FieldpackError) {
    guard try file.kind(of: table) == "table" else { return nil }
    let reader = TableReader(file: file, table: table, isView: false)
    var columns = try reader.columns([]).filter { !$0.definition.isGenerated }
    let all = columns
    guard let id = try reader.takeID(from: &columns), let sql = id.sql else { return nil }
    let content = try RelationTables.contentColumn(of: table, in: file).map { SQLName($0) }
    let names = all.map(\.definition.name).filter { SQLName($0) != content }
    self.init(table: table, id: id.name ?? sql, hasIDColumn: id.name != nil, columns: names)
  }

  /// The declared types of ``columns``.
  func types(in file: GeoPackageSession) throws(FieldpackError) -> [String] {
    let columns = try TableReader(file: file, table: table, isView: false).columns([])
    return self.columns.map { name in
      columns.first { SQLName($0.definition.name) == SQLName(name) }?.declared ?? ""
    }
  }
}
