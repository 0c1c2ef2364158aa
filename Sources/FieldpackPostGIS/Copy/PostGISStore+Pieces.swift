#if PostGIS
  package import FieldpackCore
  import FieldpackGeoPackage
  import FieldpackGeometry
  import FieldpackProjection

  extension PostGISStore {
    /// The answer in pieces. Rows that need no parameter and no order but that of their ids come by one
    /// `COPY … TO STDOUT` for each layer, all others from batches.
    package func pieces<Piece: PieceSink>(
      of query: Query, into make: @escaping @Sendable () -> Piece
    ) async throws(FieldpackError) -> FeaturePieces<Piece> {
      let report = QueryReport()
      let plan = try PostGISPlanner(catalogue: try await catalogue(for: query, report)).plan(query)
      guard plan.isCopied else { return try await self.query(query).pieces(into: make) }
      for note in plan.notes { report.add(note: note) }
      let (pool, id) = (pool, id)
      return FeaturePieces(report: report) {
        let feed = CopyFeed<Piece>()
        let (channel, number) = (feed.channel, feed.number)
        let task = Task {
          do throws(FieldpackError) {
            try await pool.run { (connection) throws(FieldpackError) in
              try connection.transaction(.snapshot) { () throws(FieldpackError) in
                for layer in plan.layers {
                  let copy = LayerCopy(
                    layer, store: id, report: plan.query.skipsErrors ? report : nil)
                  guard try copy.run(on: connection, to: channel, number, make) else { return }
                }
              }
            }
            channel.complete(number)
          } catch {
            channel.complete(number, error.adding(location: .init(store: id)))
          }
        }
        feed.task.withLock { $0 = task }
        return { () async throws(FieldpackError) in try await feed.next() }
      }
    }
  }

  extension PostGISPlan {
    /// Whether the rows can be asked for by COPY, whose statement takes no parameters.
    fileprivate var isCopied: Bool {
      gathering == nil && query.order.isEmpty && query.limit == nil && query.offset == 0
        && layers.allSatisfy { $0.isExact && $0.statement().values.isEmpty }
    }
  }

  /// The pieces that the connection's thread fills; ends that work when nobody asks any more.
  private final class CopyFeed<Piece: PieceSink>: Sendable {
    let channel = OrderedChannel<Piece>(capacity: 3)
    let number: Int
    /// Fills the channel.
    let task = Locked<Task<Void, Never>?>(nil)

    init() {
      number = channel.open()
      channel.openedAll()
    }

    deinit { stop() }

    func next() async throws(FieldpackError) -> Piece? {
      do throws(FieldpackError) {
        return try await channel.next()
      } catch {
        stop()
        throw error
      }
    }

    /// Ends the statement, too, which may be long without a row.
    private func stop() {
      channel.stop()
      task.withLock { $0 }?.cancel()
    }
  }

  /// Reads one layer by COPY.
  private final class LayerCopy {
    private let plan: LayerPlan
    private let store: StoreID
    private let columns: RowColumns
    /// Told of rows that are passed over; `nil` where an error ends the reading.
    private let report: QueryReport?

    init(_ plan: LayerPlan, store: StoreID, report: QueryReport?) {
      self.plan = plan
      self.store = store
      self.report = report
      columns = plan.reading.answer
    }

    private static let unwanted = FieldpackError(.interrupted, "nobody asks for more rows")

    /// - Returns: whether further layers are wanted.
    func run<Piece: PieceSink>(
      on connection: PostgresConnection, to channel: OrderedChannel<Piece>, _ number: Int,
      _ make: () -> Piece
    ) throws(FieldpackError) -> Bool {
      let transformation = try plan.transformation()
      var reader = CopyReader(
        fieldCount: LayerPlan.leading + plan.fetched.count, longestRow: connection.answerBytes)
      var piece: Piece?
      var isWanted = true
      do throws(FieldpackError) {
        try connection.copyOut("COPY (\(plan.statement().sql)) TO STDOUT (FORMAT binary)") {
          (bytes) throws(FieldpackError) in
          try reader.read(bytes) { (bytes, fields) throws(FieldpackError) in
            var row = CopyRow(bytes, fields, columns)
            try row.check()
            guard try move(&row, transformation) else { return }
            if piece == nil {
              piece = make()
              try piece?.begin(plan.shape)
            }
            try piece?.feature(row)
            guard piece?.isFull == true, let full = piece else { return }
            piece = nil
            isWanted = channel.hand(full, of: number)
            if !isWanted { throw Self.unwanted }
          }
        }
        try reader.finish()
      } catch {
        throw error.adding(location: .init(store: store, layer: plan.name))
      }
      guard let piece else { return !channel.isOver }
      return channel.hand(piece, of: number)
    }

    /// Transforms the geometry of a row; `false` for a row that is passed over.
    private func move(
      _ row: inout CopyRow, _ transformation: CoordinateTransformation?
    ) throws(FieldpackError) -> Bool {
      guard let transformation else { return true }
      let bytes = row.withGeometry { span in span.withUnsafeBytes { Array($0) } }
      guard var wkb = bytes else { return true }
      do throws(ProjectionError) {
        let envelope = try transformation.transform(wkb: &wkb)
        row.moved = wkb
        row.envelope = envelope.isEmpty ? nil : envelope
        return true
      } catch {
        let failure = FieldpackError(
          .invalidData, "the geometry of feature \(row.id): \(error.message)",
          location: .init(store: store, layer: plan.name, feature: row.id), underlying: error)
        guard let report else { throw failure }
        report.add(skipped: SkippedFeature(failure))
        return false
      }
    }
  }
#endif
