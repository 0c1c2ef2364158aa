#if PostGIS
  package import FieldpackCore
  package import FieldpackGeometry
  import FieldpackServices

  extension PostGISSnapshot: ServedSnapshot {
    package func isFoundSoon(in layer: LayerID, touching box: Envelope) -> Bool { false }

    package func count(
      _ query: Query, within time: Duration
    ) throws(FieldpackError) -> Int? {
      let plan = try plan(query.withoutOrder())
      guard plan.gathering == nil else { return nil }
      let end = ContinuousClock.now + time
      return try connection.briefly(time) { () throws(FieldpackError) -> Int? in
        var total = 0
        for layer in plan.layers {
          guard let count = try count(layer, plan, until: end) else { return nil }
          total += count
        }
        return total
      }
    }

    private func count(
      _ layer: LayerPlan, _ plan: PostGISPlan, until end: ContinuousClock.Instant
    ) throws(FieldpackError) -> Int? {
      guard !layer.isExact else {
        let statement = layer.countStatement
        return Int(try connection.execute(statement.sql, statement.values).integer(0, 0) ?? 0)
      }
      var single = plan
      single.layers = [layer]
      let walk = try PostGISWalk(
        single.withoutLimit, connection, store: store, report: QueryReport())
      var count = 0
      while try walk.next() != nil {
        count += 1
        if count % 64 == 0, ContinuousClock.now > end { return nil }
      }
      return count
    }

    // MARK: Layers

    /// Tables up to so many rows are measured, if that is quick.
    private static let mostRowsMeasured = 200_000
    private static let measuringTime = Duration.milliseconds(300)

    func describedLayers() throws(FieldpackError) -> [DescribedLayer] {
      let rights = try rights()
      var layers: [DescribedLayer] = []
      for layer in catalogue.layers {
        var described = Layer(
          schema: layer.schema, kind: layer.geometry == nil ? .attributes : .features,
          envelope: try extent(of: layer), hasSpatialIndex: layer.geometry?.hasIndex ?? false,
          isView: layer.isView, notes: layer.notes)
        described.description = layer.description
        var served = DescribedLayer(described)
        served.hasTextIDs = layer.hasTextID
        (served.takesIDs, served.computedDefaults) = (layer.takesIDs, layer.computedDefaults)
        served.rights = rights[layer.oid] ?? []
        layers.append(served)
      }
      return layers
    }

    private func extent(of layer: PostGISLayer) throws(FieldpackError) -> Envelope? {
      guard let geometry = layer.geometry else { return nil }
      let column = geometry.isGeography ? "\(geometry.quoted)::geometry" : geometry.quoted
      let isShort = (layer.estimatedRows ?? 0) <= Self.mostRowsMeasured && layer.shards == nil
      if isShort {
        let measured = try connection.briefly(Self.measuringTime) {
          () throws(FieldpackError) -> [Envelope]? in
          let rows = try connection.execute(
            "SELECT ST_XMin(e), ST_YMin(e), ST_XMax(e), ST_YMax(e) FROM "
              + "(SELECT ST_Extent(\(column)) AS e FROM \(layer.table)) AS t")
          return Self.envelope(rows, from: 0).map { [$0] } ?? []
        }
        if let measured { return measured.first }
      }
      return try connection.briefly(Self.measuringTime) { () throws(FieldpackError) in
        try estimatedExtent(layer)
      }
    }

    /// What the user of the connection may do to the features of each table.
    private func rights() throws(FieldpackError) -> [UInt32: DescribedLayer.Rights] {
      guard !catalogue.layers.isEmpty else { return [:] }
      let tables = catalogue.layers.map { String($0.oid) }.joined(separator: ", ")
      let rows = try connection.execute(
        """
        SELECT c.oid::int8,
          has_table_privilege(c.oid, 'INSERT') OR has_any_column_privilege(c.oid, 'INSERT'),
          has_table_privilege(c.oid, 'UPDATE') OR has_any_column_privilege(c.oid, 'UPDATE'),
          has_table_privilege(c.oid, 'DELETE'),
          pg_is_in_recovery() OR current_setting('default_transaction_read_only') = 'on'
        FROM pg_class AS c WHERE c.oid IN (\(tables))
        """)
      var rights: [UInt32: DescribedLayer.Rights] = [:]
      for row in 0..<rows.count where !rows.flag(row, 4) {
        var own: DescribedLayer.Rights = []
        if rows.flag(row, 1) { own.insert(.create) }
        if rows.flag(row, 2) { own.insert(.update) }
        if rows.flag(row, 3) { own.insert(.delete) }
        rights[UInt32(truncatingIfNeeded: rows.integer(row, 0) ?? 0)] = own
      }
      return rights
    }
  }

  extension PostgresConnection {
    /// Runs `body`, which only reads, in a transaction; `nil` where one of its statements takes longer than
    /// `time`.
    func briefly<R>(
      _ time: Duration, _ body: () throws(FieldpackError) -> R?
    ) throws(FieldpackError) -> R? {
      try run(
        script: "SAVEPOINT fieldpack_brief; "
          + "SET LOCAL statement_timeout = \(max(1, time.wholeMilliseconds))")
      // That also takes the limit back.
      let end = "ROLLBACK TO SAVEPOINT fieldpack_brief; RELEASE SAVEPOINT fieldpack_brief"
      let value: R?
      do throws(FieldpackError) { value = try body() } catch {
        guard error.sqlState?.text == "57014", error.code == .unavailable else { throw error }
        try run(script: end)
        return nil
      }
      try run(script: end)
      return value
    }
  }
#endif
