#if PostGIS
  package import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackGeometry
  import FieldpackSQLite
  import FieldpackServices

  /// Makes a field copy: a GeoPackage with features of a database, which logs edits and knows up to
  /// which edit it shows the database.
  ///
  ///     let report = try await FieldCheckout(of: store, record).run(into: "field.gpkg")
  ///
  /// The layers are logged in the database from then on. ``FieldCheckin`` brings edits of both sides together.
  package struct FieldCheckout: Sendable {
    package struct Report: Sendable {
      package struct Layer: Sendable {
        package var name: LayerID
        package var count: Int
      }

      package var layers: [Layer] = []
      /// What people should know, such as a layer that is left out.
      package var notes: [String] = []
    }

    private let store: PostGISStore
    /// What the copy says of itself; `nil` for a copy that a server gives.
    private let record: CheckoutRecord?
    /// The layers to copy; all where none is named.
    package var layers: [LayerID] = []
    package var overwrites = false

    package init(of store: PostGISStore, _ record: CheckoutRecord?) {
      (self.store, self.record) = (store, record)
    }

    /// - Throws: `.unsupported` for a layer that is named and cannot be logged, `.permission` where the
    ///   user may not make triggers, `.cannotCreate` where the file exists.
    package func run(into path: String) async throws(FieldpackError) -> Report {
      var report = Report()
      let chosen = try await chosenLayers(&report)
      let pending = try PendingFile(target: path, overwrite: overwrites)
      try await store.enableLogs(of: chosen)
      let copy = try await copy(chosen, into: pending)
      for layer in copy.layers {
        report.layers.append(.init(name: layer.start.name, count: layer.count))
      }
      try await finish(pending, copy)
      try pending.commit()
      return report
    }

    /// Fills a file with layers that are logged already; it keeps its hidden name.
    ///
    /// - Throws: `.permission` where the user may not lock the tables.
    func fill(
      _ pending: PendingFile, with layers: [LayerID]
    ) async throws(FieldpackError) {
      try await finish(pending, try await copy(layers, into: pending))
    }

    private func chosenLayers(_ report: inout Report) async throws(FieldpackError) -> [LayerID] {
      let catalogue = try await store.catalogue()
      var chosen: [LayerID] = []
      for name in layers {
        guard let found = catalogue.layer(name) else { throw catalogue.missing(name) }
        if !chosen.contains(found.layer) { chosen.append(found.layer) }
      }
      guard chosen.isEmpty else { return chosen }
      for layer in catalogue.layers where layer.layer.rawValue != LogTables.conflict {
        if let obstacle = PostGISLog.obstacle(to: layer) {
          report.notes.append("layer '\(layer.layer)' \(obstacle), and is left out")
        } else {
          chosen.append(layer.layer)
        }
      }
      guard !chosen.isEmpty else {
        throw FieldpackError(
          .unsupported, "store '\(store.id)' has no layer whose edits can be logged",
          location: .init(store: store.id))
      }
      return chosen
    }

    // MARK: Copying

    private struct Copy: Sendable {
      struct Layer: Sendable {
        var start: SyncStart.Layer
        var count = 0
        var srsID: Int32?
      }

      var layers: [Layer] = []
      var receiver = ""
    }

    private func copy(
      _ layers: [LayerID], into pending: PendingFile
    ) async throws(FieldpackError) -> Copy {
      let (catalogue, scope, id) = (try await store.catalogue(), store.scope, store.id)
      let (address, limits, filter) = (
        store.pool.address, store.pool.limits, try record?.filter ?? .all
      )
      // While the lock is waited for, all who want to write wait behind it.
      let lockLimit =
        record == nil ? "SET LOCAL lock_timeout = '500ms'" : PostGISStore.lockLimit
      do throws(FieldpackError) {
        return try await store.pool.run { (connection) throws(FieldpackError) in
          // For a moment nobody writes to the tables, so that the edits that are known there and the
          // state that the copy shows are the same.
          let gate = try PostgresConnection(address, limits: limits)
          return try connection.transaction(.snapshot) { () throws(FieldpackError) in
            let snapshot = PostGISSnapshot(connection, scope: scope, catalogue: catalogue)
            var copy = try gate.transaction { () throws(FieldpackError) in
              try gate.execute(lockLimit)
              let copy = try Self.close(gate, layers, catalogue, scope)
              try connection.execute("SELECT 1")
              return copy
            }
            try Self.fill(pending, &copy, from: snapshot, filter, id)
            return copy
          }
        }
      } catch { throw error.adding(location: .init(store: id)) }
    }

    /// Waits until nobody writes to the tables, and gives all their edits positions.
    private static func close(
      _ gate: PostgresConnection, _ layers: [LayerID], _ catalogue: PostGISCatalogue,
      _ scope: PostGISScope
    ) throws(FieldpackError) -> Copy {
      var copy = Copy()
      for name in layers {
        guard let layer = catalogue.layer(name) else { throw catalogue.missing(name) }
        try gate.execute("LOCK TABLE \(layer.table) IN SHARE MODE")
      }
      for name in layers {
        let log = try PostGISLog.of(name, catalogue, scope, gate)
        let position = try log.givePositions()
        copy.layers.append(
          .init(
            start: .init(
              name: log.layer, origin: log.origin, position: position,
              edit: try log.edit(at: position), identities: [])))
        copy.receiver =
          try gate.execute("SELECT id FROM \(log.tables.replica) LIMIT 1").text(0, 0) ?? ""
      }
      return copy
    }

    private static func fill(
      _ pending: PendingFile, _ copy: inout Copy, from snapshot: PostGISSnapshot, _ filter: Filter,
      _ store: StoreID
    ) throws(FieldpackError) {
      let writer = try GeoPackageBulkWriter(filling: pending, store: store)
      writer.keepsNames = true
      for index in copy.layers.indices {
        let log = try snapshot.log(of: copy.layers[index].start.name)
        let columns = log.values.names.filter { $0 != log.values.layer.geometry?.name }
        let query = Query(layers: [log.layer], where: filter).select(columns)
        var sink = CheckoutSink(writer)
        try snapshot.scan(query, into: &sink)
        copy.layers[index].count = sink.ids.count
        copy.layers[index].srsID = log.values.layer.geometry.map { _ in log.values.srsID }
        copy.layers[index].start.identities = try log.identities()
          .filter { sink.ids.contains($0.feature) }
      }
      _ = try writer.commit()
    }

    // MARK: The copy's own tables

    private func finish(_ pending: PendingFile, _ copy: Copy) async throws(FieldpackError) {
      let start = SyncStart(
        layers: copy.layers.map(\.start), receiver: copy.receiver,
        name: PostGISSyncPeer(of: store).name)
      let record = record
      var profile = OpeningProfile.foreign
      profile.shownPath = pending.target
      let file = try await GeoPackageStore(
        path: pending.path, id: store.id, profile: profile, usesWAL: false)
      do throws(FieldpackError) {
        try await file.write { (writer: GeoPackageWriter) throws(FieldpackError) in
          for layer in copy.layers { try Self.checkSRS(of: layer, writer) }
          try start.write(to: writer)
          try record?.write(to: writer)
        }
        await file.close()
      } catch {
        await file.close()
        throw error
      }
    }

    /// Blobs name the SRS by the number that it has in a file, so that both sides need the same one.
    private static func checkSRS(
      of layer: Copy.Layer, _ writer: GeoPackageWriter
    ) throws(FieldpackError) {
      guard let srsID = layer.srsID else { return }
      let rows = try writer.rows(
        "SELECT srs_id FROM gpkg_geometry_columns WHERE table_name = ?",
        [.text(layer.start.name.rawValue)])
      guard rows.first?.first?.integerValue == Int64(srsID) else {
        throw FieldpackError(
          .unsupported, "the SRS of layer '\(layer.start.name)' has another number in a GeoPackage",
          location: .init(layer: layer.start.name))
      }
    }
  }

  /// Creates a layer when its columns are known, and stores its rows.
  private struct CheckoutSink: FeatureSink {
    private let writer: GeoPackageBulkWriter
    private(set) var ids: Set<Int64> = []
    private var isCreated = false

    init(_ writer: GeoPackageBulkWriter) { self.writer = writer }

    mutating func begin(_ schema: Schema) throws(FieldpackError) {
      let schema = schema.copied(storedTypes: [:])
      if !isCreated { try writer.create(schema, ids: .given) }
      isCreated = true
      try writer.loader.begin(schema)
    }

    mutating func feature(_ row: borrowing some FeatureRow & ~Copyable) throws(FieldpackError) {
      if case .integer(let id) = row.id { ids.insert(id) }
      try writer.loader.feature(row)
    }
  }
#endif
