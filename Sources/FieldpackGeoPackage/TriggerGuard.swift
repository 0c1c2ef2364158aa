import FieldpackCore
import FieldpackSQLite

/// Keeps the triggers and views of a file to what a GeoPackage needs of them.
///
/// What a trigger does, by itself or through a view, is held to keeping an index; a view that a
/// statement reads may call every harmless function, and the statement's own CTEs are free. Asked
/// while statements are prepared, so it costs nothing a row.
final class TriggerGuard: Sendable {
  /// What was refused last.
  private let refused = Locked<AuthorizedAction?>(nil)
  /// Before anything is known of a schema, all is taken for a trigger's.
  private let known = Locked<Knowledge?>(nil)

  private struct Knowledge {
    var schemaVersion: Int64
    var reach: SchemaReach
    /// The functions that SQLite lets views of files call that are not trusted.
    var harmless: Set<String>
  }

  func watch(_ connection: Connection) {
    // The connection's companion holds this, and it the closure.
    connection.setAuthorizer(.insideTriggers { [self] in permits($0) })
  }

  /// Reads the schema's triggers and views, where it has changed. To be called in every transaction
  /// that writes, before its first change.
  func learn(_ connection: Connection) throws(SQLiteError) {
    let version = try connection.schemaVersion
    guard known.withLock({ $0?.schemaVersion }) != version else { return }
    known.withLock { $0 = nil }
    // What is written otherwise than SQLite writes tables and indexes may be anything.
    let statement = try connection.prepare(
      "SELECT name, sql FROM sqlite_master WHERE sql NOT GLOB 'CREATE TABLE *' "
        + "AND sql NOT GLOB 'CREATE VIRTUAL TABLE *' AND sql NOT GLOB 'CREATE INDEX *' "
        + "AND sql NOT GLOB 'CREATE UNIQUE INDEX *'")
    defer { statement.reset() }
    var rows: [(name: String, sql: String)] = []
    while try statement.step() {
      rows.append((statement.string(0) ?? "", statement.string(1) ?? ""))
    }
    let reach = SchemaReach(rows)
    let knowledge = Knowledge(
      schemaVersion: version, reach: reach,
      harmless: reach.views.isEmpty ? [] : try Self.harmlessFunctions(connection))
    known.withLock { $0 = knowledge }
  }

  /// To be called when functions were added.
  func forget() { known.withLock { $0 = nil } }

  private static func harmlessFunctions(
    _ connection: Connection
  ) throws(SQLiteError) -> Set<String> {
    // SQLITE_INNOCUOUS.
    let statement = try connection.prepare(
      "SELECT lower(name) FROM pragma_function_list GROUP BY 1 HAVING min(flags & 0x200000) > 0")
    defer { statement.reset() }
    var names: Set<String> = []
    while try statement.step() { names.insert(statement.string(0) ?? "") }
    return names
  }

  /// Whether whoever asks may do that.
  func permits(_ action: AuthorizedAction) -> Bool {
    guard let source = action.source else { return true }
    let isPermitted = known.withLock { known in
      guard let known, !known.reach.isUnclear, !known.reach.triggers.hold(source) else {
        return Self.keepsIndexes(action)
      }
      guard known.reach.views.hold(source), action.kind == .function else { return true }
      return known.harmless.contains((action.second ?? "").lowercased())
    }
    if !isPermitted { refused.withLock { $0 = action } }
    return isPermitted
  }

  /// Whether a trigger may do that.
  private static func keepsIndexes(_ action: AuthorizedAction) -> Bool {
    switch action.kind {
    case .select, .read, .recursive: true
    case .insert, .update, .delete: isKept(action.first ?? "")
    case .function: functions.contains((action.second ?? "").lowercased())
    default: false
    }
  }

  /// The error for a statement that was not authorized because of a trigger; `nil` for others.
  func refusal(_ error: SQLiteError) -> FieldpackError? {
    let action = refused.withLock { action in
      defer { action = nil }
      return action
    }
    // A function that is not permitted fails as one that is misused, so the code does not tell.
    guard let action, error.message.hasPrefix("not authorized") else { return nil }
    return FieldpackError(
      .permission,
      "the file's '\(action.source ?? "")' \(Self.deed(action)), which is more than keeping an index. "
        + #"Try: a store config with "options": {"triggers": true}"#, underlying: error)
  }

  private static func deed(_ action: AuthorizedAction) -> String {
    switch action.kind {
    case .insert, .update, .delete: "changes the table '\(action.first ?? "")'"
    case .function: "calls \(action.second ?? "")()"
    default: "does more than change rows"
    }
  }

  /// R-trees with their shadow tables, and the tables of the standard and of GDAL.
  private static func isKept(_ table: String) -> Bool {
    let name = table.lowercased()
    return name.hasPrefix("rtree_") || name.hasPrefix("gpkg_")
  }

  private static let functions: Set = [
    "st_minx", "st_maxx", "st_miny", "st_maxy", "st_isempty",
    "abs", "coalesce", "count", "date", "datetime", "glob", "ifnull", "iif", "instr", "julianday",
    "length", "like", "lower", "ltrim", "max", "min", "nullif", "round", "rtrim", "strftime",
    "substr", "substring", "sum", "time", "total", "trim", "typeof", "unicode", "upper",
  ]
}
