#if PostGIS
  import FieldpackCore

  /// Walks the rows of the layers of a plan: one layer after the other, or merged where the query has an
  /// order. It needs a transaction, whose state it reads.
  final class PostGISWalk {
    private let plan: PostGISPlan
    private let connection: PostgresConnection
    private let store: StoreID
    private let report: QueryReport
    private var waiting: ArraySlice<LayerPlan>
    private var readers: [LayerReader] = []
    /// The reader whose row was given last, in a merge.
    private var given: LayerReader?
    private let isMerging: Bool
    private var toSkip: Int
    private var toGive: Int
    /// A reader whose row waits for the next batch.
    private var held: LayerReader?

    init(
      _ plan: PostGISPlan, _ connection: PostgresConnection, store: StoreID, report: QueryReport
    ) throws(FieldpackError) {
      self.plan = plan
      self.connection = connection
      self.store = store
      self.report = report
      waiting = plan.layers[...]
      toSkip = plan.query.offset
      toGive = plan.query.limit ?? .max
      isMerging = !plan.query.order.isEmpty && plan.layers.count > 1
      if isMerging { try startMerging() }
    }

    private func startMerging() throws(FieldpackError) {
      for layer in plan.layers {
        let reader = try reader(layer, limit: plan.bounds(of: layer).limit, offset: 0)
        if try reader.advance() { readers.append(reader) }
      }
      waiting = []
    }

    private func reader(
      _ layer: LayerPlan, limit: Int?, offset: Int
    ) throws(FieldpackError) -> LayerReader {
      try LayerReader(
        layer, connection, store: store, limit: limit, offset: offset,
        report: plan.query.skipsErrors ? report : nil)
    }

    /// Whether each row of the reader that was given last is to be given, before those of another one.
    var isPlain: Bool { !isMerging && toSkip == 0 && toGive == .max }

    /// The reader on the next row; `nil` at the end.
    func next() throws(FieldpackError) -> LayerReader? {
      while toGive > 0 {
        guard let reader = isMerging ? try nextMerged() : try nextInTurn() else { return nil }
        if toSkip > 0 {
          toSkip -= 1
          continue
        }
        if toGive != .max { toGive -= 1 }
        if toGive == 0 { try closeReaders() }
        return reader
      }
      try closeReaders()
      return nil
    }

    /// Ends what is not read to its end: an open cursor keeps its table from being changed.
    private func closeReaders() throws(FieldpackError) {
      for reader in readers { try reader.close() }
    }

    private func nextInTurn() throws(FieldpackError) -> LayerReader? {
      while true {
        if let reader = readers.first {
          if try reader.advance() { return reader }
          readers.removeFirst()
        } else if let layer = waiting.popFirst() {
          readers = [try startedReader(layer)]
        } else {
          return nil
        }
      }
    }

    /// A reader whose server counts for limit and offset where it can.
    private func startedReader(_ layer: LayerPlan) throws(FieldpackError) -> LayerReader {
      if plan.pushesLimit {
        defer { toSkip = 0 }
        return try reader(layer, limit: plan.query.limit, offset: toSkip)
      }
      let (sum, overflow) = toGive.addingReportingOverflow(toSkip)
      let canLimit = layer.isExact && !plan.query.skipsErrors && !overflow && toGive != .max
      return try reader(layer, limit: canLimit ? sum : nil, offset: 0)
    }

    private func nextMerged() throws(FieldpackError) -> LayerReader? {
      if let last = given {
        given = nil
        if try !last.advance() { readers.removeAll { $0 === last } }
      }
      guard var best = readers.first else { return nil }
      for reader in readers.dropFirst() where precedes(reader.keys, best.keys) { best = reader }
      given = best
      return best
    }

    private func precedes(_ a: [Value], _ b: [Value]) -> Bool {
      for (index, order) in plan.query.order.enumerated() {
        if a[index].sorts(before: b[index]) { return !order.isDescending }
        if b[index].sorts(before: a[index]) { return order.isDescending }
      }
      return false
    }

    /// The next rows of one layer; a row of another layer waits for the next call.
    func batch() throws(FieldpackError) -> FeatureBatch? {
      let first: LayerReader
      if let held {
        first = held
      } else if let next = try next() {
        first = next
      } else {
        return nil
      }
      held = nil
      var batch = FeatureBatch(store: store, schema: first.plan.shape)
      if let row = first.row { batch.append(row) }
      while !batch.isFull, let reader = try next() {
        guard reader === first else {
          held = reader
          break
        }
        if let row = reader.row { batch.append(row) }
      }
      return batch
    }
  }
#endif
