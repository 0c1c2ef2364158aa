public import FieldpackCore
import FieldpackWFS

extension Workspace {
  /// Plans `query` in the stores that it asks; see `Store.prepare(_:)`.
  ///
  /// A query that names no stores is planned by those that are up; the others stand under `failures`
  /// of the batches' report. One that names a store that is down throws.
  public nonisolated func prepare(_ query: Query) async throws(FieldpackError) -> PreparedQuery {
    try await prepare(query, only: nil)
  }

  /// - Parameter targets: the layers that may answer a query that names layers, as another store may
  ///   have one of the same name; `nil` is all.
  nonisolated func prepare(
    _ query: Query, only targets: [ExportTarget]?
  ) async throws(FieldpackError) -> PreparedQuery {
    let fanOut = try await fanOut(query, only: targets, report: QueryReport())
    return PreparedQuery(
      query, layers: fanOut.layers, notes: fanOut.notes, answeredBy: fanOut)
  }

  /// The features that `query` asks for, across its stores, in batches.
  ///
  /// Of a store that states `default_layers` these answer a query that names no layers. Stores that
  /// are down are treated as ``prepare(_:)`` says.
  public nonisolated func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches {
    try await prepare(query).batches()
  }

  /// How many features `query` gives; stores that are down are left out and reported. The report gets
  /// the notes that reading the features would begin with.
  public nonisolated func count(
    _ query: Query, report: QueryReport = QueryReport()
  ) async throws(FieldpackError) -> Int {
    try await fanOut(query, report: report).count(to: report)
  }

  /// How each layer asked would answer.
  public nonisolated func explain(_ query: Query) async throws(FieldpackError) -> [Explanation] {
    try await prepare(query).explain()
  }

  private nonisolated func fanOut(
    _ query: Query, only targets: [ExportTarget]? = nil, report: QueryReport
  ) async throws(FieldpackError) -> FanOut {
    let stores = try askedStores(query, report)
    if stores.count == 1, let only = try await onlyPart(query, of: stores[0], report) {
      return FanOut(query: query, parts: [only], report: report)
    }
    let parts = try await parts(of: query, only: targets, in: stores, report: report)
    let fanOut = FanOut(query: query, parts: parts, report: report)
    guard let rest = parts.first, parts.count == 1,
      rest.query != query.in(layers: rest.query.layers)
    else { return fanOut }
    // With one store the store does everything itself, order and offset included.
    let whole = try await rest.store.prepare(query.in(layers: rest.query.layers))
    return FanOut(query: query, parts: [.init(rest.store, whole)], report: report)
  }

  /// The answer of the one store that is asked; `nil` where it lacks a layer, or fails and is not
  /// named, of which ``parts(of:only:in:report:)`` knows what to say.
  private nonisolated func onlyPart(
    _ query: Query, of store: any Store, _ report: QueryReport
  ) async throws(FieldpackError) -> FanOut.Part? {
    do throws(FieldpackError) {
      var asked = query
      if query.layers.isEmpty {
        asked = query.in(layers: try await layers(of: query, in: store, report))
      }
      return FanOut.Part(store, try await store.prepare(asked))
    } catch {
      guard error.code == .notFound || error.isOfStore, query.stores == nil || !query.layers.isEmpty
      else { throw error }
      return nil
    }
  }

  /// The stores asked with the part of the query that each answers: without offset, with the layers
  /// that it has, and with the columns that merging needs.
  private nonisolated func parts(
    of query: Query, only targets: [ExportTarget]?, in stores: [any Store], report: QueryReport
  ) async throws(FieldpackError) -> [FanOut.Part] {
    var parts: [FanOut.Part] = []
    var missing: FieldpackError?
    var failed: FieldpackError?
    var unseen = query.layers
    for store in stores {
      do throws(FieldpackError) {
        var layers = try await layers(of: query, in: store, report)
        if let targets {
          layers.removeAll { layer in
            !targets.contains { $0.store == store.id && $0.layer == layer }
          }
        }
        unseen.removeAll(where: layers.contains)
        if !query.layers.isEmpty, layers.isEmpty { continue }
        let asked = query.in(layers: layers).withSortColumns.first(query.rowsNeeded)
        parts.append(FanOut.Part(store, try await store.prepare(asked)))
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
    let members = members
    for member in members where member.isMissed {
      report.add(failure: StoreFailure(store: member.id, error: member.silence))
    }
    return members.compactMap(\.store)
  }

  /// Those of the layers asked that the store has; its default layers where none is named, and
  /// nothing where all are asked.
  private nonisolated func layers(
    of query: Query, in store: any Store, _ report: QueryReport
  ) async throws(FieldpackError) -> [LayerID] {
    guard query.layers.isEmpty else { return try await store.having(query.layers) }
    let defaults = members.first { $0.id == store.id }?.config.defaultLayers ?? []
    let found = try await store.having(defaults)
    for layer in defaults where !found.contains(layer) {
      report.add(
        note: "store '\(store.id)' has no layer '\(layer)', which its default_layers names")
    }
    return found
  }

  /// What to say of a layer that no store has: one that does not answer may have it, so that its error
  /// counts then.
  private nonisolated func unknown(_ layer: LayerID, _ query: Query) async -> FieldpackError {
    let missed = query.stores == nil ? members.first(where: \.isMissed)?.silence : nil
    if let missed, members.allSatisfy({ $0.store == nil }) { return missed }
    var known: [String] = []
    var names: [String] = []
    for member in members where query.stores?.contains(member.id) ?? true {
      let layers = ((try? await member.store?.schemas()) ?? []).map(\.layer.rawValue)
      names += layers
      known += members.count > 1 ? layers.map { "\(member.id)/\($0)" } : layers
    }
    let list = known.isEmpty ? "there are none" : "there are: \(known.joined(separator: ", "))"
    let down = members.filter { $0.store == nil }.map(\.id.rawValue).joined(separator: ", ")
    let reason = missed.map { ": \($0.message)" } ?? ""
    let silent = down.isEmpty || query.stores != nil ? "" : "; no answer from: \(down)\(reason)"
    return FieldpackError(
      missed?.code ?? .notFound,
      "layer '\(layer)' is in none of the stores asked\(NearNames.question(layer.rawValue, in: names)) "
        + "(\(list)\(silent))",
      advice: missed?.advice, location: .init(layer: layer), underlying: missed?.underlying)
  }
}

extension Store {
  /// Those of the layers that the store has.
  fileprivate func having(_ layers: [LayerID]) async throws(FieldpackError) -> [LayerID] {
    guard !layers.isEmpty else { return [] }
    // These know other names for their layers, and need not describe them all.
    if let service = self as? WFSStore { return try await service.having(layers) }
    if let service = self as? WritableWFSStore { return try await service.having(layers) }
    let names = try await schemas().map { $0.layer.rawValue.lowercased() }
    return layers.filter { layer in
      names.contains(layer.rawValue.lowercased())
        || (self as? FileStore)?.answers(to: layer) ?? false
    }
  }
}

extension Query {
  /// The rows that can matter before those of other stores are known.
  fileprivate func first(_ rows: Int?) -> Query { rows.map { limit($0) } ?? withoutLimit() }

  /// With the columns to sort by behind those that are wanted.
  fileprivate var withSortColumns: Query {
    guard let columns, !order.isEmpty else { return self }
    return select(columns + order.map(\.column).filter { !columns.contains($0) })
  }
}

extension FieldpackError {
  /// Whether it says that the store is not well, and not that the question is wrong.
  fileprivate var isOfStore: Bool {
    [.corrupt, .invalidData, .unavailable, .io, .full, .busy, .permission].contains(code)
  }
}
