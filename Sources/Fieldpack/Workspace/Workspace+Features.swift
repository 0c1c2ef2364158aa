public import FieldpackCore

/// A change to one feature by its key tuple.
public struct FeatureUpdate: Hashable, Sendable {
  public var key: KeyTuple
  /// The attributes to set; `.null` clears.
  public var attributes: Attributes
  public var geometry: GeometryUpdate

  public init(_ key: KeyTuple, set attributes: Attributes = [:], geometry: GeometryUpdate = .keep) {
    self.key = key
    self.attributes = attributes
    self.geometry = geometry
  }
}

extension Workspace {
  /// The feature of that key tuple; `nil` where its layer has none.
  public func feature(_ key: KeyTuple) async throws(FieldpackError) -> Feature? {
    try await store(key.store).feature(key.feature, in: key.layer)
  }

  /// Stores a new feature and gives its key tuple.
  public func create(
    _ feature: Feature, in layer: LayerID, of store: StoreID
  ) async throws(FieldpackError) -> KeyTuple {
    let keys = try await create([feature], in: layer, of: store)
    return keys[0]
  }

  /// Stores new features in one transaction.
  public func create(
    _ features: [Feature], in layer: LayerID, of store: StoreID
  ) async throws(FieldpackError) -> [KeyTuple] {
    let ids = try await writableStore(store).write { (writer) throws(FieldpackError) in
      var ids: [FeatureID] = []
      for feature in features { ids.append(try writer.create(feature, in: layer)) }
      return ids
    }
    return ids.map { KeyTuple(store: store, layer: layer, feature: $0) }
  }

  /// Sets the feature's attributes, and its geometry where it has one, by its key.
  ///
  /// - Throws: `.invalidArgument` for a feature without a key, `.notFound` for an unknown one.
  public func update(_ feature: Feature) async throws(FieldpackError) {
    guard let key = feature.key else {
      throw FieldpackError(.invalidArgument, "the feature has no key tuple to update it by")
    }
    let geometry: GeometryUpdate = feature.geometry.map { .set($0) } ?? .keep
    try await update([FeatureUpdate(key, set: feature.attributes, geometry: geometry)])
  }

  /// Makes all changes to a store in one transaction; an unknown key tuple undoes them all.
  ///
  /// Changes to several stores are one transaction each, in the order the stores first occur.
  public func update(_ updates: [FeatureUpdate]) async throws(FieldpackError) {
    for (store, changes) in try grouped(updates, by: \.key.store) {
      try await store.write { (writer) throws(FieldpackError) in
        for change in changes {
          try writer.update(
            change.key.feature, in: change.key.layer, set: change.attributes,
            geometry: change.geometry)
        }
      }
    }
  }

  public func delete(_ key: KeyTuple) async throws(FieldpackError) { try await delete([key]) }

  /// Deletes all features of a store in one transaction; an unknown key tuple undoes them all.
  public func delete(_ keys: [KeyTuple]) async throws(FieldpackError) {
    for (store, keys) in try grouped(keys, by: \.store) {
      try await store.write { (writer) throws(FieldpackError) in
        for key in keys { try writer.delete(key.feature, in: key.layer) }
      }
    }
  }

  /// The elements by store; every store is looked up before the first one is changed.
  private func grouped<Element>(
    _ elements: [Element], by id: (Element) -> StoreID
  ) throws(FieldpackError) -> [(any WritableStore, [Element])] {
    var order: [StoreID] = []
    for element in elements where !order.contains(id(element)) { order.append(id(element)) }
    var groups: [(any WritableStore, [Element])] = []
    for store in order {
      groups.append((try writableStore(store), elements.filter { id($0) == store }))
    }
    return groups
  }
}
