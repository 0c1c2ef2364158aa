import CSQLite

/// The statements of a script one by one; each is prepared after those before it have run.
public struct ScriptStatements {
  private let connection: Connection
  private var rest: ArraySlice<UInt8>

  init(_ script: String, on connection: Connection) {
    self.connection = connection
    rest = Array(script.utf8)[...]
  }

  /// Prepares the next statement; `nil` after the last. A call after an error tries the same
  /// statement again.
  public mutating func next() throws(SQLiteError) -> Statement? {
    while !rest.isEmpty {
      let (handle, used) = try connection.compile(rest, isPersistent: false)
      let sql = String(decoding: rest.prefix(used), as: UTF8.self)
      rest = rest.dropFirst(used)
      guard let handle else { continue }
      let statement = Statement(handle: handle, sql: sql, connection: connection)
      try connection.refuseWriting(handle, sql: sql)
      return statement
    }
    return nil
  }
}

extension Connection {
  /// The statements of `script`, for running them one by one and reading their rows.
  public func statements(of script: String) -> ScriptStatements {
    ScriptStatements(script, on: self)
  }
}
