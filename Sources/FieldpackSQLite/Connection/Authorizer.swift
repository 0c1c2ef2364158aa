import CSQLite

/// Who decides what the SQL of a connection may do.
///
/// `fts3_tokenizer` and `load_extension`, which run code that SQL names, are refused by all of them.
public enum Authorizer: Sendable {
  /// Queries only: no write, no ATTACH or DETACH, no PRAGMA beyond those that only tell.
  case readOnlySQL
  /// `true` allows. Asked while statements are prepared; an action of SQLite's own modules (the
  /// R-tree's on its shadow tables) is asked for too.
  case custom(@Sendable (AuthorizedAction) -> Bool)
  /// As `custom`, for changes of tables and for actions that have a source; all else is allowed.
  case changesAndTriggers(@Sendable (AuthorizedAction) -> Bool)

  /// Whether the action may be done.
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

  /// The R-tree prepares its writing statements when it is first read, and a table-valued function
  /// asks to update the schema when it is first used. What a user wants to write there is refused
  /// as a statement that is not read-only.
  private static func isModuleWork(_ action: AuthorizedAction) -> Bool {
    guard let table = action.first else { return false }
    if action.kind == .update { return table == "sqlite_master" }
    return ["_node", "_rowid", "_parent"].contains { table.hasSuffix($0) }
  }

  private static func isTelling(pragma name: String, hasArgument: Bool) -> Bool {
    let name = name.lowercased()
    return pragmasThatTell.contains(name) || (!hasArgument && pragmasThatAsk.contains(name))
  }

  /// These take the name of a table or an index, or a count.
  private static let pragmasThatTell: Set<String> = [
    "foreign_key_check", "foreign_key_list", "index_info", "index_list", "index_xinfo",
    "integrity_check", "quick_check", "table_info", "table_list", "table_xinfo",
  ]

  /// These set something when they have an argument.
  private static let pragmasThatAsk: Set<String> = [
    "application_id", "auto_vacuum", "cache_size", "collation_list", "compile_options",
    "data_version", "database_list", "encoding", "foreign_keys", "freelist_count",
    "function_list", "journal_mode", "max_page_count", "module_list", "page_count", "page_size",
    "pragma_list", "query_only", "schema_version", "synchronous", "temp_store", "user_version",
  ]
}

/// One thing a statement asks to do.
public struct AuthorizedAction: Sendable, Hashable {
  /// SQLite's action codes.
  public enum Kind: Int32, Sendable {
    case createIndex = 1
    case createTable, createTempIndex, createTempTable, createTempTrigger, createTempView
    case createTrigger, createView, delete, dropIndex, dropTable, dropTempIndex, dropTempTable
    case dropTempTrigger, dropTempView, dropTrigger, dropView, insert, pragma, read, select
    case transaction, update, attach, detach, alterTable, reindex, analyze, createVirtualTable
    case dropVirtualTable, function, savepoint, recursive
  }

  public let kind: Kind
  /// For most kinds the table; for a PRAGMA its name.
  public let first: String?
  /// For a read or an update the column, for a PRAGMA its argument, for a function its name.
  public let second: String?
  public let database: String?
  /// The innermost trigger, view or named CTE that asks; `nil` for the statement itself.
  public let source: String?

  /// Whether rows of a table are inserted, updated or deleted.
  public var changesTable: Bool { kind == .insert || kind == .update || kind == .delete }
}

extension Connection {
  /// Installs an authorizer, or removes it with `nil`; statements prepared before are asked again.
  /// - Returns: the one before.
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

  /// Takes away the authorizer while `body` prepares statements of our own.
  func withoutAuthorizer<R>(_ body: () throws(SQLiteError) -> R) throws(SQLiteError) -> R {
    sqlite3_set_authorizer(handle, nil, nil)
    defer { installAuthorizer() }
    return try body()
  }
}

/// Gives the authorizer an address for as long as it is installed.
final class AuthorizerBox {
  let authorizer: Authorizer
  /// Nothing is asked that the statement does itself, but what it changes.
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
    // Most actions are of no interest then, and need no texts of their own.
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

/// Whether a function runs code at an address, or of a library, that its arguments name.
///
/// The switches of the connection turn both off, but let an address pass that is bound as a
/// parameter.
private func runsForeignCode(_ function: UnsafePointer<CChar>?) -> Bool {
  sqlite3_stricmp(function, "fts3_tokenizer") == 0
    || sqlite3_stricmp(function, "load_extension") == 0
}
