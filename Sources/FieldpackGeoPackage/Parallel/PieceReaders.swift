import FieldpackCore
import FieldpackSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Readers of a pool that have begun on one state of the file.
struct PieceReaders: Sendable {
  let leases: [ReaderLease]
  let plan: QueryPlan

  /// Where and what to read.
  struct Request: Sendable {
    let store: StoreID
    let plan: QueryPlan
    let report: QueryReport
    /// Called between the first and the last reader's begin.
    var whenSomeHaveBegun: @Sendable () async -> Void = {}
  }

  /// Takes as many readers as can be at work and spared, and begins on all of them.
  ///
  /// SQLite cannot be asked for a snapshot, so one reader looks at the file's `data_version` before
  /// the others begin and once more when it begins itself, last. Where another connection has
  /// committed meanwhile, all begin again; after three tries, or when a writer is in the way, one
  /// reader does it all.
  static func begin(
    in pool: ConnectionPool, _ request: Request
  ) async throws(FieldpackError) -> PieceReaders {
    var leases = [try await pool.lease(orNone: false)].compactMap { $0 }
    let leader = leases[0]
    do throws(FieldpackError) {
      guard request.plan.isCut else {
        return PieceReaders(leases: leases, plan: try await leader.begin(request))
      }
      // A new reader may have to wait for a writer, who must not have to wait for this one: so none
      // of them has begun.
      while leases.count < mostReaders, let lease = try? await pool.lease(orNone: true) {
        leases.append(lease)
      }
      var tries = 0
      while leases.count > 1, tries < 3 {
        if let plan = try await beginTogether(leases, request) {
          return PieceReaders(leases: leases, plan: plan)
        }
        tries += 1
      }
      for lease in leases.dropFirst() { await lease.release() }
      return PieceReaders(leases: [leader], plan: try await leader.begin(request))
    } catch {
      for lease in leases { await lease.release() }
      throw error
    }
  }

  /// `nil` where the readers may not see the same.
  private static func beginTogether(
    _ leases: [ReaderLease], _ request: Request
  ) async throws(FieldpackError) -> QueryPlan? {
    do throws(FieldpackError) {
      for lease in leases { try await lease.end(request.store) }
      let before = try await leases[0].version(request.store)
      for lease in leases.dropFirst() { try await lease.beginBriefly(request.store) }
      await request.whenSomeHaveBegun()
      let plan = try await leases[0].begin(request, briefly: true)
      return try await leases[0].version(request.store, isBegun: true) == before ? plan : nil
    } catch {
      guard error.code == .busy else { throw error }
      return nil
    }
  }

  /// As many as there are processors, up to eight.
  static let mostReaders = max(1, min(8, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
}

extension ConnectionPool {
  /// A reader; with `orNone` only one that nobody will miss.
  fileprivate func lease(orNone: Bool) async throws(FieldpackError) -> ReaderLease? {
    do throws(SQLiteError) {
      return try await orNone ? spareLease() : lease()
    } catch {
      throw FieldpackError(sqlite: error)
    }
  }
}

/// How long readers that others wait with may wait for a writer themselves.
private let briefTimeout = Duration.milliseconds(50)

extension ReaderLease {
  /// Ends what was begun, without reading.
  fileprivate func end(_ store: StoreID) async throws(FieldpackError) {
    try await run { (connection) throws(FieldpackError) in
      guard connection.isInTransaction else { return }
      try GeoPackageFile.of(connection, store: store).execute("ROLLBACK")
    }
  }

  /// Begins anew and gives the plan that is good for what is seen then.
  fileprivate func begin(
    _ request: PieceReaders.Request, briefly: Bool = false
  ) async throws(FieldpackError) -> QueryPlan {
    try await run { (connection) throws(FieldpackError) in
      let timeout = connection.busyTimeout
      if briefly { connection.busyTimeout = briefTimeout }
      defer { connection.busyTimeout = timeout }
      let file = try connection.beginAnew(request.store)
      return try GeoPackageReading(file, report: request.report)
        .following(request.plan, inPieces: true).plan
    }
  }

  /// Begins anew; a writer that is in the way is not waited for, as it may wait for a reader that
  /// has begun.
  fileprivate func beginBriefly(_ store: StoreID) async throws(FieldpackError) {
    try await run { (connection) throws(FieldpackError) in
      let timeout = connection.busyTimeout
      connection.busyTimeout = briefTimeout
      defer { connection.busyTimeout = timeout }
      _ = try connection.beginAnew(store).rows("PRAGMA schema_version")
    }
  }

  /// What differs after a commit of another connection, as seen by the transaction that is open
  /// or, without one, now.
  fileprivate func version(
    _ store: StoreID, isBegun: Bool = false
  ) async throws(FieldpackError) -> Int64? {
    try await run { (connection) throws(FieldpackError) in
      let file = try GeoPackageFile.of(connection, store: store)
      if !isBegun, connection.isInTransaction { try file.execute("ROLLBACK") }
      return try file.integer("PRAGMA data_version")
    }
  }
}

extension Connection {
  fileprivate func beginAnew(_ store: StoreID) throws(FieldpackError) -> GeoPackageFile {
    let file = try GeoPackageFile.of(self, store: store)
    if isInTransaction { try file.execute("ROLLBACK") }
    try file.execute("BEGIN")
    return file
  }
}
