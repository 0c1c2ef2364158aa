#if PostGIS
  package import FieldpackCore

  /// Divides the layers of a store over servers.
  ///
  ///     let sharding = Sharding(of: store)
  ///     print(try await sharding.plan("wells", ranges: 16).script)
  ///     let report = try await sharding.apply("wells", ranges: 16)
  ///
  /// Rows are copied while nobody can write to the layer, compared by number and hash, and shown by one
  /// transaction of the store's server. What a stopped process leaves on other servers is not seen by
  /// anybody, and goes when the layer is divided or balanced the next time.
  package struct Sharding: Sendable {
    /// What has happened so far, for those who watch.
    package enum Step: String, Hashable, Sendable, CaseIterable {
      case locked, made, copied, verified, committed, switched, dropped
    }

    /// What a division is, or would be.
    package struct Report: Sendable {
      package var plan: ShardPlan
      package var key: ShardKey
      /// The statements, with comments.
      package var script = ""
      package var citus = ""
      /// The features that were copied.
      package var copiedCount = 0
      package var notes: [Note] = []
    }

    package let store: PostGISStore
    /// The servers that parts may be put on, by name.
    package let chosen: [ShardServer]
    package var onStep: (@Sendable (Step) throws(FieldpackError) -> Void)?
    package var progress: (@Sendable (Int) -> Void)?

    /// - Parameter without: servers that are to have no part any more.
    package init(of store: PostGISStore, without: [String] = []) throws(FieldpackError) {
      self.store = store
      for name in without where !store.servers.contains(where: { $0.name == name }) {
        throw FieldpackError(
          .notFound, "the store has no server '\(name)'", location: .init(store: store.id))
      }
      chosen = store.servers.filter { !without.contains($0.name) }
    }

    var names: [String?] {
      let own: [String?] = [nil]
      return own + chosen.map(\.name)
    }

    func told(_ step: Step) throws(FieldpackError) { try onStep?(step) }

    /// The number of ranges for each server, where the caller names none.
    static let rangesPerServer = 4

    /// The number of ranges of the curve.
    func pieces(_ ranges: Int?) -> Int { ranges ?? names.count * Self.rangesPerServer }

    /// Runs `body` on a connection of the store, whose transaction ends with it.
    private func run(
      _ layer: LayerID,
      _ body: @Sendable (PostgresConnection, PostGISLayer) throws(FieldpackError) -> Report
    ) async throws(FieldpackError) -> Report {
      let (scope, id) = (store.scope, store.id)
      defer { store.forgetCatalogue() }
      do throws(FieldpackError) {
        return try await store.pool.run { (connection) throws(FieldpackError) in
          try connection.execute(PostgresConnection.Transaction.writing.rawValue)
          try connection.run(script: ShardConnections.patience)
          let catalogue = try CatalogueReader(
            connection: connection, scope: scope, store: id
          ).read()
          guard let found = catalogue.layer(layer) else { throw catalogue.missing(layer) }
          return try body(connection, found)
        }
      } catch { throw error.adding(location: .init(store: store.id, layer: layer)) }
    }

    // MARK: What is done

    /// How a layer would be divided. Nothing is changed.
    package func plan(
      _ layer: LayerID, ranges: Int? = nil
    ) async throws(FieldpackError) -> Report {
      try await run(layer) { (connection, found) throws(FieldpackError) in
        try planned(found, ranges, on: connection).report
      }
    }

    /// Divides a layer.
    ///
    /// - Throws: `.cannotCreate` for a layer that is divided already.
    package func apply(
      _ layer: LayerID, ranges: Int? = nil
    ) async throws(FieldpackError) -> Report {
      let report = try await run(layer) { (connection, found) throws(FieldpackError) in
        try OldParts.lock(
          TableName(schema: store.scope.schema, table: found.layer.rawValue), on: connection)
        try connection.execute("LOCK TABLE \(found.table) IN SHARE ROW EXCLUSIVE MODE")
        try told(.locked)
        let planned = try planned(found, ranges, on: connection)
        let division = ShardDivision(self, planned.sql, connection)
        return try division.divide(found, planned.report)
      }
      await analyze(layer)
      return report
    }

    /// Moves parts of a divided layer, so that the servers have about the same number of features.
    package func rebalance(
      _ layer: LayerID, ranges: Int? = nil
    ) async throws(FieldpackError) -> Report {
      let report = try await run(layer) { (connection, found) throws(FieldpackError) in
        guard let layout = found.shards else {
          throw FieldpackError(
            .notFound, "layer '\(layer)' is not divided")
        }
        try connection.execute("LOCK TABLE ONLY \(found.table) IN SHARE ROW EXCLUSIVE MODE")
        try told(.locked)
        let table = try ShardTable.read(found, in: store.scope.schema, on: connection)
        let sql = ShardSQL(table, layout.key, servers: chosen)
        return try ShardDivision(self, sql, connection).balance(layout, pieces(ranges))
      }
      await analyze(layer)
      return report
    }

    private func planned(
      _ layer: PostGISLayer, _ ranges: Int?, on connection: PostgresConnection
    ) throws(FieldpackError) -> (sql: ShardSQL, report: Report) {
      guard layer.shards == nil else {
        throw FieldpackError(
          .cannotCreate,
          "layer '\(layer.layer)' is divided already")
      }
      let table = try ShardTable.read(layer, in: store.scope.schema, on: connection)
      let (key, sample) = try ShardArea(layer: layer, connection: connection).survey(id: table.id)
      let plan = ShardPlan(table.name, servers: names, pieces: pieces(ranges), sample)
      let sql = ShardSQL(table, key, servers: chosen)
      var report = Report(plan: plan, key: key)
      report.script = try sql.script(plan)
      report.citus = try sql.citusScript(plan)
      report.notes = try ShardTable.notes(layer, on: connection)
      return (sql, report)
    }

    /// Statistics of the whole, without which the server still answers.
    private func analyze(_ layer: LayerID) async {
      guard let found = try? await store.catalogue().layer(layer) else { return }
      let table = found.table
      _ = try? await store.pool.run { (connection) throws(FieldpackError) in
        _ = try connection.execute("ANALYZE \(table)")
      }
    }
  }
#endif
