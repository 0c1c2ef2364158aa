import FieldpackCore

/// One query on several stores.
struct FanOut: Sendable {
  struct Part: Sendable {
    let store: any Store
    let query: Query
  }

  let query: Query
  let parts: [Part]
  let report: QueryReport

  /// With one store the store does everything itself.
  func single() async throws(FieldpackError) -> FeatureBatches? {
    guard parts.count == 1 else { return nil }
    let part = parts[0]
    let batches = try await part.store.query(query.in(layers: part.query.layers))
    let report = report
    return FeatureBatches(report: report) {
      let relay = Relay(batches.makeAsyncIterator())
      return { () async throws(FieldpackError) in
        let batch = try await relay.next()
        if batch == nil { report.merge(batches.report) }
        return batch
      }
    }
  }

  /// With one store its answer in pieces, and which store it is.
  func pieces<Piece: PieceSink>(
    into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> (store: StoreID, pieces: FeaturePieces<Piece>)? {
    guard parts.count == 1 else { return nil }
    let part = parts[0]
    let pieces = try await part.store.pieces(of: query.in(layers: part.query.layers), into: make)
    let report = report
    let merged = FeaturePieces<Piece>(report: report) {
      let relay = PieceRelay(pieces.makeAsyncIterator())
      return { () async throws(FieldpackError) in
        let piece = try await relay.next()
        if piece == nil { report.merge(pieces.report) }
        return piece
      }
    }
    return (part.store.id, merged)
  }

  /// Reports a store that fails on the way, which does not stop the others; throws where stores
  /// were asked for by name, or nobody waits any more.
  func report(_ error: FieldpackError, of store: StoreID) throws(FieldpackError) {
    guard query.stores == nil, error.code != .interrupted else { throw error }
    report.add(failure: StoreFailure(store: store, error: error))
  }

  /// The columns that the stores are asked for: those wanted, and those to sort by.
  var askedColumns: [String]? {
    guard let wanted = query.columns else { return nil }
    return wanted + query.order.map(\.column).filter { !wanted.contains($0) }
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
    let skipped = contents.skipped.dropFirst(known?.skipped.count ?? 0)
    for feature in skipped { add(skipped: feature) }
    add(unlisted: contents.skippedCount - (known?.skippedCount ?? 0) - skipped.count)
    for failure in contents.failures { add(failure: failure) }
  }
}
