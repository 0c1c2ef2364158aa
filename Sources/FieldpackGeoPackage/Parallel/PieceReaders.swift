import FieldpackCore
import FieldpackSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Readers of a pool that all see the same state of the file.
package struct PieceReaders: Sendable {
  let leases: [ReaderLease<GeoPackageSession>]
  let plan: QueryPlan

  /// What to read, and in which store.
  struct Request: Sendable {
    let store: StoreID
    let plan: QueryPlan
    let report: QueryReport
    /// Called after all readers but the first have begun, and before the first one begins.
    var whenSomeHaveBegun: @Sendable () async -> Void = {}
  }

  /// Leases as many readers as are useful and spare, and begins a transaction on each.
  ///
  /// SQLite cannot be asked for a snapshot. So the first reader begins last, and reads the file's
  /// `data_version` before the others begin and again after its own begin. If another connection
  /// has committed meanwhile, all begin again. After three tries, or when a writer is in the way,
  /// one reader reads everything.
  static func begin(
    in pool: StorePools.Pool, _ request: Request
  ) async throws(FieldpackError) -> PieceReaders {
    var leases = [try await pool.lease(orNone: false)].compactMap { $0 }
    let leader = leases[0]
    do throws(FieldpackError) {
      guard request.plan.isCut else {
        return PieceReaders(leases: leases, plan: try await leader.begin(request))
      }
      // No reader has begun yet: a new reader may wait for a writer, and that writer must not wait
      // for a reader of ours.
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

  /// `nil` where the readers may see different states.
  private static func beginTogether(
    _ leases: [ReaderLease<GeoPackageSession>], _ request: Request
  ) async throws(FieldpackError) -> QueryPlan? {
    do throws(FieldpackError) {
      for lease in leases { try await lease.end() }
      let before = try await leases[0].version()
      for lease in leases.dropFirst() { try await lease.beginBriefly() }
      await request.whenSomeHaveBegun()
      let plan = try await leases[0].begin(request, briefly: true)
      return try await leases[0].version(isBegun: true) == before ? plan : nil
    } catch {
      guard error.code == .busy else { throw error }
      return nil
    }
  }

  /// The number of processors, at most eight. Tests take numbers of their own.
  @TaskLocal package static var mostReaders = max(
    1, min(8, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))))
}

extension ConnectionPool {
  /// Leases a reader. With `orNone` it takes only a spare reader and gives `nil` without one.
  fileprivate func lease(orNone: Bool) async throws(FieldpackError) -> ReaderLease<Session>? {
    do throws(SQLiteError) {
      return try await orNone ? spareLease() : lease()
    } catch {
      throw FieldpackError(sqlite: error)
    }
  }
}

/// How long a reader waits for a writer while other readers wait for it.
private let briefTimeout = Duration.milliseconds(50)

extension ReaderLease<GeoPackageSession> {
  /// Ends the reader's transaction without reading.
  fileprivate func end() async throws(FieldpackError) {
    try await run { (file) throws(FieldpackError) in try file.endReading() }
  }

  /// Begins a new transaction and gives the plan for the state that it sees.
  fileprivate func begin(
    _ request: PieceReaders.Request, briefly: Bool = false
  ) async throws(FieldpackError) -> QueryPlan {
    try await run { (file) throws(FieldpackError) in
      let timeout = file.connection.busyTimeout
      if briefly { file.connection.busyTimeout = briefTimeout }
      defer { file.connection.busyTimeout = timeout }
      try file.beginAnew()
      return try GeoPackageSnapshot(file, report: request.report)
        .following(request.plan, inPieces: true).plan
    }
  }

  /// Begins a new transaction without waiting for a writer, who may wait for a reader that has
  /// begun.
  fileprivate func beginBriefly() async throws(FieldpackError) {
    try await run { (file) throws(FieldpackError) in
      let timeout = file.connection.busyTimeout
      file.connection.busyTimeout = briefTimeout
      defer { file.connection.busyTimeout = timeout }
      try file.beginAnew()
      _ = try file.rows("PRAGMA schema_version")
    }
  }

  /// The file's `data_version`, which changes when another connection commits: with `isBegun` as
  /// the open transaction sees it, else as it is now.
  fileprivate func version(isBegun: Bool = false) async throws(FieldpackError) -> Int64? {
    try await run { (file) throws(FieldpackError) in
      if !isBegun { try file.endReading() }
      return try file.integer("PRAGMA data_version")
    }
  }
}

extension GeoPackageSession {
  fileprivate func endReading() throws(FieldpackError) {
    if connection.isInTransaction { try execute("ROLLBACK") }
  }

  fileprivate func beginAnew() throws(FieldpackError) {
    try derive()
    try endReading()
    try execute("BEGIN")
  }
}
