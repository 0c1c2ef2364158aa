#if PostGIS
  package import FieldpackCore
  package import FieldpackGeoPackage
  import FieldpackProjection

  /// The layers of a PostgreSQL database with PostGIS, as a store that is read and written.
  ///
  /// A query is answered from one state of the database, on one connection. What tables there are is
  /// read anew when it is older than two seconds, or when a statement does not fit it any more.
  package final class PostGISStore: Store {
    package let id: StoreID
    package let pool: PostgresPool
    package let scope: PostGISScope
    /// The servers that layers are divided over, or may be.
    package let servers: [ShardServer]
    private let kept = Locked<Kept?>(nil)
    private let trusted: Duration
    /// How many changes of tables are known, so that what was read before one of them is not kept.
    private let changes = Locked(0)
    /// Who edits: what change logs say of each edit.
    let editor: Editor?
    /// The last transactions in which this store itself wrote, which others tell already; `nil` where
    /// nobody listens.
    let ownTransactions = Locked<[Int64]?>(nil)

    private struct Kept: Sendable {
      var catalogue: PostGISCatalogue
      var moment: ContinuousClock.Instant
    }

    /// - Parameter trusted: for how long the catalogue of the database is taken for known.
    package init(
      id: StoreID, address: PostgresAddress, scope: PostGISScope = PostGISScope(),
      limits: PostgresLimits = PostgresLimits(), servers: [ShardServer] = [], editor: Editor? = nil,
      trusted: Duration = .seconds(2)
    ) {
      self.servers = servers
      self.id = id
      self.scope = scope
      self.editor = editor
      self.trusted = trusted
      pool = PostgresPool(address, limits: limits)
    }

    // MARK: Catalogue

    /// The catalogue, from memory where that is fresh.
    package func catalogue() async throws(FieldpackError) -> PostGISCatalogue {
      guard !pool.isClosed else { throw located(PostgresPool.closedError) }
      if let known = kept.withLock({ $0 }), ContinuousClock.now - known.moment < trusted {
        return known.catalogue
      }
      let before = changes.withLock { $0 }
      let (scope, id) = (scope, id)
      do throws(FieldpackError) {
        let read = try await pool.run { (connection) throws(FieldpackError) in
          try Self.check(connection)
          return try CatalogueReader(connection: connection, scope: scope, store: id).read()
        }
        let isCurrent = changes.withLock { $0 == before }
        if isCurrent { kept.withLock { $0 = Kept(catalogue: read, moment: .now) } }
        return read
      } catch { throw located(error) }
    }

    /// Forgets the catalogue, because tables have changed.
    package func forgetCatalogue() {
      changes.withLock { $0 += 1 }
      kept.withLock { $0 = nil }
    }

    /// - Throws: `.unsupported` for a database that lacks PostGIS or is not in UTF-8.
    private static func check(_ connection: PostgresConnection) throws(FieldpackError) {
      guard connection.postgisSchema != nil else {
        throw FieldpackError(
          .unsupported,
          "the database \(connection.address.shown) has no PostGIS. Try: CREATE EXTENSION postgis")
      }
      let encoding = connection.serverEncoding
      guard encoding == "UTF8" else {
        throw FieldpackError(
          .unsupported,
          "the database \(connection.address.shown) is in the encoding \(encoding), and not in UTF-8"
        )
      }
    }

    private func located(_ error: FieldpackError) -> FieldpackError {
      error.adding(location: .init(store: id))
    }

    /// Whether a statement failed because a table is not as the catalogue says, or a prepared one is gone.
    static func isStale(_ error: FieldpackError) -> Bool {
      if error.underlying is OtherColumns { return true }
      return ["42P01", "42703", "42804", "42883", "0A000", "26000"].contains(error.sqlState?.text)
    }

    /// Runs `body` in a transaction that sees one state, once again where tables have changed.
    package func snapshot<R: Sendable>(
      _ body: @Sendable (PostGISSnapshot) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R {
      do throws(FieldpackError) {
        return try await visit(try await catalogue(), body)
      } catch {
        guard Self.isStale(error) else { throw located(error) }
        forgetCatalogue()
      }
      do throws(FieldpackError) {
        return try await visit(try await catalogue(), isSecond: true, body)
      } catch { throw located(error) }
    }

    /// As ``snapshot(_:)``, but not once again where tables have changed.
    func state<R: Sendable>(
      _ body: @Sendable (PostGISSnapshot) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R {
      do throws(FieldpackError) { return try await visit(try await catalogue(), body) } catch {
        if Self.isStale(error) { forgetCatalogue() }
        throw located(error)
      }
    }

    /// - Parameter isSecond: whether a statement has failed. The connection may be another one, with plans
    ///   of before, too.
    private func visit<R: Sendable>(
      _ catalogue: PostGISCatalogue, isSecond: Bool = false,
      _ body: @Sendable (PostGISSnapshot) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R {
      let scope = scope
      do throws(FieldpackError) {
        return try await pool.run { (connection) throws(FieldpackError) in
          if isSecond { connection.statements.forget() }
          return try connection.transaction(.snapshot) { () throws(FieldpackError) in
            try body(PostGISSnapshot(connection, scope: scope, catalogue: catalogue))
          }
        }
      } catch { throw await named(error) }
    }

    // MARK: Store

    package func layers() async throws(FieldpackError) -> [Layer] {
      try await snapshot { (snapshot) throws(FieldpackError) in try snapshot.layers() }
    }

    package func schemas() async throws(FieldpackError) -> [Schema] {
      try await catalogue().layers.map(\.schema)
    }

    package func prepare(_ query: Query) async throws(FieldpackError) -> PreparedQuery {
      let plan = try PostGISPlanner(catalogue: try await catalogue()).plan(query)
      var layers: [PreparedLayer] = []
      for layer in plan.layers {
        layers.append(
          PreparedLayer(
            store: id, schema: layer.shape, transformation: try layer.transformation()?.report))
      }
      return PreparedQuery(
        query, layers: layers, notes: plan.notes,
        answeredBy: PostGISAnswering(store: self, query: query))
    }

    package func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches {
      let report = QueryReport()
      let catalogue = try await catalogue(for: query, report)
      let plan = try PostGISPlanner(catalogue: catalogue).plan(query)
      for note in plan.notes { report.add(note: note) }
      return FeatureBatches(report: report) { [self] in
        let batches = PostGISBatches(of: self, plan, catalogue, report)
        return { () async throws(FieldpackError) in try await batches.next() }
      }
    }

    package func scan<S: FeatureSink & Sendable>(
      _ query: Query, into sink: S, report: QueryReport
    ) async throws(FieldpackError) -> S {
      let catalogue = try await catalogue(for: query, report)
      _ = try PostGISPlanner(catalogue: catalogue).plan(query)
      do throws(FieldpackError) {
        // Not once again where it fails: the sink has taken rows.
        return try await visit(catalogue) { (snapshot) throws(FieldpackError) in
          var sink = sink
          try snapshot.scan(query, into: &sink, report: report)
          return sink
        }
      } catch {
        if Self.isStale(error) { forgetCatalogue() }
        throw located(error)
      }
    }

    package func count(_ query: Query) async throws(FieldpackError) -> Int {
      guard query.skipsErrors else {
        return try await snapshot { (snapshot) throws(FieldpackError) in
          try snapshot.count(query)
        }
      }
      let catalogue = try await catalogue(for: query, QueryReport())
      do throws(FieldpackError) {
        return try await visit(catalogue) { (snapshot) throws(FieldpackError) in
          try snapshot.count(query)
        }
      } catch { throw located(error) }
    }

    package func feature(
      _ id: FeatureID, in layer: LayerID
    ) async throws(FieldpackError) -> Feature? {
      try await snapshot { (snapshot) throws(FieldpackError) in
        try snapshot.feature(id, in: layer)
      }
    }

    package func read<R: Sendable>(
      _ body: @Sendable (borrowing StoreSnapshot) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R {
      try await state { (snapshot) throws(FieldpackError) in try body(StoreSnapshot(snapshot)) }
    }

    package func explain(_ query: Query) async throws(FieldpackError) -> [Explanation] {
      try await snapshot { (snapshot) throws(FieldpackError) in try snapshot.explain(query) }
    }

    package func estimatedRows(_ query: Query) async throws(FieldpackError) -> [LayerID: Int] {
      guard query.filter == .all else { return [:] }
      let plan = try PostGISPlanner(catalogue: try await catalogue()).plan(query)
      var rows: [LayerID: Int] = [:]
      for layer in plan.layers { rows[layer.name] = layer.layer.estimatedRows }
      return rows
    }

    package func close() async { await pool.close() }
  }

  /// Reads the answer to a query that was planned.
  private struct PostGISAnswering: QueryAnswering {
    let store: PostGISStore
    let query: Query

    func batches() async throws(FieldpackError) -> FeatureBatches { try await store.query(query) }

    func pieces<Piece: PieceSink>(
      into make: @escaping @Sendable () -> Piece
    ) async throws(FieldpackError) -> FeaturePieces<Piece> {
      try await store.pieces(of: query, into: make)
    }

    func count() async throws(FieldpackError) -> Int { try await store.count(query) }
    func explain() async throws(FieldpackError) -> [Explanation] {
      try await store.explain(query)
    }
    func estimatedRows() async throws(FieldpackError) -> [LayerID: Int] {
      try await store.estimatedRows(query)
    }
  }
#endif
