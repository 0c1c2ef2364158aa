import CSQLite

extension Connection {
  /// Prepares the one statement in `sql`, or hands out the cached one, reset and unbound.
  ///
  /// The statement goes back to the connection's cache (64 statements) when its last reference
  /// goes; with `caching: false` it is finalised then.
  /// - Throws: a syntax error with its `offset`; text after the first statement is an error.
  public func prepare(_ sql: String, caching: Bool = true) throws(SQLiteError) -> Statement {
    guard caching else {
      let handle = try compileSingle(sql, isPersistent: false)
      return Statement(handle: handle, sql: sql, connection: self)
    }
    if let kept = cache.take(sql) {
      if !kept.keepsSchema { possibleSchemaChanges += 1 }
      return Statement(kept, connection: self)
    }
    let handle = try compileSingle(sql, isPersistent: true)
    let made = KeptStatement(handle, sql, keepsSchema: Self.keepsSchema(sql))
    cache.add(made)
    return Statement(made, connection: self)
  }

  /// Whether a statement leaves the schema and the transaction as they are, by its first word.
  private static func keepsSchema(_ sql: String) -> Bool {
    ["SELECT", "UPDATE", "INSERT", "DELETE", "PRAGMA", "WITH"].contains { word in
      sql.utf8.starts(with: word.utf8)
    }
  }

  /// Runs the one statement in `sql` to its end; rows are discarded.
  public func execute(_ sql: String, _ values: SQLiteValue...) throws(SQLiteError) {
    let statement = try prepare(sql, caching: !values.isEmpty)
    try statement.bind(values)
    while try statement.step() {}
  }

  /// Runs all statements of `script` in order; stops at the first that fails.
  public func executeScript(_ script: String) throws(SQLiteError) {
    var rest = Array(script.utf8)[...]
    while !rest.isEmpty {
      let (handle, used) = try compile(rest, isPersistent: false)
      let sql = String(decoding: rest.prefix(used), as: UTF8.self)
      rest = rest.dropFirst(used)
      guard let handle else { continue }
      let statement = Statement(handle: handle, sql: sql, connection: self)
      try refuseWriting(handle, sql: sql)
      while try statement.step() {}
    }
  }

  /// The first column of the first row; `nil` when there is no row.
  public func scalar(_ sql: String, _ values: SQLiteValue...) throws(SQLiteError) -> SQLiteValue? {
    let statement = try prepare(sql)
    try statement.bind(values)
    return try statement.step() ? statement.value(0) : nil
  }

  /// The number of statements in the cache that are not in use.
  public var cachedStatementCount: Int { cache.count }

  /// Finalises all statements in the cache.
  public func clearStatementCache() { cache.removeAll() }

  func compileSingle(_ sql: String, isPersistent: Bool) throws(SQLiteError)
    -> OpaquePointer
  {
    let bytes = Array(sql.utf8)[...]
    let (first, used) = try compile(bytes, isPersistent: isPersistent)
    guard let first else { throw .misuse("there is no statement in the SQL", sql: sql) }
    do throws(SQLiteError) {
      try refuseStatement(in: bytes.dropFirst(used), of: sql)
      try refuseWriting(first, sql: sql)
    } catch {
      sqlite3_finalize(first)
      throw error
    }
    return first
  }

  /// Refuses a second statement after the first; comments and white space are allowed.
  private func refuseStatement(in tail: ArraySlice<UInt8>, of sql: String) throws(SQLiteError) {
    var rest = tail
    while rest.contains(where: { $0 > 0x20 && $0 != UInt8(ascii: ";") }) {
      let (handle, used) = try compile(rest, isPersistent: false)
      guard handle == nil else {
        sqlite3_finalize(handle)
        throw .misuse("there is text after the first statement", sql: sql)
      }
      rest = rest.dropFirst(used)
    }
  }

  func refuseWriting(_ statement: OpaquePointer, sql: String) throws(SQLiteError) {
    guard authorizer?.refusesWriting == true, sqlite3_stmt_readonly(statement) == 0 else { return }
    throw SQLiteError(extendedCode: SQLITE_AUTH, message: "not authorized", sql: sql)
  }

  /// Compiles the first statement of `bytes` and returns how many bytes it took. The handle is
  /// `nil` for white space and comments alone.
  func compile(_ bytes: ArraySlice<UInt8>, isPersistent: Bool) throws(SQLiteError)
    -> (handle: OpaquePointer?, used: Int)
  {
    guard !bytes.contains(0) else {
      throw .misuse("SQL cannot hold NUL", sql: String(decoding: bytes, as: UTF8.self))
    }
    guard let count = Int32(exactly: bytes.count) else {
      throw SQLiteError(extendedCode: SQLITE_TOOBIG, message: "the SQL is too long")
    }
    possibleSchemaChanges += 1
    let flags = isPersistent ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    var statement: OpaquePointer?
    var used = bytes.count
    let code = bytes.withUnsafeBytes { buffer in
      let text = buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
      var tail: UnsafePointer<CChar>?
      let code = sqlite3_prepare_v3(handle, text, count, flags, &statement, &tail)
      if let text, let tail { used = tail - text }
      return code
    }
    guard code == SQLITE_OK else {
      throw SQLiteError(handle: handle, code: code, sql: String(decoding: bytes, as: UTF8.self))
    }
    return (statement, used)
  }
}
