import CSQLite

/// A statement without parameters that each reading runs. A connection keeps it prepared outside of its cache,
/// because the cache would look it up by its text each time.
enum FixedStatement: String, CaseIterable {
  case begin = "BEGIN"
  case rollback = "ROLLBACK"
  case schemaVersion = "PRAGMA schema_version"

  /// The fixed statements of one connection that have been run.
  struct Kept {
    private var handles = [OpaquePointer?](repeating: nil, count: FixedStatement.allCases.count)

    fileprivate subscript(statement: FixedStatement) -> OpaquePointer? {
      get { handles[statement.place] }
      set { handles[statement.place] = newValue }
    }

    mutating func removeAll() {
      for handle in handles { sqlite3_finalize(handle) }
      self = Kept()
    }
  }

  private var place: Int {
    switch self {
    case .begin: 0
    case .rollback: 1
    case .schemaVersion: 2
    }
  }
}

extension Connection {
  /// Runs a statement to its end.
  ///
  /// - Returns: the first column of its row; 0 without one.
  @discardableResult
  func run(_ statement: FixedStatement) throws(SQLiteError) -> Int64 {
    guard !interruptHandle.isRequested else { throw .interrupted(sql: statement.rawValue) }
    let prepared = try prepared(statement)
    if statement != .schemaVersion { possibleSchemaChanges += 1 }
    defer { sqlite3_reset(prepared) }
    let code = sqlite3_step(prepared)
    switch code {
    case SQLITE_ROW: return sqlite3_column_int64(prepared, 0)
    case SQLITE_DONE: return 0
    default: throw SQLiteError(handle: handle, code: code, sql: statement.rawValue)
    }
  }

  private func prepared(_ statement: FixedStatement) throws(SQLiteError) -> OpaquePointer {
    if let known = fixed[statement] { return known }
    let made = try compileSingle(statement.rawValue, isPersistent: true)
    fixed[statement] = made
    return made
  }
}
