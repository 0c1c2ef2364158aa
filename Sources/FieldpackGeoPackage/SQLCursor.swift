import FieldpackCore
import FieldpackSQLite

/// Gives a statement's rows in batches; holds a reader from the first batch to the last.
actor SQLCursor: RestingCursor {
  private let pools: StorePools
  private let store: StoreID
  private let sql: String
  private var lease: ReaderLease?
  private var isDone = false
  /// The store was closed before the last batch.
  private var isStopped = false

  init(pools: StorePools, store: StoreID, sql: String) {
    self.pools = pools
    self.store = store
    self.sql = sql
  }

  func next() async throws(FieldpackError) -> SQLBatch? {
    guard !isStopped else {
      throw FieldpackError(
        .unavailable, "store '\(store)' was closed while a query was being read",
        location: .init(store: store))
    }
    guard !isDone else { return nil }
    do throws(FieldpackError) {
      let lease = try await reader()
      let (store, sql) = (store, sql)
      let batch = try await lease.run { (connection) throws(FieldpackError) in
        try Walk.on(connection, store: store, sql: sql).batch()
      }
      if batch == nil { await finish() }
      return batch
    } catch {
      await finish()
      throw error
    }
  }

  private func reader() async throws(FieldpackError) -> ReaderLease {
    if let lease { return lease }
    await pools.add(self)
    let pool = try await pools.reader()
    do throws(SQLiteError) {
      let new = try await pool.lease()
      lease = new
      return new
    } catch {
      throw FieldpackError(sqlite: error)
    }
  }

  private func finish() async {
    isDone = true
    await lease?.release()
    lease = nil
    await pools.remove(self)
  }

  func stop() async {
    guard !isDone else { return }
    isStopped = true
    isDone = true
    await lease?.release()
    lease = nil
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
