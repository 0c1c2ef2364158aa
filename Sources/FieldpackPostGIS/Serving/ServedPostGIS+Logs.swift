#if PostGIS
  package import FieldpackCore
  import FieldpackField
  import FieldpackGeoPackage
  import FieldpackGeometry
  import FieldpackProjection
  package import FieldpackServices
  import FieldpackSQLite

  /// What happens in a database, by the change logs of its layers.
  extension ServedPostGIS {
    /// None for a user who may not read the logs.
    package func changeLogs() async throws(FieldpackError) -> [ServedLog] {
      do throws(FieldpackError) {
        try await givePositions()
        return try await store.snapshot { (snapshot) throws(FieldpackError) in
          var logs: [ServedLog] = []
          for log in try snapshot.logs() {
            logs.append(
              ServedLog(
                schema: log.values.layer.schema, origin: log.origin, head: try log.lastPosition()))
          }
          return logs
        }
      } catch {
        guard error.code == .permission else { throw error }
        return []
      }
    }

    /// Gives positions to what was committed since the last time. A user who may not write to the logs sees
    /// the edits once somebody else has done that.
    private func givePositions() async throws(FieldpackError) {
      let waiting = try await store.snapshot { (snapshot) throws(FieldpackError) in
        var waiting: [LayerID] = []
        for log in try snapshot.logs() where try log.hasWaiting() { waiting.append(log.layer) }
        return waiting
      }
      for layer in waiting {
        do throws(FieldpackError) { try await store.givePositions(in: layer) } catch {
          guard error.code == .permission || error.code == .readOnly else { throw error }
        }
      }
    }

    /// A text that each edit of the layers changes, and each change of their tables; `nil` where one of them
    /// has no log of all edits, or the user may not read it.
    ///
    /// The edits that have positions are told by the last position. Those that wait for one become more
    /// with each commit, until they get them.
    func logCounter(of layers: [PostGISLayer]) async throws(FieldpackError) -> String? {
      do throws(FieldpackError) { return try await counterOfLogs(layers) } catch {
        guard error.code == .permission || error.code == .notFound else { throw error }
        return nil
      }
    }

    private func counterOfLogs(_ layers: [PostGISLayer]) async throws(FieldpackError) -> String? {
      // Whoever writes at another server passes the triggers by.
      guard layers.allSatisfy({ $0.shards == nil }) else { return nil }
      let shape = Self.shape(of: layers)
      let found = try await store.snapshot {
        (snapshot) throws(FieldpackError) -> (text: String, waiting: [LayerID])? in
        let tables = LogTables(schema: snapshot.scope.schema)
        guard try PostGISLog.exist(tables, snapshot.connection),
          let state = try snapshot.stateOfTables(layers)
        else { return nil }
        var (text, waiting) = ("\(shape)-\(state)", [LayerID]())
        for layer in layers {
          let log = try snapshot.log(of: layer.layer)
          guard try log.isCurrent() else { return nil }
          let count = try log.waitingCount()
          if count > 1_000 { waiting.append(layer.layer) }
          text += "-\(log.origin.prefix(8)).\(try log.lastPosition()).\(count)"
        }
        return (text, waiting)
      }
      guard let found else { return nil }
      // To count many takes long.
      for layer in found.waiting { try? await store.givePositions(in: layer) }
      return found.text
    }

    package func changes(
      of layer: LayerID, after position: Int64, limit: Int
    ) async throws(FieldpackError) -> [ServedChange] {
      try await store.snapshot { (snapshot) throws(FieldpackError) in
        let log = try snapshot.log(of: layer)
        let edits = try log.edits(after: position, limit: limit)
        let states = LogStates(log)
        let before = try states.before(after: position, limit: limit)
        var changes: [ServedChange] = []
        for edit in edits {
          let kind: ChangeLog.Kind =
            switch edit.edit.operation {
            case .insert: .created
            case .update: .updated
            case .delete: .deleted
            }
          changes.append(
            ServedChange(
              position: edit.edit.position, kind: kind, id: edit.edit.id,
              feature: .integer(edit.feature), time: edit.edit.time,
              state: states.feature(edit.edit.values), before: before[edit.edit.position]))
        }
        return changes
      }
    }

    package func position(
      before time: Instant, of layer: LayerID
    ) async throws(FieldpackError) -> Int64 {
      try await store.snapshot { (snapshot) throws(FieldpackError) in
        let log = try snapshot.log(of: layer)
        let position = log.shape.own(.position)
        let rows = try log.connection.execute(
          "SELECT min(\(position)) FROM \(log.shape.log) WHERE \(position) IS NOT NULL "
            + "AND \(log.shape.own(.time)) >= to_timestamp($1::float8)",
          [.real(time.unixSeconds)])
        if let first = rows.integer(0, 0) { return first - 1 }
        return try log.lastPosition()
      }
    }

    package func listenForCommits(_ tell: @Sendable () -> Void) async throws(FieldpackError) {
      try await store.hearCommits { () async throws(FieldpackError) in tell() }
    }
  }

  extension PostGISSnapshot {
    fileprivate func logs() throws(FieldpackError) -> [PostGISLog] {
      try PostGISLog.all(catalogue, scope, connection)
    }

    /// A text that each change of the tables and of their triggers changes; `nil` where one of them has rows
    /// of other tables, or rules that hide rows, whose changes no log tells.
    fileprivate func stateOfTables(_ layers: [PostGISLayer]) throws(FieldpackError) -> String? {
      let tables = layers.map { String($0.oid) }.joined(separator: ", ")
      let rows = try connection.execute(
        """
        SELECT count(*), md5(string_agg(concat_ws('.', c.oid, c.relfilenode, c.xmin, (
          SELECT string_agg(t.xmin::text, '.' ORDER BY t.oid) FROM pg_trigger t
          WHERE t.tgrelid = c.oid)), '-' ORDER BY c.oid))
        FROM pg_class c WHERE c.oid IN (\(tables)) AND c.relkind = 'r' AND NOT c.relhassubclass
          AND NOT c.relrowsecurity
        """)
      guard rows.integer(0, 0) == Int64(Set(layers.map(\.oid)).count) else { return nil }
      return rows.text(0, 1)
    }
  }

  /// Makes features in longitude and latitude of the rows of a log.
  private struct LogStates {
    private let log: PostGISLog
    private let layer: PostGISLayer
    /// `nil` where positions stay as they are.
    private let transformation: CoordinateTransformation?
    /// Whether positions have no place in longitude and latitude.
    private let isLost: Bool

    init(_ log: PostGISLog) {
      self.log = log
      layer = log.values.layer
      let srs = layer.schema.geometry?.srs ?? .undefinedCartesian
      guard !srs.isUndefined, srs != .wgs84 else {
        (transformation, isLost) = (nil, false)
        return
      }
      transformation = try? CoordinateTransformation(
        from: layer.reference, to: SRSReference(.wgs84))
      isLost = transformation == nil
    }

    /// - Parameter values: those of the log's names, as a GeoPackage has them.
    func feature(_ values: [SQLiteValue]) -> Feature {
      var feature = Feature()
      for (name, value) in zip(log.values.names, values) {
        if name == layer.geometry?.name {
          feature.geometry = geometry(value)
        } else if let index = layer.schema.columnIndex(name) {
          let column = layer.schema.columns[index]
          feature.attributes[column.name] = column.type.value(Value(value))
        }
      }
      return feature
    }

    private func geometry(_ value: SQLiteValue) -> Geometry? {
      guard !isLost, case .blob(let blob) = value,
        let header = try? GeoPackageBinary(blob.span.bytes),
        let read = try? WKB.read(blob.span.bytes.extracting(droppingFirst: header.bodyOffset))
      else { return nil }
      guard let transformation else { return read }
      return try? transformation.transform(read)
    }

    /// The features as they were before updates, by the positions of the updates.
    func before(
      after position: Int64, limit: Int
    ) throws(FieldpackError) -> [Int64: Feature] {
      let shape = log.shape
      let own = shape.own
      let place = #""fieldpack position""#
      let rows = try log.connection.execute(
        """
        SELECT \(([place] + log.values.selection).joined(separator: ", ")) FROM (
          SELECT p.*, a.\(own(.position)) AS \(place)
          FROM (SELECT * FROM \(shape.log) WHERE \(own(.position)) > $1
            ORDER BY \(own(.position)) LIMIT $2) AS a
          CROSS JOIN LATERAL (\(log.previous)) AS p
          WHERE a.\(own(.operation)) = 2
        ) AS r
        """, [.integer(position), .integer(Int64(limit))])
      var features: [Int64: Feature] = [:]
      for row in 0..<rows.count {
        guard let number = rows.integer(row, 0) else { continue }
        let values = try log.values.values(rows, row, from: 1)
        features[number] = feature(Array(values.dropFirst()))
      }
      return features
    }
  }
#endif
