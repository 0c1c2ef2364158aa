import FieldpackCore

/// One query on several stores.
struct FanOut: QueryAnswering {
  /// What one store answers.
  struct Part: Sendable {
    let store: any Store
    let prepared: PreparedQuery
    var query: Query { prepared.query }

    init(_ store: any Store, _ prepared: PreparedQuery) {
      (self.store, self.prepared) = (store, prepared)
    }
  }

  let query: Query
  let parts: [Part]
  /// What came of asking the stores, beside what each of them has to tell.
  let report: QueryReport

  /// The layers that answer, without the columns that were asked for only to sort.
  var layers: [PreparedLayer] {
    let layers = parts.flatMap(\.prepared.layers)
    guard parts.count > 1, !query.order.isEmpty, let columns = query.columns else { return layers }
    return layers.map { layer in
      var layer = layer
      layer.schema.columns = columns.compactMap { name in
        layer.schema.columnIndex(name).map { layer.schema.columns[$0] }
      }
      return layer
    }
  }

  /// What planning had to tell.
  var notes: [Note] {
    var notes = report.current.notes
    for note in parts.flatMap(\.prepared.notes) where !notes.contains(note) { notes.append(note) }
    return notes
  }

  /// A report that begins with what came of asking the stores.
  private var newReport: QueryReport {
    let new = QueryReport()
    new.merge(report)
    return new
  }

  func batches() async throws(FieldpackError) -> FeatureBatches {
    let report = newReport
    guard parts.count == 1 else {
      let fanOut = FanOut(query: query, parts: parts, report: report)
      return FeatureBatches(report: report) {
        let walk = FanOutWalk(fanOut)
        return { () async throws(FieldpackError) in try await walk.next() }
      }
    }
    let batches = try await parts[0].prepared.batches()
    if report.current.isEmpty { return batches }
    return FeatureBatches(report: report) {
      let relay = Relay(batches.makeAsyncIterator())
      return { () async throws(FieldpackError) in
        let batch = try await relay.next()
        if batch == nil { report.merge(batches.report) }
        return batch
      }
    }
  }

  func pieces<Piece: PieceSink>(
    into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> FeaturePieces<Piece> {
    guard parts.count == 1 else { return try await batches().pieces(into: make) }
    let report = newReport
    let pieces = try await parts[0].prepared.pieces(into: make)
    if report.current.isEmpty { return pieces }
    return FeaturePieces<Piece>(report: report) {
      let relay = PieceRelay(pieces.makeAsyncIterator())
      return { () async throws(FieldpackError) in
        let piece = try await relay.next()
        if piece == nil { report.merge(pieces.report) }
        return piece
      }
    }
  }

  func count() async throws(FieldpackError) -> Int { try await count(to: newReport) }

  func count(to report: QueryReport) async throws(FieldpackError) -> Int {
    if parts.count == 1 { return try await count(parts[0], to: report) }
    var total = 0
    for part in parts {
      do throws(FieldpackError) {
        total += try await count(part, to: report)
      } catch {
        guard query.stores == nil, error.code != .interrupted else { throw error }
        report.add(failure: StoreFailure(store: part.store.id, error: error))
      }
    }
    return min(max(0, total - query.offset), query.limit ?? .max)
  }

  /// Tells what is known before the first batch is read as well.
  private func count(_ part: Part, to report: QueryReport) async throws(FieldpackError) -> Int {
    report.merge(try await part.prepared.batches().report)
    return try await part.prepared.count()
  }

  func explain() async throws(FieldpackError) -> [Explanation] {
    var explanations: [Explanation] = []
    for part in parts { explanations += try await part.prepared.explain() }
    return explanations
  }

  func estimatedRows() async throws(FieldpackError) -> [LayerID: Int] {
    var rows: [LayerID: Int] = [:]
    for part in parts {
      try await rows.merge(part.prepared.estimatedRows()) { $0 + $1 }
    }
    return rows
  }

  /// Reports a store that fails on the way, which does not stop the others; throws where stores
  /// were asked for by name, or nobody waits any more.
  func report(_ error: FieldpackError, of store: StoreID) throws(FieldpackError) {
    guard query.stores == nil, error.code != .interrupted else { throw error }
    report.add(failure: StoreFailure(store: store, error: error))
  }
}

/// Hands an iterator's batches on.
private actor Relay {
  private let iterator: FeatureBatches.Iterator

  init(_ iterator: FeatureBatches.Iterator) { self.iterator = iterator }

  func next() async throws(FieldpackError) -> FeatureBatch? { try await iterator.next() }
}

/// Hands an iterator's pieces on.
private actor PieceRelay<Piece: PieceSink> {
  private let iterator: FeaturePieces<Piece>.Iterator

  init(_ iterator: FeaturePieces<Piece>.Iterator) { self.iterator = iterator }

  func next() async throws(FieldpackError) -> Piece? { try await iterator.next() }
}

extension QueryReport {
  /// Takes over what another report holds, but for what `known` says of features passed over.
  package func merge(_ other: QueryReport, beyond known: Contents? = nil) {
    let contents = other.current
    for note in contents.notes { add(note: note) }
    var skipped = contents.skipped
    if let known { skipped.remove(known: known.skipped) }
    add(skipped: skipped)
    for failure in contents.failures { add(failure: failure) }
  }
}
