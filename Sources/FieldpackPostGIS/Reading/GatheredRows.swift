#if PostGIS
  import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackGeometry

  /// The features of a query in a temporary GeoPackage, which sorts them by distance and works on their
  /// geometries as it does with its own.
  final class GatheredRows: Sendable {
    /// The column of the ids that are texts.
    private static let idColumn = "fieldpack_text_id"

    private let plan: PostGISPlan
    private let storeID: StoreID
    /// Keeps the file.
    private let file: PendingFile

    /// Gathers the features, on the thread of the connection.
    init(
      _ plan: PostGISPlan, _ connection: PostgresConnection, _ catalogue: PostGISCatalogue,
      report: QueryReport
    ) throws(FieldpackError) {
      self.plan = plan
      storeID = catalogue.store
      let folder = UnnamedFile.usualFolder
      file = try PendingFile(target: folder + "/fieldpack-postgis.gpkg", overwrite: true)
      let writer = try GeoPackageBulkWriter(filling: file, store: storeID)
      writer.keepsNames = true
      let planner = PostGISPlanner(catalogue: catalogue)
      for layer in plan.layers {
        let search = NearestCandidates(layer, plan.query, connection, catalogue)
        let candidates = try search.candidates()
        let schema = Self.stored(layer.layer.schema)
        _ = try writer.create(schema, ids: .given)
        try writer.loader.begin(schema)
        let walk = try PostGISWalk(
          planner.plan(candidates), connection, store: storeID, report: report)
        var number: Int64 = 0
        while let reader = try walk.next() {
          guard let row = reader.row else { continue }
          number += 1
          try writer.loader.feature(
            NumberedRow(row: row, number: number, hidden: schema.columns.count - 1))
        }
      }
      _ = try writer.commit()
    }

    /// The columns as they are gathered: the rules of the database do not matter here.
    private static func stored(_ schema: Schema) -> Schema {
      var stored = schema
      stored.idColumn = "fid"
      stored.geometry?.type = .geometry
      stored.geometry?.z = .optional
      stored.geometry?.m = .optional
      stored.columns = schema.columns.map { column in
        var plain = ColumnDefinition(column.name, column.type)
        if case .text = column.type { plain.type = .text() }
        return plain
      }
      stored.columns.append(ColumnDefinition(idColumn, .text()))
      return stored
    }

    private var inner: Query {
      let query = plan.query.in(layers: plan.layers.map(\.name)).where(.all)
      return query.columns.map { query.select($0 + [Self.idColumn]) } ?? query
    }

    private func open() async throws(FieldpackError) -> GeoPackageStore {
      var profile = OpeningProfile.own
      profile.shownPath = "gathered features"
      return try await GeoPackageStore(path: file.path, id: storeID, profile: profile)
    }

    func count() async throws(FieldpackError) -> Int { try await open().count(inner) }

    /// The answer, with its report.
    func batches(_ report: QueryReport) async throws(FieldpackError) -> FeatureBatches.Next {
      let store = try await open()
      let answer = Answer(of: self, store, try await store.query(inner), report)
      return { () async throws(FieldpackError) in try await answer.next() }
    }

    /// Reads the answer; the file lives as long.
    private actor Answer {
      private let rows: GatheredRows
      private let store: GeoPackageStore
      private let answer: FeatureBatches
      private let batches: FeatureBatches.Iterator
      private let report: QueryReport

      init(
        of rows: GatheredRows, _ store: GeoPackageStore, _ answer: FeatureBatches,
        _ report: QueryReport
      ) {
        self.rows = rows
        self.store = store
        self.answer = answer
        self.report = report
        batches = answer.makeAsyncIterator()
      }

      func next() async throws(FieldpackError) -> FeatureBatch? {
        guard let batch = try await batches.next() else {
          report.add(skipped: answer.report.current.skipped)
          await store.close()
          return nil
        }
        return rows.restored(batch)
      }
    }

    fileprivate func restored(_ batch: FeatureBatch) -> FeatureBatch {
      guard let layer = plan.layers.first(where: { $0.name == batch.schema.layer }),
        let hidden = batch.schema.columnIndex(Self.idColumn)
      else { return batch }
      var restored = FeatureBatch(store: batch.store, schema: layer.shape)
      for index in 0..<batch.count {
        restored.append(GatheredRow(row: batch[index], hidden: hidden))
      }
      return restored
    }
  }

  /// A row with a number for its id, whose text goes to the last column.
  private struct NumberedRow: FeatureRow {
    let row: PostGISRow
    let number: Int64
    let hidden: Int

    private var text: String? {
      if case .text(let text) = row.id { text } else { nil }
    }

    var id: FeatureID { text == nil ? row.id : .integer(number) }
    var envelope: Envelope? { row.envelope }

    func kind(at column: Int) -> ValueKind {
      column == hidden ? (text == nil ? .null : .text) : row.kind(at: column)
    }
    func integer(at column: Int) -> Int64 { column == hidden ? 0 : row.integer(at: column) }
    func real(at column: Int) -> Double { column == hidden ? .nan : row.real(at: column) }

    func withBytes<R, E: Error>(
      at column: Int, _ body: (RawSpan) throws(E) -> R
    ) throws(E) -> R {
      guard column == hidden else { return try row.withBytes(at: column, body) }
      let bytes = Array((text ?? "").utf8)
      return try body(bytes.span.bytes)
    }

    func withGeometry<R, E: Error>(_ body: (RawSpan) throws(E) -> R) throws(E) -> R? {
      try row.withGeometry(body)
    }
  }
#endif
