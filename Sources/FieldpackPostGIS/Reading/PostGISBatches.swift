#if PostGIS
  import FieldpackCore

  /// Gives the rows of a query in batches, from a connection that it holds from the first batch to the
  /// last.
  actor PostGISBatches {
    private let store: PostGISStore
    private let plan: PostGISPlan
    private let catalogue: PostGISCatalogue
    private let report: QueryReport
    private var lease: PostgresLease?
    /// The walk belongs to the connection, which is used by one visit at a time.
    private let walk = Locked<PostGISWalk?>(nil)
    private var gathered: FeatureBatches.Next?
    private var isDone = false

    init(
      of store: PostGISStore, _ plan: PostGISPlan, _ catalogue: PostGISCatalogue,
      _ report: QueryReport
    ) {
      self.store = store
      self.plan = plan
      self.catalogue = catalogue
      self.report = report
    }

    func next() async throws(FieldpackError) -> FeatureBatch? {
      guard !isDone else { return nil }
      do throws(FieldpackError) {
        let batch = plan.gathering == nil ? try await walked() : try await gatheredBatch()
        if batch == nil { await finish() }
        return batch
      } catch {
        await finish()
        if error.sqlState?.code == .notFound || PostGISStore.isStale(error) {
          store.forgetCatalogue()
        }
        throw await store.named(error).adding(location: .init(store: store.id))
      }
    }

    private func held() async throws(FieldpackError) -> PostgresLease {
      if let lease { return lease }
      let new = try await store.pool.lease()
      lease = new
      return new
    }

    private func walked() async throws(FieldpackError) -> FeatureBatch? {
      let (plan, report, walk, id) = (plan, report, walk, store.id)
      return try await held().run { (connection) throws(FieldpackError) in
        try walk.withLock { (walk) throws(FieldpackError) in
          if walk == nil {
            // Several layers are read from one state; for one, the cursor knows.
            if plan.layers.count > 1 {
              try connection.execute(PostgresConnection.Transaction.snapshot.rawValue)
            }
            walk = try PostGISWalk(plan, connection, store: id, report: report)
          }
          return try walk?.batch()
        }
      }
    }

    private func gatheredBatch() async throws(FieldpackError) -> FeatureBatch? {
      if gathered == nil {
        let (plan, report, catalogue) = (plan, report, catalogue)
        let rows = try await held().run { (connection) throws(FieldpackError) in
          try connection.transaction(.snapshot) { () throws(FieldpackError) in
            try GatheredRows(plan, connection, catalogue, report: report)
          }
        }
        await lease?.release()
        lease = nil
        gathered = try await rows.batches(report)
      }
      if store.pool.isClosed { throw PostgresPool.closedError }
      return try await gathered?()
    }

    private func finish() async {
      isDone = true
      walk.withLock { $0 = nil }
      gathered = nil
      await lease?.release()
      lease = nil
    }
  }
#endif
