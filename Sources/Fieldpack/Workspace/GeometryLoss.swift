package import FieldpackCore
package import FieldpackGeometry

/// What a geometry would lose if another took its place.
package struct GeometryLoss: OptionSet {
  package let rawValue: Int

  package static let z = GeometryLoss(rawValue: 1)
  package static let m = GeometryLoss(rawValue: 2)
  package static let arcs = GeometryLoss(rawValue: 4)

  package init(rawValue: Int) { self.rawValue = rawValue }

  package init(of stored: Geometry, replacedBy new: Geometry) {
    self = []
    if stored.dimensions.hasZ, !new.dimensions.hasZ { insert(.z) }
    if stored.dimensions.hasM, !new.dimensions.hasM { insert(.m) }
    if stored.hasArcs, !new.hasArcs { insert(.arcs) }
  }

  /// Throws where anything would be lost.
  package func refuse(_ key: KeyTuple) throws(FieldpackError) {
    guard !isEmpty else { return }
    let names: [(GeometryLoss, String)] = [(.z, "z values"), (.m, "m values"), (.arcs, "arcs")]
    let lost = names.filter { contains($0.0) }.map(\.1)
    throw FieldpackError(
      .unsupported,
      "the geometry of feature \(key.feature) in layer '\(key.layer)' has "
        + "\(lost.joined(separator: " and ")), which the new one has not"
        + (self == .z ? "" : " and GeoJSON cannot carry"),
      advice: .allowLoss,
      location: .init(store: key.store, layer: key.layer, feature: key.feature))
  }
}

extension Geometry {
  /// Whether there is a curve in it that is no straight line.
  fileprivate var hasArcs: Bool {
    switch self {
    case .circularString: true
    case .geometryCollection(let members, _), .composite(_, let members, _):
      members.contains(where: \.hasArcs)
    default: false
    }
  }
}

extension GeoJSONEdge {
  /// The updates with `.keep` for geometries that come as `get` prints the stored ones, which then
  /// stay byte for byte: with arcs and M, and without what the way to WGS 84 and back rounds off.
  func keepingUnchanged(
    _ updates: [(FeatureID, GeometryUpdate)], in store: any Store
  ) async throws(FieldpackError) -> [GeometryUpdate] {
    let layer = schema.layer
    let asked = updates.map { id, update -> FeatureID? in
      if case .set(.some) = update { id } else { nil }
    }
    let stored = try await store.read { (snapshot) in
      var stored: [Geometry?] = []
      // A geometry that cannot be read may be replaced.
      for id in asked {
        let feature = id.flatMap { id in (try? snapshot.feature(id, in: layer)) ?? nil }
        stored.append(feature?.geometry)
      }
      return stored
    }
    let printed = await printed(stored, in: store)
    // Of several updates of one feature the last counts, also where it gives back what was there.
    var changed: Set<FeatureID> = []
    return zip(updates, printed).map { update, printed in
      guard case .set(let new) = update.1 else { return update.1 }
      if let new, new == printed, !changed.contains(update.0) { return .keep }
      changed.insert(update.0)
      return update.1
    }
  }

  /// The geometries as they are read from the GeoJSON that is written of them; `nil` for those that
  /// cannot be written.
  private func printed(_ stored: [Geometry?], in store: any Store) async -> [Geometry?] {
    let layer = LayerGeometries(store: store, schema: schema)
    let present = stored.compactMap(\.self)
    guard var moved = try? await layer.fromLayer(present)[...] else {
      return stored.map { _ in nil }
    }
    return stored.map { geometry in
      guard geometry != nil, let own = moved.popFirst() else { return nil }
      return (try? own.geoJSON()).flatMap { try? Geometry(geoJSON: $0) }
    }
  }
}
