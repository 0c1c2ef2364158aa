import Fieldpack
import FieldpackCore
import FieldpackFormats
import FieldpackGeometry

/// Features: found, created, changed and deleted.
extension BridgeSession {
  // MARK: Queries

  /// One answer a feature. Without a filter that says otherwise these are 100 of each layer.
  func query(_ message: BridgeMessage) async throws(BridgeFailure) -> Outcome {
    let code = message.action == .query || message.action == .queryAll ? 110 : 112
    do throws(FieldpackError) {
      switch message.payload {
      case .object, .null: break
      default: throw FieldpackError(.invalidArgument, "the payload of a query is an object")
      }
      let filter = try Self.filter(message.payload["filter"])
      let query = try filter.query
      for store in try stores(message) { try await answer(message, query, from: store) }
      return .done
    } catch {
      throw failure(error, code: code)
    }
  }

  private static func filter(_ value: JSONValue?) throws(FieldpackError) -> LegacyFilter {
    guard let value, value != .null else { return try LegacyFilter(json: "{}") }
    return try LegacyFilter(json: value.text)
  }

  /// The stores that are asked: those that the message names, or all that run.
  private func stores(_ message: BridgeMessage) throws(FieldpackError) -> [any Store] {
    let asksAll = message.action == .queryAll || message.action == .spatialQueryAll
    let named: [StoreID]
    switch message.payload["storeId"] {
    case .text(let id)? where !asksAll: named = [StoreID(id)]
    case .array(let ids)? where !asksAll:
      var texts: [StoreID] = []
      for id in ids {
        guard let text = id.string else {
          throw FieldpackError(.invalidArgument, "'storeId' is a list of texts")
        }
        texts.append(StoreID(text))
      }
      named = texts
    case nil, .null?, .text?, .array?: return bridge.data.workspace.members.compactMap(\.store)
    default: throw FieldpackError(.invalidArgument, "'storeId' is a text, or a list of texts")
    }
    var stores: [any Store] = []
    for id in named { stores.append(try bridge.data.workspace.store(id)) }
    return stores
  }

  private func answer(
    _ message: BridgeMessage, _ query: Query, from store: any Store
  ) async throws(FieldpackError) {
    let workspace = bridge.data.workspace
    let config = workspace.members.first { $0.id == store.id }?.config
    let schemas = try await store.schemas()
    var layers = schemas.map(\.layer)
    if !query.layers.isEmpty {
      layers = layers.filter { layer in
        query.layers.contains { $0.rawValue.lowercased() == layer.rawValue.lowercased() }
      }
    } else if let defaults = config?.defaultLayers, !defaults.isEmpty {
      layers = layers.filter(defaults.contains)
    }
    for layer in layers {
      var asked = query.in(stores: [store.id]).in(layers: [layer]).withMetadata()
      if schemas.first(where: { $0.layer == layer })?.geometry != nil {
        asked = asked.transformed(to: .wgs84)
      }
      let prepared: PreparedQuery
      do throws(FieldpackError) { prepared = try await workspace.prepare(asked) } catch {
        // A layer that lacks the column of a condition has no features that meet it.
        guard error.code == .notFound, query.layers.isEmpty else { throw error }
        continue
      }
      for try await batch in try await prepared.batches() {
        for feature in try geoJSON(batch, of: store.id) { tell(message, json: feature) }
      }
    }
  }

  /// The features as SpatialConnect writes them, with their key tuples as ids.
  private func geoJSON(
    _ batch: FeatureBatch, of store: StoreID
  ) throws(FieldpackError) -> [ArraySlice<UInt8>] {
    let output = ByteOutput()
    var writer = GeoJSONWriter(output, options: .bridge(store, device: bridge.device))
    try batch.drive(&writer)
    try writer.finish()
    return output.buffer.split(separator: UInt8(ascii: "\n"))
  }

  /// Tells a feature of that key.
  private func tell(_ message: BridgeMessage, _ key: KeyTuple) async throws(FieldpackError) {
    let options = GeoJSONWriter.Options.bridge(key.store, device: bridge.device)
    guard let bytes = try await bridge.data.workspace.geoJSON(of: key, options: options) else {
      throw FieldpackError(.notFound, "there is no feature '\(key)'")
    }
    for feature in bytes.split(separator: UInt8(ascii: "\n")) { tell(message, json: feature) }
  }

  // MARK: Changes

  func create(_ message: BridgeMessage) async throws(BridgeFailure) -> Outcome {
    let given = message.payload["feature"] ?? .null
    let store: StoreID
    do throws(FieldpackError) { store = StoreID(try given.place("storeId")) } catch {
      throw failure(error, code: 114)
    }
    let forms = store == FormStore.id ? bridge.forms : nil
    if forms == nil {
      do throws(FieldpackError) { _ = try bridge.data.workspace.writableStore(store) } catch {
        throw failure(error, code: BridgeFailure.noSpatialStore)
      }
    }
    do throws(FieldpackError) {
      let layer = (try? given.place("layerId")).map { LayerID($0) }
      let feature = try Self.feature(given)
      if let forms {
        try await tell(message, submit(feature, to: layer, forms))
      } else {
        try await tell(message, add(feature, to: layer, of: store))
      }
      return .done
    } catch {
      throw failure(error, code: 114)
    }
  }

  private func submit(
    _ feature: GeoJSONFeature, to layer: LayerID?, _ forms: FormStore
  ) async throws(FieldpackError) -> KeyTuple {
    guard let layer else {
      throw FieldpackError(.invalidArgument, "the feature has no layerId, the key of its form")
    }
    var submission = FormSubmission(feature.attributes)
    if case .set(let geometry) = feature.geometry { submission.geometry = geometry }
    let id = try await forms.submit(submission, to: layer.rawValue)
    return KeyTuple(store: FormStore.id, layer: layer, feature: id)
  }

  /// Adds a feature to a layer, or to the first with geometries.
  private func add(
    _ feature: GeoJSONFeature, to layer: LayerID?, of store: StoreID
  ) async throws(FieldpackError) -> KeyTuple {
    let workspace = bridge.data.workspace
    var target = layer
    if target == nil {
      let schemas = try await workspace.store(store).schemas()
      target = schemas.first { $0.geometry != nil }?.layer
    }
    guard let target else {
      throw FieldpackError(.notFound, "store '\(store)' has no layer for features")
    }
    // A new feature gets an id of the layer's own.
    var feature = feature
    feature.id = nil
    let created = try await workspace.create(geoJSON: [feature], in: target, of: store)
    return created.keys[0]
  }

  func update(_ message: BridgeMessage) async throws(BridgeFailure) -> Outcome {
    let given = message.payload["feature"] ?? .null
    do throws(FieldpackError) {
      var feature = try Self.feature(given)
      let key: KeyTuple
      if let known = feature.key {
        key = known
      } else {
        guard let id = feature.id else {
          throw FieldpackError(.invalidArgument, "the feature has no id")
        }
        key = KeyTuple(
          store: StoreID(try given.place("storeId")), layer: LayerID(try given.place("layerId")),
          feature: id)
      }
      feature.id = .text(key.description)
      for changed in try await bridge.data.workspace.update(geoJSON: [feature]) {
        try await tell(message, changed)
      }
      return .done
    } catch {
      throw failure(error, code: 115)
    }
  }

  func delete(_ message: BridgeMessage) async throws(BridgeFailure) -> Outcome {
    do throws(FieldpackError) {
      guard let text = message.payload.string, let key = KeyTuple(text) else {
        throw FieldpackError(.invalidArgument, "the payload is no key tuple of a feature")
      }
      try await bridge.data.workspace.delete(key)
      return .done
    } catch {
      throw failure(error, code: 116)
    }
  }

  private static func feature(_ value: JSONValue) throws(FieldpackError) -> GeoJSONFeature {
    guard case .object = value else {
      throw FieldpackError(.invalidArgument, "the payload has no feature")
    }
    let features = try GeoJSONFeatures.read(Array(value.text.utf8))
    guard features.count == 1 else {
      throw FieldpackError(
        .invalidArgument, "the payload has \(features.count) features, and not 1")
    }
    return features[0]
  }
}

extension JSONValue {
  /// Which store or layer a feature is of: told by the feature, or by its metadata.
  fileprivate func place(_ name: String) throws(FieldpackError) -> String {
    if let own = try? member(name) { return own }
    if let metadata = self["metadata"], let told = try? metadata.member(name) { return told }
    throw FieldpackError(.invalidArgument, "the feature has no \(name)")
  }
}

extension GeoJSONWriter.Options {
  fileprivate static func bridge(_ store: StoreID, device: String?) -> GeoJSONWriter.Options {
    var options = GeoJSONWriter.Options()
    options.layout = .lines
    options.keyStore = store
    options.spatialConnect = .init(store: store, client: device)
    return options
  }
}
