import CSQLite

extension Connection {
  /// The declaration of a table's column.
  public struct ColumnFacts: Hashable, Sendable {
    /// The declared type, word for word; empty where the column has none.
    public var type: String
    /// The collation by which the column's texts compare.
    public var collation: String

    package var affinity: TypeAffinity { TypeAffinity(declared: type) }
  }

  /// - Parameter schema: `main`, `temp` or the name of an attached file.
  public func facts(
    ofColumn column: String, table: String, in schema: String = "main"
  ) throws(SQLiteError) -> ColumnFacts {
    var type: UnsafePointer<CChar>?
    var collation: UnsafePointer<CChar>?
    try check(
      sqlite3_table_column_metadata(
        handle, schema, table, column, &type, &collation, nil, nil, nil))
    return ColumnFacts(
      type: type.map { String(cString: $0) } ?? "",
      collation: collation.map { String(cString: $0) } ?? "BINARY")
  }

  /// Attaches the file at `path`, which is taken literally, as a schema. The connection's limit
  /// otherwise allows no attached file.
  package func attach(_ path: String, as name: String) throws(SQLiteError) {
    let statement = try prepare("ATTACH ? AS ?", caching: false)
    // Without `./` SQLite would take a name that begins with `file:` as a URI.
    try statement.bind([.text(path.hasPrefix("/") ? path : "./\(path)"), .text(name)])
    let most = limit(.attached, to: 1)
    defer { limit(.attached, to: most) }
    try statement.run()
    fitLongestValue()
  }

  /// Drops or detaches something temporary, even while the work is being cancelled and no statement
  /// steps.
  /// - Returns: whether it is gone.
  package func endTemporary(_ sql: String) -> Bool {
    let isGone = try? withoutAuthorizer { () throws(SQLiteError) in
      let query = try? prepare("PRAGMA query_only", caching: false)
      let isQueryOnly = query.map {
        sqlite3_step($0.handle) == SQLITE_ROW && sqlite3_column_int($0.handle, 0) == 1
      }
      query?.reset()
      if isQueryOnly == true { sqlite3_exec(handle, "PRAGMA query_only=OFF", nil, nil, nil) }
      defer {
        if isQueryOnly == true { sqlite3_exec(handle, "PRAGMA query_only=ON", nil, nil, nil) }
      }
      return sqlite3_exec(handle, sql, nil, nil, nil) == SQLITE_OK
    }
    return isGone ?? false
  }

  /// Runs `body`, which changes only temporary tables, also on a connection that may not write.
  public func changingTemporary(
    _ body: () throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    try withoutAuthorizer { () throws(SQLiteError) in
      let isQueryOnly = try scalar("PRAGMA query_only") == .integer(1)
      if isQueryOnly { try executeScript("PRAGMA query_only=OFF") }
      defer { if isQueryOnly { try? executeScript("PRAGMA query_only=ON") } }
      try body()
    }
  }
}

extension Statement {
  /// The text of the statement, up to its semicolon.
  public var ownText: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

  /// The stored names of the table and the column that a column of the result comes from; `nil` for
  /// expressions.
  public func origin(of column: Int) -> (table: String, column: String)? {
    guard let index = Int32(exactly: column), let table = sqlite3_column_table_name(handle, index),
      let name = sqlite3_column_origin_name(handle, index)
    else { return nil }
    return (String(cString: table), String(cString: name))
  }
}
