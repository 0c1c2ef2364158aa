#if PostGIS
  package import FieldpackCore
  import FieldpackGeometry

  /// One state of a database, for the length of a transaction on one connection.
  package struct PostGISSnapshot: SnapshotReading {
    package let connection: PostgresConnection
    let scope: PostGISScope
    let store: StoreID
    /// The catalogue of the transaction. Whoever changes tables reads it anew.
    package let catalogue: PostGISCatalogue

    package init(
      _ connection: PostgresConnection, scope: PostGISScope, store: StoreID
    ) throws(FieldpackError) {
      self.connection = connection
      self.scope = scope
      self.store = store
      catalogue = try CatalogueReader(connection: connection, scope: scope, store: store).read()
    }

    init(
      _ connection: PostgresConnection, scope: PostGISScope, catalogue: PostGISCatalogue
    ) {
      self.connection = connection
      self.scope = scope
      self.store = catalogue.store
      self.catalogue = catalogue
    }

    func plan(_ query: Query) throws(FieldpackError) -> PostGISPlan {
      try PostGISPlanner(catalogue: catalogue).plan(query)
    }

    // MARK: Layers

    package func layers() throws(FieldpackError) -> [Layer] {
      var layers: [Layer] = []
      for layer in catalogue.layers {
        do throws(FieldpackError) {
          layers.append(try described(layer))
        } catch { throw error.adding(location: .init(store: store, layer: layer.layer)) }
      }
      return layers
    }

    /// Beyond so many rows the server's estimate of the extent is taken.
    private static let mostRowsMeasured = 1_000_000

    private func described(_ layer: PostGISLayer) throws(FieldpackError) -> Layer {
      var notes = layer.notes
      let measures =
        layer.geometry != nil && (layer.estimatedRows ?? 0) <= Self.mostRowsMeasured
      let column = layer.geometry.map {
        $0.isGeography ? "\($0.quoted)::geometry" : $0.quoted
      }
      var (count, envelope): (Int, Envelope?)
      if let column, measures {
        let rows = try connection.execute(
          layer.shards?.extent(column)
            ?? "SELECT n, ST_XMin(e), ST_YMin(e), ST_XMax(e), ST_YMax(e) FROM "
            + "(SELECT count(*) AS n, ST_Extent(\(column)) AS e FROM \(layer.table)) AS t")
        (count, envelope) = (Int(rows.integer(0, 0) ?? 0), Self.envelope(rows, from: 1))
      } else {
        let rows = try connection.execute(
          layer.shards?.count(nil).statement.sql ?? "SELECT count(*) FROM \(layer.table)")
        (count, envelope) = (Int(rows.integer(0, 0) ?? 0), nil)
        if column != nil {
          envelope = try estimatedExtent(layer)
          notes.append("the extent is the server's estimate, because the layer is large")
        }
      }
      var described = Layer(
        schema: layer.schema, kind: layer.schema.geometry == nil ? .attributes : .features,
        featureCount: count, envelope: envelope,
        hasSpatialIndex: layer.geometry?.hasIndex ?? false, isView: layer.isView, notes: notes)
      described.description = layer.description
      return described
    }

    static func envelope(_ rows: PostgresRows, from column: Int) -> Envelope? {
      guard let minX = rows.real(0, column), let minY = rows.real(0, column + 1),
        let maxX = rows.real(0, column + 2), let maxY = rows.real(0, column + 3)
      else { return nil }
      return Envelope(minX: minX, minY: minY, maxX: maxX, maxY: maxY)
    }

    func estimatedExtent(_ layer: PostGISLayer) throws(FieldpackError) -> Envelope? {
      guard let geometry = layer.geometry, !layer.isView else { return nil }
      let rows = try connection.execute(
        "SELECT ST_XMin(e), ST_YMin(e), ST_XMax(e), ST_YMax(e) FROM "
          + "(SELECT ST_EstimatedExtent($1, $2, $3) AS e) AS t",
        [.text(scope.schema), .text(layer.layer.rawValue), .text(geometry.name)])
      return Self.envelope(rows, from: 0)
    }

    // MARK: Rows

    package func scan(
      _ query: Query, into sink: inout some FeatureSink
    ) throws(FieldpackError) {
      try scan(query, into: &sink, report: QueryReport())
    }

    func scan(
      _ query: Query, into sink: inout some FeatureSink, report: QueryReport
    ) throws(FieldpackError) {
      let plan = try plan(query)
      for note in plan.notes { report.add(note: note) }
      var announced: Set<LayerID> = []
      var current: LayerReader?
      if plan.gathering != nil {
        try scanGathered(plan, into: &sink, &announced, report)
      } else {
        let walk = try PostGISWalk(plan, connection, store: store, report: report)
        while let reader = try walk.next() {
          if reader !== current {
            // Layers without a match come in their order, where the features are not sorted.
            if query.order.isEmpty, plan.layers.count > 1 {
              for layer in plan.layers.prefix(while: { $0.name != reader.plan.name })
              where announced.insert(layer.name).inserted { try sink.begin(layer.shape) }
            }
            announced.insert(reader.plan.name)
            try sink.begin(reader.plan.shape)
            current = reader
          }
          let row = reader.answer
          try sink.feature(row)
          while walk.isPlain, try reader.advance() { try sink.feature(row) }
        }
      }
      for layer in plan.layers where announced.insert(layer.name).inserted {
        try sink.begin(layer.shape)
      }
    }

    private func scanGathered(
      _ plan: PostGISPlan, into sink: inout some FeatureSink, _ announced: inout Set<LayerID>,
      _ report: QueryReport
    ) throws(FieldpackError) {
      let gathered = try GatheredRows(plan, connection, catalogue, report: report)
      let next = try SystemThread.waiting { () async throws(FieldpackError) in
        try await gathered.batches(report)
      }
      var current: LayerID?
      while let batch = try SystemThread.waiting(for: next) {
        announced.insert(batch.schema.layer)
        try batch.drive(&sink, announcing: batch.schema.layer != current)
        current = batch.schema.layer
      }
    }

    package func count(_ query: Query) throws(FieldpackError) -> Int {
      // The order of features does not change their number.
      let counted = query.nearest == nil ? query.withoutOrder() : query
      _ = try plan(query)
      let plan = try plan(counted)
      if plan.gathering != nil {
        let gathered = try GatheredRows(plan, connection, catalogue, report: QueryReport())
        return try SystemThread.waiting { () async throws(FieldpackError) in
          try await gathered.count()
        }
      }
      var total = 0
      for layer in plan.layers {
        // A server may tell any number.
        let (sum, overflow) = total.addingReportingOverflow(max(0, try count(layer, plan)))
        total = overflow ? .max : sum
      }
      return max(0, min(total - query.offset, query.limit ?? .max))
    }

    private func count(
      _ layer: LayerPlan, _ plan: PostGISPlan
    ) throws(FieldpackError) -> Int {
      if layer.isExact, !plan.query.skipsErrors {
        let statement = layer.countStatement
        do throws(FieldpackError) {
          let rows = try connection.execute(kept: statement.sql, statement.values)
          return Int(rows.integer(0, 0) ?? 0)
        } catch { throw error.adding(location: .init(store: store, layer: layer.name)) }
      }
      var single = plan
      single.layers = [layer]
      let walk = try PostGISWalk(
        single.withoutLimit, connection, store: store, report: QueryReport())
      var count = 0
      while try walk.next() != nil { count += 1 }
      return count
    }

    package func feature(
      _ id: FeatureID, in name: LayerID
    ) throws(FieldpackError) -> Feature? {
      let plan = try plan(Query(name)).layers[0]
      guard plan.layer.hasLastingIDs else {
        throw FieldpackError(
          .unsupported,
          "layer '\(plan.name)' has no key, and each query numbers its rows anew, so that no feature is "
            + "found by its number. \(PostGISLayer.idAdvice)",
          location: .init(store: store, layer: plan.name, feature: id))
      }
      guard let condition = plan.layer.condition(id) else { return nil }
      var statement = plan.statement(isSorted: false)
      statement.sql += " WHERE \(condition.sql)"
      do throws(FieldpackError) {
        let rows = try connection.execute(
          kept: statement.sql, [condition.value], form: plan.reading.form)
        guard rows.count > 0 else { return nil }
        try plan.check(rows, from: connection)
        let row = PostGISRow(firstOf: rows, plan.reading.answer)
        try row.check(from: connection)
        var batch = FeatureBatch(store: store, schema: plan.shape)
        batch.append(row)
        return try batch.feature(at: 0)
      } catch { throw error.adding(location: .init(store: store, layer: plan.name, feature: id)) }
    }
  }

  extension PostGISPlan {
    var withoutLimit: PostGISPlan {
      PostGISPlan(query: query.withoutLimit(), layers: layers, notes: notes)
    }
  }
#endif
