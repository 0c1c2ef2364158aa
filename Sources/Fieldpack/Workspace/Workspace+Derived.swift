public import FieldpackCore
import FieldpackGeoPackage
public import FieldpackSQL

extension Workspace {
  /// A workspace whose one store has the one layer that `layer` describes, and what is left to ask of
  /// it of `query`.
  ///
  /// The query's stores tell which store the layer is made of, where there are several. Its filter
  /// becomes that of the layer that is joined, or of the features or rows that are grouped, unless it
  /// is on columns that only the join has. A join with a layer of another store names it as
  /// `store/layer`. Close both workspaces.
  ///
  /// - Throws: as `GeoPackageStore.deriving(_:)`; `.unsupported` for stores that are no files.
  public nonisolated func deriving(
    _ layer: DerivedLayer, asking query: Query = Query()
  ) async throws(FieldpackError) -> (workspace: Workspace, query: Query) {
    var layer = layer
    let member = try await member(for: layer, query)
    let store = try await Self.geoPackage(of: member)
    if case .layer(let id) = layer.source { layer.source = .layer(member.resolved(id)) }
    if let join = layer.join {
      let (other, store) = try await joined(join, with: member)
      layer.join?.layer = other
      layer.join?.store = store
    }
    var rest = query
    if case .sql = layer.source, layer.grouping != nil {
      layer.filter = layer.filter && query.filter
      rest = rest.where(.all)
    }
    if case .layer(let id) = layer.source, query.filter != .all {
      let schema = try await store.schemas().first { $0.layer == id }
      let isOwn = query.filter.columns.allSatisfy { name in
        schema.map { $0.columnIndex(name) != nil || $0.idColumn == name } ?? false
      }
      if isOwn || layer.grouping != nil {
        layer.filter = layer.filter && query.filter
        rest = rest.where(.all)
      }
    }
    let derived = try await store.deriving(layer)
    let only = Member(config: member.config, store: derived, state: .open)
    return (
      Workspace(members: [only]), rest.in(layers: [layer.name])
    )
  }

  private nonisolated func member(
    for layer: DerivedLayer, _ query: Query
  ) async throws(FieldpackError) -> Member {
    var asked: [Member] = []
    for member in members where query.stores?.contains(member.id) ?? true {
      guard case .layer(let id) = layer.source else {
        asked.append(member)
        continue
      }
      if try await Self.has(id, member) { asked.append(member) }
    }
    if asked.count == 1 { return asked[0] }
    let names = asked.map(\.id.rawValue).joined(separator: ", ")
    if case .layer(let id) = layer.source, asked.isEmpty {
      throw FieldpackError(
        .notFound, "layer '\(id)' is in none of the stores asked", location: .init(layer: id))
    }
    guard !asked.isEmpty else {
      throw FieldpackError(.invalidArgument, "there is no store to ask")
    }
    throw FieldpackError(
      .invalidArgument, "one store is to be asked, not all of: \(names)", advice: .nameStore(nil))
  }

  private static func has(_ layer: LayerID, _ member: Member) async throws(FieldpackError) -> Bool {
    guard let store = member.store else { return false }
    let id = member.resolved(layer)
    return try await store.schemas().contains {
      $0.layer.rawValue.lowercased() == id.rawValue.lowercased()
    }
  }

  /// The layer to join, and its store where it is another one.
  private nonisolated func joined(
    _ join: SpatialJoin, with member: Member
  ) async throws(FieldpackError) -> (LayerID, GeoPackageStore?) {
    if join.store != nil { return (join.layer, join.store) }
    if try await Self.has(join.layer, member) { return (member.resolved(join.layer), nil) }
    let parts = join.layer.rawValue.split(separator: "/", maxSplits: 1).map(String.init)
    let (store, name) = parts.count == 2 ? (parts[0], parts[1]) : ("", join.layer.rawValue)
    for other in members where parts.count < 2 || other.id.rawValue == store {
      guard try await Self.has(LayerID(name), other) else { continue }
      return (other.resolved(LayerID(name)), try await Self.geoPackage(of: other))
    }
    throw FieldpackError(
      .notFound, "layer '\(join.layer)' to join is in none of the stores",
      location: .init(layer: join.layer))
  }

  private static func geoPackage(
    of member: Member
  ) async throws(FieldpackError) -> GeoPackageStore {
    guard member.store != nil else { throw member.silence }
    if let store = member.store?.geoPackage { return store }
    if let store = member.store as? FileStore { return try await store.whole().store }
    throw FieldpackError(
      .unsupported, "store '\(member.id)' takes no SQL", location: .init(store: member.id))
  }
}

extension Workspace.Member {
  /// The layer's name in the store, where it has another one.
  fileprivate func resolved(_ layer: LayerID) -> LayerID {
    (store as? FileStore)?.resolved(layer) ?? layer
  }
}
