package import FieldpackCore
import FieldpackSQLite

/// A cursor or scan that holds readers of a store until it ends.
package protocol OpenCursor: AnyObject, Sendable {
  /// Gives the readers back as soon as possible, because the store closes. Later calls throw.
  func stop() async
}

extension FieldpackError {
  static func closedWhileRead(_ store: StoreID) -> FieldpackError {
    FieldpackError(
      .unavailable, "store '\(store)' was closed while a query was being read",
      location: .init(store: store))
  }
}

/// The reader that a cursor holds from its first batch to its last, or until the store closes.
package actor CursorLease<Value>: OpenCursor {
  private let pools: StorePools
  private let store: StoreID
  private var lease: ReaderLease<GeoPackageSession>?
  private let value = LeasedValue<Value>()
  private var isDone = false
  /// Whether the store was closed before the last batch.
  private var isStopped = false

  package init(pools: StorePools, store: StoreID) {
    self.pools = pools
    self.store = store
  }

  /// Runs `body` on the reader. The cursor ends when `body` gives `nil` or throws.
  ///
  /// - Throws: `.unavailable` where the store was closed meanwhile.
  package func next<R: Sendable>(
    _ body: @Sendable (GeoPackageSession, inout Value?) throws(FieldpackError) -> R?
  ) async throws(FieldpackError) -> R? {
    guard !isStopped else { throw closed }
    guard !isDone else { return nil }
    do throws(FieldpackError) {
      let result = try await reader().run(keeping: value) {
        (file, value) throws(FieldpackError) in
        try file.derive()
        return try body(file, &value)
      }
      if result == nil { await finish() }
      return result
    } catch {
      await finish()
      throw error
    }
  }

  private var closed: FieldpackError { .closedWhileRead(store) }

  private func reader() async throws(FieldpackError) -> ReaderLease<GeoPackageSession> {
    if let lease { return lease }
    await pools.add(self)
    let pool = try await pools.reader()
    do throws(SQLiteError) {
      let new = try await pool.lease()
      // The store may have been closed while this call waited for a reader.
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

  /// Gives the reader back before the last batch. Later calls throw.
  package func stop() async {
    guard !isDone else { return }
    isStopped = true
    isDone = true
    await lease?.release()
    lease = nil
  }
}
