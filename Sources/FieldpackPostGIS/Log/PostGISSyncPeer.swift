#if PostGIS
  package import FieldpackCore
  package import FieldpackField
  import FieldpackGeoPackage
  package import FieldpackServices

  /// A database as the receiver of devices' edits, as ``FieldpackServices/SyncService`` is for a
  /// GeoPackage: it keeps the edits, decides on conflicts, and gives all edits out in one order.
  package struct PostGISSyncPeer: SyncPeer {
    /// What of a layer a device has, where that is not all.
    package struct Selection: Sendable {
      /// Which features the device wants.
      package var filter: Filter
      /// Gives those of the identities whose features the device has.
      package var known: @Sendable (LayerID, [String]) async throws(FieldpackError) -> Set<String>

      package init(
        filter: Filter,
        known: @escaping @Sendable (LayerID, [String]) async throws(FieldpackError) -> Set<String>
      ) {
        (self.filter, self.known) = (filter, known)
      }
    }

    package let name: String
    private let store: PostGISStore
    private let clock: FieldClock
    /// The layers that are synchronised; `nil` for all that are logged.
    package var only: Set<LayerID>?
    package var selection: Selection?

    package init(of store: PostGISStore, clock: FieldClock = .system) {
      (self.store, self.clock) = (store, clock)
      name = "\(store.pool.address.shown) (\(store.scope.schema))"
    }

    // MARK: Giving out

    package func layers() async throws(FieldpackError) -> [SyncLayer] {
      let only = only
      let layers = try await store.snapshot { (snapshot) throws(FieldpackError) in
        let logs = try PostGISLog.all(snapshot.catalogue, snapshot.scope, snapshot.connection)
        var layers: [SyncLayer] = []
        for log in logs {
          let replica = try log.connection.execute("SELECT id FROM \(log.tables.replica)")
          layers.append(
            SyncLayer(
              name: log.layer, origin: log.origin, columns: log.values.names,
              head: try log.lastPosition(), replica: replica.count > 0 ? replica.text(0, 0) : nil))
        }
        return layers
      }
      return layers.filter { only?.contains($0.name) ?? true }
    }

    package func edit(
      at position: Int64, of layer: LayerID
    ) async throws(FieldpackError) -> String? {
      try await store.snapshot { (snapshot) throws(FieldpackError) in
        try snapshot.log(of: layer).edit(at: position)
      }
    }

    package func edits(
      of layer: LayerID, after position: Int64, limit: Int
    ) async throws(FieldpackError) -> SyncPage {
      try await store.givePositions(in: layer)
      let found = try await store.snapshot { (snapshot) throws(FieldpackError) in
        try snapshot.log(of: layer).edits(after: position, limit: limit)
      }
      let edits = try await wanted(found, of: layer)
      let last = found.last?.edit
      return SyncPage(
        edits: edits, position: last?.position ?? position, isLast: found.count < limit,
        edge: last?.id)
    }

    /// The edits of features that the device has, or wants as they are now.
    private func wanted(
      _ edits: [PostGISLog.Edit], of layer: LayerID
    ) async throws(FieldpackError) -> [SyncEdit] {
      guard let selection, !edits.isEmpty else { return edits.map(\.edit) }
      let known = try await selection.known(layer, edits.map(\.edit.identity))
      let others = Set(edits.filter { !known.contains($0.edit.identity) }.map(\.feature))
      guard !others.isEmpty else { return edits.map(\.edit) }
      guard let id = try await store.catalogue().layer(layer)?.schema.idColumn else {
        return edits.map(\.edit)
      }
      let query = Query(
        layers: [layer], where: selection.filter && Column<Int64>(id).isIn(Array(others)))
      let matching = try await store.scan(query, into: FoundIDs()).ids
      return edits.filter { known.contains($0.edit.identity) || matching.contains($0.feature) }
        .map(\.edit)
    }

    // MARK: Receiving

    package func send(
      _ edits: [SyncEdit], of layer: LayerID
    ) async throws(FieldpackError) -> SyncReceipt {
      try await store.givePositions(in: layer)
      var receipt: SyncReceipt
      do throws(FieldpackError) {
        receipt = try await receive(edits, of: layer, refusing: false)
      } catch {
        guard error.isForGood else { throw error }
        receipt = try await receive(edits, of: layer, refusing: true)
      }
      try await store.givePositions(in: layer)
      let (before, ids) = (receipt.before, Set(edits.map(\.id)))
      let added = try await store.snapshot { (snapshot) throws(FieldpackError) in
        try snapshot.log(of: layer).positions(after: before, limit: ids.count + 1)
      }
      // Where nothing but these edits is new, the device need not ask for them.
      if let last = added.last, added.allSatisfy({ ids.contains($0.id) }) {
        (receipt.position, receipt.edit) = (last.position, last.id)
      }
      return receipt
    }

    private func receive(
      _ edits: [SyncEdit], of layer: LayerID, refusing: Bool
    ) async throws(FieldpackError) -> SyncReceipt {
      let now = clock.now
      return try await store.changing { (snapshot) throws(FieldpackError) in
        let log = try snapshot.log(of: layer)
        let before = try log.lock()
        let reception = PostGISReception(log, at: now)
        try reception.lookUp(edits)
        let answers = try EditReception(reception, at: now).receive(edits, refusing: refusing)
        return SyncReceipt(answers: answers, before: before, position: before)
      }
    }
  }

  /// The ids of features.
  private struct FoundIDs: FeatureSink, Sendable {
    private(set) var ids: Set<Int64> = []

    mutating func begin(_ schema: Schema) {}

    mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) {
      if case .integer(let id) = row.id { ids.insert(id) }
    }
  }

  extension PostGISLog {
    /// Positions and UUIDs of edits, in order.
    func positions(
      after position: Int64, limit: Int
    ) throws(FieldpackError) -> [(position: Int64, id: String)] {
      let rows = try connection.execute(
        "SELECT \(shape.own(.position)), \(shape.own(.edit)) FROM \(shape.log) "
          + "WHERE \(shape.own(.position)) > $1 ORDER BY \(shape.own(.position)) LIMIT $2",
        [.integer(position), .integer(Int64(limit))])
      var found: [(position: Int64, id: String)] = []
      for row in 0..<rows.count {
        found.append((rows.integer(row, 0) ?? 0, rows.text(row, 1) ?? ""))
      }
      return found
    }
  }

  extension PostGISSnapshot {
    func log(of layer: LayerID) throws(FieldpackError) -> PostGISLog {
      try PostGISLog.of(layer, catalogue, scope, connection)
    }
  }

  extension PostGISStore {
    /// Runs `body` in a transaction that writes.
    func changing<R: Sendable>(
      _ body: @Sendable (PostGISSnapshot) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R {
      let (catalogue, scope, id) = (try await catalogue(), scope, id)
      do throws(FieldpackError) {
        return try await pool.run { (connection) throws(FieldpackError) in
          try connection.transaction { () throws(FieldpackError) in
            try connection.execute(Self.lockLimit)
            return try body(PostGISSnapshot(connection, scope: scope, catalogue: catalogue))
          }
        }
      } catch { throw error.adding(location: .init(store: id)) }
    }

    /// Gives positions to the edits of a layer that are committed.
    func givePositions(in layer: LayerID) async throws(FieldpackError) {
      let isWaiting = try await snapshot { (snapshot) throws(FieldpackError) in
        try snapshot.log(of: layer).hasWaiting()
      }
      guard isWaiting else { return }
      _ = try await changing { (snapshot) throws(FieldpackError) in
        try snapshot.log(of: layer).givePositions()
      }
    }
  }
#endif
