public import FieldpackCore

extension Workspace {
  /// The features that `query` asks for, across its stores, in batches.
  ///
  /// A query that names no stores is answered by those that are up; the others stand under
  /// `failures` of the batches' report. One that names a store that is down throws.
  public nonisolated func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches {
    let report = QueryReport()
    let parts = try await parts(of: query, report: report)
    let fanOut = FanOut(query: query, parts: parts, report: report)
    if let single = try await fanOut.single() { return single }
    return FeatureBatches(report: report) {
      let walk = FanOutWalk(fanOut)
      return { () async throws(FieldpackError) in try await walk.next() }
    }
  }

  /// The answer to `query` in sinks that `make` makes, where one store gives it; `nil` for several.
  ///
  /// As ``Store/pieces(of:into:)``, with failures as in ``query(_:)``.
  package nonisolated func pieces<Piece: PieceSink>(
    of query: Query, into make: @escaping @Sendable () -> Piece
  ) async throws(FieldpackError) -> (store: StoreID, pieces: FeaturePieces<Piece>)? {
    let report = QueryReport()
    let parts = try await parts(of: query, report: report)
    return try await FanOut(query: query, parts: parts, report: report).pieces(into: make)
  }

  /// How many features `query` gives; stores that are down are left out and reported.
  public nonisolated func count(
    _ query: Query, report: QueryReport = QueryReport()
  ) async throws(FieldpackError) -> Int {
    let parts = try await parts(of: query, report: report)
    let fanOut = FanOut(query: query, parts: parts, report: report)
    var total = 0
    for part in parts {
      do throws(FieldpackError) {
        total += try await part.store.count(part.query)
      } catch {
        guard parts.count > 1 else { throw error }
        try fanOut.report(error, of: part.store.id)
      }
    }
    return min(max(0, total - query.offset), query.limit ?? .max)
  }

  /// How each layer asked would answer.
  public nonisolated func explain(_ query: Query) async throws(FieldpackError) -> [Explanation] {
    let parts = try await parts(of: query, report: QueryReport())
    var explanations: [Explanation] = []
    for part in parts {
      let asked = parts.count == 1 ? query.in(layers: part.query.layers) : part.query
      explanations += try await part.store.explain(asked)
    }
    return explanations
  }

  /// The stores asked with the part of the query that each answers: without offset, and with the
  /// layers that it has.
  private nonisolated func parts(
    of query: Query, report: QueryReport
  ) async throws(FieldpackError) -> [FanOut.Part] {
    var parts: [FanOut.Part] = []
    var missing: FieldpackError?
    var failed: FieldpackError?
    var unseen = query.layers
    for store in try askedStores(query, report) {
      do throws(FieldpackError) {
        let layers = try await layers(of: query, in: store)
        unseen.removeAll(where: layers.contains)
        if !query.layers.isEmpty, layers.isEmpty { continue }
        let part = query.in(layers: layers).first(query.rowsNeeded)
        // Asking shows whether the store has the columns; nothing is read before the first batch.
        _ = try await store.query(part)
        parts.append(FanOut.Part(store: store, query: part))
      } catch {
        if error.isOfStore, query.stores == nil {
          failed = failed ?? error
          report.add(failure: StoreFailure(store: store.id, error: error))
        } else {
          guard error.code == .notFound, query.layers.isEmpty else { throw error }
          missing = missing ?? error
          report.add(note: "left out: \(error.message)")
        }
      }
    }
    if let failed, parts.isEmpty || !unseen.isEmpty { throw failed }
    if let layer = unseen.first { throw await unknown(layer, query) }
    if parts.isEmpty, let missing { throw missing }
    return parts
  }

  private nonisolated func askedStores(
    _ query: Query, _ report: QueryReport
  ) throws(FieldpackError) -> [any Store] {
    if let named = query.stores {
      var stores: [any Store] = []
      for id in named { stores.append(try store(id)) }
      return stores
    }
    for member in members {
      if case .failed(let error) = member.state {
        report.add(failure: StoreFailure(store: member.id, error: error))
      }
    }
    return members.compactMap(\.store)
  }

  /// Those of the layers asked that the store has.
  private nonisolated func layers(
    of query: Query, in store: any Store
  ) async throws(FieldpackError) -> [LayerID] {
    guard !query.layers.isEmpty else { return [] }
    let names = try await store.schemas().map { $0.layer.rawValue.lowercased() }
    return query.layers.filter { layer in
      names.contains(layer.rawValue.lowercased())
        || (store as? FileStore)?.answers(to: layer) ?? false
    }
  }

  private nonisolated func unknown(_ layer: LayerID, _ query: Query) async -> FieldpackError {
    var known: [String] = []
    for member in members where query.stores?.contains(member.id) ?? true {
      known += ((try? await member.store?.schemas()) ?? []).map {
        members.count > 1 ? "\(member.id)/\($0.layer)" : $0.layer.rawValue
      }
    }
    let list = known.isEmpty ? "there are none" : "there are: \(known.joined(separator: ", "))"
    let down = members.filter { $0.store == nil }.map(\.id.rawValue).joined(separator: ", ")
    let silent = down.isEmpty || query.stores != nil ? "" : "; no answer from: \(down)"
    return FieldpackError(
      .notFound, "layer '\(layer)' is in none of the stores asked (\(list)\(silent))",
      location: .init(layer: layer))
  }
}

extension Query {
  /// The rows that can matter before those of other stores are known.
  fileprivate func first(_ rows: Int?) -> Query { rows.map { limit($0) } ?? withoutLimit() }
}

extension FieldpackError {
  /// Whether it says that the store is not well, and not that the question is wrong.
  fileprivate var isOfStore: Bool {
    [.corrupt, .invalidData, .unavailable, .io, .full, .busy, .permission].contains(code)
  }
}
