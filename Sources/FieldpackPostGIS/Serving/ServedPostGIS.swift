#if PostGIS
  package import FieldpackCore
  import FieldpackGeoPackage
  package import FieldpackGeometry
  import FieldpackProjection
  package import FieldpackServices

  /// A database as it is served.
  package final class ServedPostGIS: ServedDatabase {
    let store: PostGISStore
    /// The layers with features without geometry, and when that was looked for.
    private let bare = Locked<[LayerID: Bareness]>([:])

    private struct Bareness {
      var version: String
      /// The text of the layer's log; `nil` where it has none.
      var counter: String?
      var isBare: Bool
    }

    package init(_ store: PostGISStore) { self.store = store }

    package var id: StoreID { store.id }
    package var place: String { "\(store.pool.address.shown) (\(store.scope.schema))" }
    package var peer: any SyncPeer { PostGISSyncPeer(of: store) }
    package var layers: any Store { store }

    package func check() async throws(FieldpackError) {
      try await store.pool.run { (connection) throws(FieldpackError) in
        _ = try connection.execute("SELECT 1")
      }
    }

    package func describedLayers() async throws(FieldpackError) -> [DescribedLayer] {
      try await store.snapshot { (snapshot) throws(FieldpackError) in
        try snapshot.describedLayers()
      }
    }

    // MARK: Versions

    /// Where all of the layers have logs, only edits and changes of their tables change the text.
    package func counter(of layers: [LayerID]) async throws(FieldpackError) -> String? {
      let catalogue = try await store.catalogue()
      let found = layers.compactMap { catalogue.layer($0) }
      guard found.count == layers.count, !found.isEmpty else { return nil }
      if let counter = try await logCounter(of: found) { return counter }
      return try await state(of: found)
    }

    package func version(of layer: LayerID) async throws(FieldpackError) -> String? {
      try await state(of: [try await self.layer(layer)])
    }

    /// What a transaction of the database would see now, by the numbers of other transactions: two that are
    /// equal see the same rows, because each commit that changes a row ends a transaction with a number.
    ///
    /// That does not hold for views, which may tell the time, for other servers, for rules that hide rows,
    /// and for a standby, which does not know the numbers.
    private func state(of layers: [PostGISLayer]) async throws(FieldpackError) -> String? {
      let tables = layers.map { String($0.oid) }.joined(separator: ", ")
      let rows = try await store.pool.run { (connection) throws(FieldpackError) in
        try connection.execute(
          """
          SELECT pg_current_snapshot()::text, extract(epoch FROM pg_postmaster_start_time())::text,
            NOT pg_is_in_recovery() AND NOT EXISTS (SELECT FROM pg_class c
              WHERE c.oid IN (\(tables)) AND (c.relrowsecurity OR CASE c.relkind
                WHEN 'r' THEN c.relhassubclass WHEN 'm' THEN FALSE
                WHEN 'p' THEN EXISTS (SELECT FROM pg_partition_tree(c.oid) AS t
                  JOIN pg_class AS k ON k.oid = t.relid WHERE k.relkind = 'f')
                ELSE TRUE END))
          """
        ).firstRow
      }
      guard rows.isTold, let snapshot = rows.snapshot, let start = rows.start else { return nil }
      // The snapshot names all transactions that are open.
      var hash = Hasher()
      hash.combine(start)
      hash.combine(snapshot)
      let state = String(UInt(bitPattern: hash.finalize()), radix: 36)
      return "\(state)-\(Self.shape(of: layers))"
    }

    /// A table may get other columns in a transaction that is seen while the old ones are still known.
    static func shape(of layers: [PostGISLayer]) -> String {
      var hash = Hasher()
      for layer in layers { hash.combine(layer.schema) }
      return String(UInt(bitPattern: hash.finalize()), radix: 36)
    }

    /// An index of envelopes finds the rows without geometry only by a look at all of its pages.
    package func featuresWithoutGeometry(
      of layer: LayerID, _ version: String?
    ) async throws(FieldpackError) -> Filter? {
      let found = try await self.layer(layer)
      guard let geometry = found.geometry else { return nil }
      let isBare = try await isBare(found, geometry, version)
      return isBare ? .isNull(.column(geometry.name)) : nil
    }

    private func isBare(
      _ found: PostGISLayer, _ geometry: PostGISLayer.GeometrySource, _ version: String?
    ) async throws(FieldpackError) -> Bool {
      let layer = found.schema.layer
      guard let version else { return true }
      let known = bare.withLock { $0[layer] }
      if let known, known.version == version { return known.isBare }
      let counter = try await logCounter(of: [found])
      let isBare: Bool
      if let known, let counter, known.counter == counter {
        isBare = known.isBare
      } else {
        isBare = try await hasBareRows(found, geometry)
      }
      let now = Bareness(version: version, counter: counter, isBare: isBare)
      bare.withLock { $0[layer] = now }
      return isBare
    }

    private func hasBareRows(
      _ layer: PostGISLayer, _ geometry: PostGISLayer.GeometrySource
    ) async throws(FieldpackError) -> Bool {
      try await store.pool.run { (connection) throws(FieldpackError) in
        let rows = try connection.execute(
          """
          SELECT CASE WHEN attnotnull THEN FALSE
            ELSE EXISTS (SELECT FROM \(layer.table) WHERE \(geometry.quoted) IS NULL) END
          FROM pg_attribute WHERE attrelid = $1::int8::oid AND attname = $2
          """, [.integer(Int64(layer.oid)), .text(geometry.name)])
        return rows.count == 0 || rows.flag(0, 0)
      }
    }

    // MARK: Reading and changing

    package func read<R: Sendable>(
      _ body: @Sendable (any ServedSnapshot) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R {
      // It is not tried again where it fails: a part of the answer may be on its way already.
      try await store.state { (snapshot) throws(FieldpackError) in try body(snapshot) }
    }

    package func readSoon<R: Sendable>(
      _ body: @Sendable (any ServedSnapshot) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R {
      try await store.snapshot { (snapshot) throws(FieldpackError) in try body(snapshot) }
    }

    /// Every reading waits for the server.
    package func readAtOnce<R>(
      _ body: (any ServedSnapshot) throws(FieldpackError) -> R
    ) throws(FieldpackError) -> R? { nil }

    /// Few connections are open at a time, and they hold hardly any memory here.
    package func closeUnusedConnections() async {}

    package func edit<R: Sendable>(
      weight: Int, _ body: @escaping @Sendable (any ServedWriting) throws(FieldpackError) -> R
    ) async throws(FieldpackError) -> R {
      try await store.writing { (writer) throws(FieldpackError) in try body(writer) }
    }

    package func brokenRule(_ error: FieldpackError) -> BrokenRule? {
      guard error.code == .constraint, let state = error.sqlState else { return nil }
      switch state.text {
      case "23502": return BrokenRule(.notNull, columns: state.column.map { [$0] } ?? [])
      case "23505": return BrokenRule(.unique, columns: Self.key(in: error.message))
      case "23P01": return BrokenRule(.unique)
      case "23503": return BrokenRule(.relation)
      default: return BrokenRule(.other)
      }
    }

    /// The columns of a key in the detail of a message, such as `Key (name)=(Nord) already exists`, in
    /// whatever language the server speaks.
    private static func key(in message: String) -> [String] {
      guard let end = message.firstRange(of: ")=(")?.lowerBound,
        let start = message[..<end].lastIndex(of: "(")
      else { return [] }
      return message[message.index(after: start)..<end].split(separator: ", ").map { name in
        name.first == "\"" ? String(name.dropFirst().dropLast()) : String(name)
      }
    }

    // MARK: Transforming

    package func transformed(
      _ geometries: [Geometry], from srs: SRS, to layer: LayerID
    ) async throws(FieldpackError) -> [Geometry] {
      let found = try await self.layer(layer)
      if found.schema.geometry?.srs == srs { return geometries }
      return try Self.transformed(geometries, from: SRSReference(srs), to: found.reference, found)
    }

    package func transformed(
      _ geometries: [Geometry], of layer: LayerID, to srs: SRS
    ) async throws(FieldpackError) -> [Geometry] {
      let found = try await self.layer(layer)
      return try Self.transformed(geometries, from: found.reference, to: SRSReference(srs), found)
    }

    func layer(_ id: LayerID) async throws(FieldpackError) -> PostGISLayer {
      let catalogue = try await store.catalogue()
      guard let layer = catalogue.layer(id) else { throw catalogue.missing(id) }
      return layer
    }

    private static func transformed(
      _ geometries: [Geometry], from source: SRSReference, to target: SRSReference,
      _ layer: PostGISLayer
    ) throws(FieldpackError) -> [Geometry] {
      guard !geometries.isEmpty, layer.schema.geometry?.srs.isUndefined == false else {
        return geometries
      }
      do throws(ProjectionError) {
        let transformation = try CoordinateTransformation(from: source, to: target)
        var moved: [Geometry] = []
        for geometry in geometries { moved.append(try transformation.transform(geometry)) }
        return moved
      } catch { throw FieldpackError(error, location: .init(layer: layer.layer)) }
    }
  }

  /// The numbers of a state of the database, and whether they tell all changes of the tables.
  private struct StateNumbers: Sendable {
    var snapshot: String?
    var start: String?
    var isTold: Bool
  }

  extension PostgresRows {
    fileprivate var firstRow: StateNumbers {
      StateNumbers(
        snapshot: count > 0 ? text(0, 0) : nil, start: count > 0 ? text(0, 1) : nil,
        isTold: count > 0 && flag(0, 2))
    }
  }
#endif
