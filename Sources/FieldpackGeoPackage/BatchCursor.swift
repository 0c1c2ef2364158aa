import FieldpackCore
import FieldpackSQLite

/// Gives a query's rows in batches; holds a reader from the first batch to the last.
actor BatchCursor: RestingCursor {
  private let pools: StorePools
  private let query: Query
  private let report: QueryReport
  private let store: StoreID
  private var lease: ReaderLease?
  private var isDone = false
  /// The store was closed before the last batch.
  private var isStopped = false

  init(pools: StorePools, store: StoreID, query: Query, report: QueryReport) {
    self.pools = pools
    self.store = store
    self.query = query
    self.report = report
  }

  func next() async throws(FieldpackError) -> FeatureBatch? {
    guard !isStopped else { throw closed }
    guard !isDone else { return nil }
    do throws(FieldpackError) {
      let lease = try await reader()
      let (query, report, store) = (query, report, store)
      let batch = try await lease.run { (connection) throws(FieldpackError) in
        try Walk.on(connection, store: store, query: query, report: report).batch(of: store)
      }
      if batch == nil { await finish() }
      return batch
    } catch {
      await finish()
      throw error
    }
  }

  private var closed: FieldpackError {
    FieldpackError(
      .unavailable, "store '\(store)' was closed while a query was being read",
      location: .init(store: store))
  }

  private func reader() async throws(FieldpackError) -> ReaderLease {
    if let lease { return lease }
    await pools.add(self)
    let pool = try await pools.reader()
    do throws(SQLiteError) {
      let new = try await pool.lease()
      // The store may have been closed while this waited for a reader.
      guard isStopped else {
        lease = new
        return new
      }
      await new.release()
    } catch {
      throw FieldpackError(sqlite: error)
    }
    throw closed
  }

  private func finish() async {
    isDone = true
    await lease?.release()
    lease = nil
    await pools.remove(self)
  }

  /// Gives the reader back before the last batch; what is read afterwards throws.
  func stop() async {
    guard !isDone else { return }
    isStopped = true
    isDone = true
    await lease?.release()
    lease = nil
  }

  /// The state of the walk, left with the connection between batches.
  private final class Walk {
    private var rows: QueryWalk
    private var held: LayerCursor?

    init(_ rows: QueryWalk) { self.rows = rows }

    static func on(
      _ connection: Connection, store: StoreID, query: Query, report: QueryReport
    ) throws(FieldpackError) -> Walk {
      if let walk = connection.attachment as? Walk { return walk }
      let file = try GeoPackageFile.of(connection, store: store)
      try file.execute("BEGIN")
      let walk = Walk(try GeoPackageReading(file, report: report).rows(query))
      connection.attachment = walk
      return walk
    }

    /// The next rows of one layer; a row of another layer waits for the next call.
    func batch(of store: StoreID) throws(FieldpackError) -> FeatureBatch? {
      let waiting = held
      held = nil
      guard let first = if let waiting { waiting } else { try rows.next() } else { return nil }
      var batch = FeatureBatch(store: store, schema: first.schema)
      batch.append(first.row)
      while !batch.isFull, let cursor = try rows.next() {
        guard cursor === first else {
          held = cursor
          break
        }
        batch.append(cursor.row)
      }
      return batch
    }
  }
}
