#if PostGIS
  import Fieldpack
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackGeometry

  /// Copies layers of other stores into a database in one transaction.
  ///
  /// The source's readers encode the rows for `COPY` on their threads, and the pieces are sent over one
  /// connection.
  struct PostGISLoad: Sendable {
    let lease: PostgresLease
    let store: StoreID
    let scope: PostGISScope
    let options: LayerLoadOptions
    /// The servers that layers are divided over, or may be.
    let servers: [ShardServer]
    let limits: PostgresLimits
    /// What sends rows to these servers; used on the thread of the connection alone.
    private let shards = Locked<ShardLoad?>(nil)

    init(
      _ store: PostGISStore, _ lease: PostgresLease, _ options: LayerLoadOptions
    ) {
      (self.lease, self.options) = (lease, options)
      (self.store, scope, servers) = (store.id, store.scope, store.servers)
      limits = store.pool.limits
    }

    /// One of the layers, while it is copied.
    private struct Progress {
      var report: LayerLoadReport
      /// The features that the store has got so far.
      var count = 0
    }

    /// The table that has the name of a layer already, and the system of its geometries.
    private struct Found {
      var facts: TableFacts
      var srs: SRS?
    }

    func run(_ parts: [LayerPart]) async throws(FieldpackError) -> LayerLoadReport {
      var progress = Progress(report: LayerLoadReport())
      try await on { (connection) throws(FieldpackError) in
        try connection.execute(PostgresConnection.Transaction.writing.rawValue)
        // A COPY is one statement, and waits for the source between its pieces.
        try connection.run(script: "\(PostGISStore.lockLimit); SET LOCAL statement_timeout = 0")
      }
      for part in parts {
        let isAlone = parts.count { $0.name == part.name } == 1
        try await load(part, isAlone: isAlone, &progress)
      }
      if Task.isCancelled {
        throw FieldpackError(.interrupted, "interrupted; nothing was changed")
      }
      let (isDryRun, shards) = (options.isDryRun, shards)
      progress.report.notes += try await on { (connection) throws(FieldpackError) in
        let servers = shards.withLock { $0 }
        if isDryRun {
          try connection.execute("ROLLBACK")
        } else {
          guard let servers else {
            try connection.commit("the layers were imported")
            return []
          }
          try servers.commit("the layers were imported")
          return servers.dropOldParts()
        }
        return []
      }
      return progress.report
    }

    /// Runs `body` with what sends rows to other servers.
    private func withShards<R: Sendable>(
      _ body: @Sendable (PostgresConnection, ShardLoad) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R {
      let (box, servers, limits, isDryRun) = (shards, servers, limits, options.isDryRun)
      return try await on { (connection) throws(FieldpackError) in
        let known = box.withLock { $0 }
        let shards = known ?? ShardLoad(connection, servers, limits, isDryRun: isDryRun)
        box.withLock { $0 = shards }
        return try body(connection, shards)
      }
    }

    private func on<R: Sendable>(
      _ body: @Sendable (PostgresConnection) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R {
      do throws(FieldpackError) { return try await lease.run(body) } catch {
        throw error.adding(location: .init(store: store))
      }
    }

    // MARK: One layer

    private func load(
      _ part: LayerPart, isAlone: Bool, _ progress: inout Progress
    ) async throws(FieldpackError) {
      var query = Query(part.layer).skippingErrors(options.skipsErrors)
      let mode = options.mode
      let (scope, store) = (scope, store)
      let keeps = mode == .append || mode == .upsert
      let found = try await on { (connection) throws(FieldpackError) -> Found? in
        let catalogue = try PostGISSnapshot(connection, scope: scope, store: store).catalogue
        guard let layer = catalogue.layer(part.name),
          let facts = try TableFacts.read(layer, in: scope, on: connection)
        else { return nil }
        guard keeps else { return Found(facts: facts) }
        return Found(
          facts: facts, srs: try ServerSRS.system(of: facts, layer, on: connection))
      }
      let facts = found?.facts
      let isKept = facts != nil && keeps
      if facts != nil, mode == .create {
        throw FieldpackError(
          .cannotCreate, "layer '\(part.name)' exists already", advice: .appendReplaceOrRename,
          location: .init(store: store, layer: part.name))
      }
      if isKept, facts?.geometry != nil {
        if let srs = found?.srs, !srs.isUndefined { query = query.transformed(to: srs) }
      } else if let srs = options.srs {
        query = query.transformed(to: srs)
      }
      let prepared = try await part.source.prepare(query)
      guard let layer = prepared.layers.first else { return }
      progress.report.notes += prepared.notes
      if let transformation = layer.transformation {
        progress.report.transformations.append(transformation)
      }
      let ids = try await firstID(of: part)
      let target = try await target(
        for: layer.schema, part, isAlone: isAlone, ids, isKept ? facts : nil,
        replacing: isKept ? nil : facts, &progress.report.notes)
      var loaded = try await send(prepared, part, target, &progress)
      try await finish(target, &loaded, &progress.report)
      progress.report.layers.append(loaded)
    }

    /// The id of a row, by which its kind is known; `nil` where there is no row.
    private func firstID(of part: LayerPart) async throws(FieldpackError) -> FeatureID? {
      let query = Query(part.layer).select([]).withoutGeometry().limit(1)
      let iterator = try await part.source.query(query).makeAsyncIterator()
      return try await iterator.next()?.ids.first
    }

    private func target(
      for rows: Schema, _ part: LayerPart, isAlone: Bool, _ id: FeatureID?,
      _ facts: TableFacts?, replacing old: TableFacts?, _ notes: inout [Note]
    ) async throws(FieldpackError) -> LoadTarget {
      let maker = LoadTargetMaker(
        store: store, scope: scope, part: part, rows: rows, options: options, firstID: id,
        servers: servers, isAlone: isAlone)
      let (target, told) = try await withShards { (connection, shards) throws(FieldpackError) in
        var maker = maker
        let target =
          if let facts {
            try maker.existing(facts, shards, on: connection)
          } else {
            try maker.new(replacing: old, shards, on: connection)
          }
        return (target, maker.notes)
      }
      notes += told
      return target
    }

    // MARK: Rows

    private func send(
      _ prepared: PreparedQuery, _ part: LayerPart, _ target: LoadTarget,
      _ progress: inout Progress
    ) async throws(FieldpackError) -> LoadedLayer {
      let skips = options.skipsErrors
      let plans = [part.layer: target.plan]
      let notesRows = skips || target.isDirect
      let pieces = try await prepared.pieces {
        CopyPiece(plans, skipsErrors: skips, notesRows: notesRows)
      }
      let iterator = pieces.makeAsyncIterator()
      let sender = PieceSender(target: target, store: store, skipsErrors: skips)
      var (count, openLength, ids) = (0, 0, ClosedRange<Int64>?.none)
      while let piece = try await iterator.next() {
        let sent = try await withShards {
          [openLength] (connection, shards) throws(FieldpackError) in
          if target.isDirect { return try sender.send(piece, by: shards) }
          return try sender.send(piece, openLength: openLength, on: connection)
        }
        openLength = sent.openLength
        if let failure = piece.failure {
          // The server may refuse a row before.
          if openLength > 0 { _ = try await on(sender.end) }
          throw failure.adding(location: .init(store: store))
        }
        count += sent.count
        progress.count += skips ? sent.count : piece.count
        if let range = piece.ids {
          ids =
            min(
              ids?.lowerBound ?? range.lowerBound, range.lowerBound)...max(
              ids?.upperBound ?? range.upperBound, range.upperBound)
        }
        for feature in piece.skipped + sent.skipped { progress.report.skipped.add(feature) }
        options.progress?(progress.count)
        if Task.isCancelled {
          throw FieldpackError(.interrupted, "interrupted; nothing was changed")
        }
      }
      if openLength > 0 { count += try await on(sender.end) }
      let told = pieces.report.current
      if let failure = told.failures.first { throw failure.error }
      progress.report.skipped.add(told.skipped)
      // Some may have got other ids.
      if case .staged = target.way { ids = nil }
      if target.plan.id == nil || target.isDirect { ids = nil }
      return LoadedLayer(target.layer, count: count, ids: ids, srs: target.srs)
    }

    // MARK: Behind the rows

    private func finish(
      _ target: LoadTarget, _ loaded: inout LoadedLayer, _ report: inout LayerLoadReport
    ) async throws(FieldpackError) {
      let (store, options) = (store, options)
      let highest = loaded.ids?.upperBound ?? 0
      let found = try await withShards {
        (connection, shards) throws(FieldpackError) -> LoadEnd in
        do throws(FieldpackError) {
          var end = LoadEnd(target: target, store: store, options: options)
          try end.run(highest: highest, shards, on: connection)
          return end
        } catch {
          throw error.adding(location: .init(store: store, layer: target.layer))
        }
      }
      loaded.count -= found.skipped.count
      loaded.updatedCount = found.updated
      loaded.renumberedCount = found.moved
      for feature in found.skipped { report.skipped.add(feature) }
      if !found.mayAdvance {
        report.notes.append(
          Note(
            "the role may not change the sequence of layer '\(target.layer)', whose next ids may be "
              + "taken"))
      }
      if found.moved > 0 {
        report.notes.append(
          Note(
            "\(found.moved.counting("feature")) of layer '\(target.layer)' got other ids, because "
              + "their own ids were taken"))
      }
    }
  }
#endif
