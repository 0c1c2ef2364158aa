import CSQLite

/// Decides what the SQL of a connection may do.
///
/// Every authorizer refuses `fts3_tokenizer` and `load_extension`, because they run code that SQL
/// names.
public enum Authorizer: Sendable {
  /// Queries only: no write, no ATTACH or DETACH, and no PRAGMA except those that only report.
  case readOnlySQL
  /// The function's decision; `true` allows. It is called while statements are prepared, also for
  /// actions of SQLite's own modules, such as the R-tree's on its shadow tables.
  case custom(@Sendable (AuthorizedAction) -> Bool)
  /// The function's decision about changes of tables and about actions that have a source; all
  /// other actions are allowed.
  case changesAndTriggers(@Sendable (AuthorizedAction) -> Bool)

  /// Whether the authorizer allows the action.
  public func permits(_ action: AuthorizedAction) -> Bool {
    switch self {
    case .readOnlySQL: Self.isReading(action)
    case .custom(let decide): decide(action)
    case .changesAndTriggers(let decide):
      action.source == nil && !action.changesTable || decide(action)
    }
  }

  private static func isReading(_ action: AuthorizedAction) -> Bool {
    switch action.kind {
    case .select, .read, .function, .recursive, .transaction, .savepoint: true
    case .pragma: isTelling(pragma: action.first ?? "", hasArgument: action.second != nil)
    case .insert, .update, .delete: isModuleWork(action)
    default: false
    }
  }

  /// Whether an action is the work of one of SQLite's modules: the R-tree prepares its writing
  /// statements when it is first read, and a table-valued function asks to update the schema when
  /// it is first used. A user's statement that writes there is still refused, because it is not
  /// read-only.
  private static func isModuleWork(_ action: AuthorizedAction) -> Bool {
    guard let table = action.first else { return false }
    if action.kind == .update { return table == "sqlite_master" }
    return ["_node", "_rowid", "_parent"].contains { table.hasSuffix($0) }
  }

  private static func isTelling(pragma name: String, hasArgument: Bool) -> Bool {
    let name = name.lowercased()
    return pragmasThatTell.contains(name) || (!hasArgument && pragmasThatAsk.contains(name))
  }

  /// PRAGMAs that only report. Their argument is the name of a table or an index, or a count.
  private static let pragmasThatTell: Set<String> = [
    "foreign_key_check", "foreign_key_list", "index_info", "index_list", "index_xinfo",
    "integrity_check", "quick_check", "table_info", "table_list", "table_xinfo",
  ]

  /// PRAGMAs that report without an argument and set something with one.
  private static let pragmasThatAsk: Set<String> = [
    "application_id", "auto_vacuum", "cache_size", "collation_list", "compile_options",
    "data_version", "database_list", "encoding", "foreign_keys", "freelist_count",
    "function_list", "journal_mode", "max_page_count", "module_list", "page_count", "page_size",
    "pragma_list", "query_only", "schema_version", "synchronous", "temp_store", "user_version",
  ]
}

/// One thing a statement asks to do.
public struct AuthorizedAction: Sendable, Hashable {
  /// The kinds of actions, with SQLite's codes.
  public enum Kind: Int32, Sendable {
    case createIndex = 1
    case createTable, createTempIndex, createTempTable, createTempTrigger, createTempView
    case createTrigger, createView, delete, dropIndex, dropTable, dropTempIndex, dropTempTable
    case dropTempTrigger, dropTempView, dropTrigger, dropView, insert, pragma, read, select
    case transaction, update, attach, detach, alterTable, reindex, analyze, createVirtualTable
    case dropVirtualTable, function, savepoint, recursive
  }

  public let kind: Kind
  /// The action's first argument: the table for most kinds, the name for a PRAGMA.
  public let first: String?
  /// The action's second argument: the column for a read or an update, the argument for a PRAGMA,
  /// the name for a function.
  public let second: String?
  public let database: String?
  /// The innermost trigger, view or named CTE that causes the action; `nil` for the statement
  /// itself.
  public let source: String?

  /// Whether rows of a table are inserted, updated or deleted.
  public var changesTable: Bool { kind == .insert || kind == .update || kind == .delete }
}

extension Connection {
  /// Installs an authorizer, or removes it with `nil`; statements prepared before are checked
  /// again.
  /// - Returns: the authorizer that was installed before.
  @discardableResult
  public func setAuthorizer(_ authorizer: Authorizer?) -> Authorizer? {
    let before = self.authorizer?.authorizer
    self.authorizer = authorizer.map(AuthorizerBox.init)
    cache.removeAll()
    installAuthorizer()
    return before
  }

  func installAuthorizer() {
    let context = authorizer.map { Unmanaged.passUnretained($0).toOpaque() }
    sqlite3_set_authorizer(handle, context == nil ? nil : authorizerCallback, context)
  }

  /// Removes the authorizer while `body` prepares statements of our own.
  package func withoutAuthorizer<R>(_ body: () throws(SQLiteError) -> R) throws(SQLiteError) -> R {
    sqlite3_set_authorizer(handle, nil, nil)
    defer { installAuthorizer() }
    return try body()
  }
}

/// An object whose address SQLite keeps while the authorizer is installed.
final class AuthorizerBox {
  let authorizer: Authorizer
  /// Whether the authorizer is only asked about changes of tables and actions with a source.
  let isAskedForChangesAndTriggers: Bool

  init(_ authorizer: Authorizer) {
    self.authorizer = authorizer
    isAskedForChangesAndTriggers =
      if case .changesAndTriggers = authorizer { true } else { false }
  }

  var refusesWriting: Bool {
    if case .readOnlySQL = authorizer { true } else { false }
  }
}

private let authorizerCallback:
  @convention(c) (
    UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
    UnsafePointer<CChar>?, UnsafePointer<CChar>?
  ) -> Int32 = { context, code, first, second, database, source in
    guard let context else { return SQLITE_DENY }
    let box = Unmanaged<AuthorizerBox>.fromOpaque(context).takeUnretainedValue()
    if code == SQLITE_FUNCTION, runsForeignCode(second) { return SQLITE_DENY }
    // Returning here for other actions spares making a `String` of each text.
    if source == nil, box.isAskedForChangesAndTriggers, code != SQLITE_INSERT,
      code != SQLITE_UPDATE, code != SQLITE_DELETE
    {
      return SQLITE_OK
    }
    guard let kind = AuthorizedAction.Kind(rawValue: code) else { return SQLITE_DENY }
    let action = AuthorizedAction(
      kind: kind, first: first.map { String(cString: $0) },
      second: second.map { String(cString: $0) }, database: database.map { String(cString: $0) },
      source: source.map { String(cString: $0) })
    return box.authorizer.permits(action) ? SQLITE_OK : SQLITE_DENY
  }

/// Whether a function runs code at an address, or in a library, that its arguments name.
///
/// The connection's flags turn both functions off, but still allow an address that is bound as a
/// parameter.
private func runsForeignCode(_ function: UnsafePointer<CChar>?) -> Bool {
  sqlite3_stricmp(function, "fts3_tokenizer") == 0
    || sqlite3_stricmp(function, "load_extension") == 0
}
