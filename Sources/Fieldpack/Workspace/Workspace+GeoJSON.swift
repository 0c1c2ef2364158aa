public import FieldpackCore
public import FieldpackFormats
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection

/// What creating features from GeoJSON gave.
public struct CreatedFeatures: Hashable, Sendable {
  /// In the order of the features.
  public var keys: [KeyTuple]
  /// Remarks, such as on an id that has no place in the layer.
  public var notes: [String]
}

extension Workspace {
  /// A feature as a GeoJSON Feature in WGS 84, its key tuple as `id`; `nil` where its layer has
  /// none of that id.
  public func geoJSON(of key: KeyTuple) async throws(FieldpackError) -> [UInt8]? {
    var options = GeoJSONWriter.Options()
    options.layout = .lines
    options.keyStore = key.store
    return try await geoJSON(of: key, options: options)
  }

  /// As ``geoJSON(of:)``, written in another way.
  package func geoJSON(
    of key: KeyTuple, options: GeoJSONWriter.Options
  ) async throws(FieldpackError) -> [UInt8]? {
    let store = try store(key.store)
    guard var feature = try await store.feature(key.feature, in: key.layer),
      let found = feature.key
    else { return nil }
    var schema = try await schema(of: found.layer, in: store)
    if let own = feature.geometry {
      feature.geometry = try await LayerGeometries(store: store, schema: schema).fromLayer([own])
        .first
      schema.geometry?.srs = .wgs84
    }
    var batch = FeatureBatch(store: key.store, schema: schema)
    batch.append(ValueRow(feature, id: found.feature, schema: schema))
    let output = ByteOutput()
    var writer = GeoJSONWriter(output, options: options)
    try batch.drive(&writer)
    try writer.finish()
    return output.buffer
  }

  /// Stores new features in one transaction; their geometries are taken from WGS 84 to the layer's
  /// SRS, and promoted to the Multi kind where the layer wants it.
  ///
  /// An integer `id` is the feature id asked for, unless the layer keeps ids of its source.
  public func create(
    geoJSON features: [GeoJSONFeature], in layer: LayerID, of id: StoreID
  ) async throws(FieldpackError) -> CreatedFeatures {
    let store = try writableStore(id)
    let schema = try await schema(of: layer, in: store)
    let edge = GeoJSONEdge(schema: schema)
    let geometries = try await edge.geometries(features.map(\.geometry), in: store)
    var created: [Feature] = []
    var notes: [String] = []
    for (index, feature) in features.enumerated() {
      do throws(FieldpackError) {
        created.append(try edge.feature(feature, geometries[index], &notes))
      } catch { throw error.adding(position: feature.position) }
    }
    let new = created
    let ids = try await store.write { (writer) throws(FieldpackError) in
      var ids: [FeatureID] = []
      for (index, feature) in new.enumerated() {
        do throws(FieldpackError) {
          ids.append(try writer.create(feature, in: schema.layer))
        } catch { throw error.adding(position: features[index].position) }
      }
      return ids
    }
    let keys = ids.map { KeyTuple(store: id, layer: schema.layer, feature: $0) }
    return CreatedFeatures(keys: keys, notes: notes)
  }

  /// Changes the features whose key tuples are the `id`s, in one transaction a store.
  ///
  /// A member of `properties` that is absent stays, `null` clears; so does `geometry`, which is
  /// taken from WGS 84 to the layer's SRS. Every store and layer is looked up before anything is
  /// changed, and an unknown feature undoes the changes of its store.
  ///
  /// A geometry that is as ``geoJSON(of:)`` gave it leaves the stored one byte for byte, with the arcs
  /// and M that GeoJSON cannot carry.
  /// - Parameter allowsLoss: whether another geometry may replace one with arcs, M or Z that it
  ///   has not itself.
  /// - Returns: the key tuples, in the order of the features.
  /// - Throws: `.unsupported` for a geometry by which arcs, M or Z would be lost.
  public func update(
    geoJSON features: [GeoJSONFeature], allowsLoss: Bool = false
  ) async throws(FieldpackError) -> [KeyTuple] {
    var updates: [FeatureUpdate] = []
    for feature in features {
      guard let key = feature.key else {
        throw FieldpackError(
          .invalidArgument,
          "the feature's id is not a key tuple", advice: .useKeyTuples,
          position: feature.position)
      }
      updates.append(FeatureUpdate(key, set: feature.attributes))
    }
    for group in LayerGroup.groups(of: updates.map(\.key)) {
      let store = try writableStore(group.store)
      let edge = GeoJSONEdge(schema: try await schema(of: group.layer, in: store))
      let indexes = group.indexes
      let given = try await edge.keepingUnchanged(
        indexes.map { (updates[$0].key.feature, features[$0].geometry) }, in: store)
      let geometries = try await edge.geometries(given, in: store)
      for (index, geometry) in zip(indexes, geometries) {
        updates[index].key.layer = edge.schema.layer
        updates[index].geometry = geometry
        do throws(FieldpackError) {
          updates[index].attributes = try edge.attributes(features[index].attributes)
        } catch { throw error.adding(position: features[index].position) }
      }
    }
    try await update(updates, from: features.map(\.position), allowsLoss)
    return updates.map(\.key)
  }

  /// As ``update(_:)-([FeatureUpdate])``, with the position of a change that fails.
  private func update(
    _ updates: [FeatureUpdate], from positions: [FilePosition], _ allowsLoss: Bool
  ) async throws(FieldpackError) {
    var stores: [StoreID] = []
    for update in updates where !stores.contains(update.key.store) {
      stores.append(update.key.store)
    }
    for id in stores {
      try await writableStore(id).write { (writer) throws(FieldpackError) in
        for (index, update) in updates.enumerated() where update.key.store == id {
          do throws(FieldpackError) {
            if !allowsLoss, case .set(let new?) = update.geometry,
              let old = try? writer.feature(update.key.feature, in: update.key.layer),
              let stored = old.geometry
            {
              try GeometryLoss(of: stored, replacedBy: new).refuse(update.key)
            }
            try writer.update(
              update.key.feature, in: update.key.layer, set: update.attributes,
              geometry: update.geometry)
          } catch { throw error.adding(position: positions[index]) }
        }
      }
    }
  }

  /// The schema of a layer by its name, whatever its case, or by the file's name for the one layer
  /// of a GeoJSON store.
  private nonisolated func schema(
    of layer: LayerID, in store: any Store
  ) async throws(FieldpackError) -> Schema {
    let schemas = try await store.schemas()
    let folded = layer.rawValue.lowercased()
    let found =
      schemas.first { $0.layer == layer }
      ?? schemas.first { $0.layer.rawValue.lowercased() == folded }
    if let found { return found }
    if let file = store as? FileStore, file.answers(to: layer), let only = schemas.first {
      return only
    }
    let known = schemas.map(\.layer.rawValue).joined(separator: ", ")
    throw FieldpackError(
      .notFound,
      "layer '\(layer)' is not in store '\(store.id)' (it has: \(known.isEmpty ? "none" : known))",
      location: .init(store: store.id, layer: layer))
  }
}

/// The indexes of key tuples that name one layer.
private struct LayerGroup {
  let store: StoreID
  let layer: LayerID
  var indexes: [Int] = []

  private struct Name: Hashable {
    let store: StoreID
    let layer: LayerID
  }

  static func groups(of keys: [KeyTuple]) -> [LayerGroup] {
    var groups: [LayerGroup] = []
    var found: [Name: Int] = [:]
    for (index, key) in keys.enumerated() {
      let name = Name(store: key.store, layer: key.layer)
      let group = found[name] ?? groups.count
      if group == groups.count {
        groups.append(LayerGroup(store: key.store, layer: key.layer))
        found[name] = group
      }
      groups[group].indexes.append(index)
    }
    return groups
  }
}
