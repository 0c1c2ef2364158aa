import FieldpackCore
import FieldpackSQLite

/// Gives a statement's rows in batches.
struct SQLCursor: Sendable {
  private let lease: CursorLease
  private let store: StoreID
  private let sql: String

  init(pools: StorePools, store: StoreID, sql: String) {
    lease = CursorLease(pools: pools, store: store)
    self.store = store
    self.sql = sql
  }

  func next() async throws(FieldpackError) -> SQLBatch? {
    let (store, sql) = (store, sql)
    return try await lease.next { (connection) throws(FieldpackError) in
      try Walk.on(connection, store: store, sql: sql).batch()
    }
  }

  /// The statement, left with the connection between batches.
  private final class Walk {
    private let statement: Statement
    private let place: SQLPlace
    private let columns: [String]
    private var isFirst = true

    init(_ statement: Statement, place: SQLPlace) {
      self.statement = statement
      self.place = place
      columns = statement.columnNames
    }

    // Whoever has the reader next is not bound to reading SQL.
    deinit { statement.connection.setAuthorizer(nil) }

    static func on(
      _ connection: Connection, store: StoreID, sql: String
    ) throws(FieldpackError) -> Walk {
      if let walk = connection.attachment as? Walk { return walk }
      let file = try GeoPackageFile.of(connection, store: store)
      let place = SQLPlace(file: file, allowsWriting: false)
      connection.setAuthorizer(.readOnlySQL)
      do throws(SQLiteError) {
        try file.registerGeometryFunctions()
        let statement = try connection.withSpatiaLite { () throws(SQLiteError) in
          try connection.prepare(sql, caching: false)
        }
        let walk = Walk(statement, place: place)
        connection.attachment = walk
        return walk
      } catch {
        connection.setAuthorizer(nil)
        throw place.error(error)
      }
    }

    func batch() throws(FieldpackError) -> SQLBatch? {
      var batch = SQLBatch(columns: columns, rows: [])
      var size = 0
      do throws(SQLiteError) {
        while batch.rows.count < 1024, size < 1 << 20, try statement.step() {
          batch.rows.append(statement.values(&size))
        }
      } catch { throw place.error(error) }
      defer { isFirst = false }
      return batch.rows.isEmpty && !isFirst ? nil : batch
    }
  }
}

extension Statement {
  /// The current row; adds the bytes of its texts and blobs to `size`.
  func values(_ size: inout Int) -> [Value] {
    (0..<columnCount).map { column in
      let value = Value(value(column))
      switch value {
      case .text(let text): size += text.utf8.count
      case .blob(let bytes): size += bytes.count
      default: break
      }
      return value
    }
  }
}

extension Connection {
  /// Runs `prepare`, and once more with SpatiaLite's functions where one was not known.
  func withSpatiaLite<R>(_ prepare: () throws(SQLiteError) -> R) throws(SQLiteError) -> R {
    do throws(SQLiteError) {
      return try prepare()
    } catch {
      guard error.code == 1,
        error.message.hasPrefix("no such function") || error.message.hasPrefix("no such module")
      else { throw error }
      try loadSpatiaLite()
      return try prepare()
    }
  }
}
