import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection
import FieldpackStoreKit

/// Plans queries to a service.
struct WFSPlanner {
  let service: WFSService
  let defaultLayers: [LayerID]

  func plan(_ query: Query) async throws(FieldpackError) -> WFSPlan {
    let operations = try await service.operations()
    var plan = WFSPlan(
      query: query, layers: [], notes: [], gathering: WFSPlan.gathering(query))
    var failure: FieldpackError?
    for type in try types(query, operations.capabilities) {
      let description = try await service.description(of: type)
      do throws(FieldpackError) {
        try check(description.schema, query)
        plan.layers.append(try layer(type, description, query, operations.capabilities))
      } catch {
        let error = error.adding(
          location: .init(store: service.store, layer: description.schema.layer))
        guard error.code == .notFound, query.layers.isEmpty else { throw error }
        failure = failure ?? error
        plan.notes.append(Note("left out: \(error.message)"))
      }
    }
    if plan.layers.isEmpty, let failure { throw failure }
    try checkColumns(plan)
    return plan
  }

  // MARK: Layers

  /// The layers that a query asks: its own, else those of the store's config, else all.
  private func types(
    _ query: Query, _ capabilities: WFSCapabilities
  ) throws(FieldpackError) -> [WFSCapabilities.FeatureType] {
    let named = query.layers.isEmpty ? defaultLayers : query.layers
    if named.isEmpty { return capabilities.types }
    var found: [WFSCapabilities.FeatureType] = []
    for layer in named {
      let type = try self.type(layer, in: capabilities)
      if !found.contains(where: { $0.name == type.name }) { found.append(type) }
    }
    return found
  }

  /// The layer of a name; one without the prefix of its namespace is found as well.
  func type(
    _ layer: LayerID, in capabilities: WFSCapabilities
  ) throws(FieldpackError) -> WFSCapabilities.FeatureType {
    let types = capabilities.types
    let wanted = layer.rawValue
    if let exact = types.first(where: { $0.name == wanted }) { return exact }
    let local = types.filter { $0.localName == wanted }
    if local.count == 1 { return local[0] }
    let folded = types.filter { $0.name.lowercased() == wanted.lowercased() }
    if folded.count == 1 { return folded[0] }
    let known = types.map(\.name)
    let list = known.prefix(20).joined(separator: ", ") + (known.count > 20 ? ", …" : "")
    throw FieldpackError(
      .notFound,
      "layer '\(layer)' is not in store '\(service.store)' "
        + (known.isEmpty ? "(it has none)" : "(it has: \(list))"),
      location: .init(store: service.store, layer: layer))
  }

  // MARK: A layer

  private func check(_ schema: Schema, _ query: Query) throws(FieldpackError) {
    _ = try FilterEvaluator(query.filter.withoutSystems, schema: schema)
    guard query.nearest != nil else { return }
    guard query.order.isEmpty else {
      throw FieldpackError(
        .invalidArgument, "features that come by their distance take no other order")
    }
    _ = try schema.geometryColumn()
  }

  private func layer(
    _ type: WFSCapabilities.FeatureType, _ description: FeatureTypeDescription, _ query: Query,
    _ capabilities: WFSCapabilities
  ) throws(FieldpackError) -> WFSLayerPlan {
    let schema = description.schema
    let placing = LiteralPlacing(
      layer: schema.layer, srs: schema.geometry?.srs ?? .undefinedCartesian,
      transformations: TransformationCache())
    let pushing = FilterPushing(
      schema: schema, operators: capabilities.operators, placing: placing)
    let pushed = try pushing.push(query.filter)
    var rest: FilterEvaluator?
    if query.filter != .all {
      rest = try FilterEvaluator(try placing.localized(query.filter), schema: schema)
    }
    var format = service.refusesJSON ? nil : type.jsonFormat
    // Positions in GeoJSON are longitude and latitude of WGS 84.
    if let geometry = schema.geometry, geometry.srs != .wgs84 { format = nil }
    let columns = query.columns.map { names in
      names.compactMap { schema.columnIndex($0) }
    }
    return WFSLayerPlan(
      version: capabilities.version, type: type, description: description,
      shape: query.shape(schema),
      selected: columns ?? Array(schema.columns.indices), pushed: pushed, rest: rest,
      format: format)
  }

  /// Throws for a selected or sorted column that no layer has.
  private func checkColumns(_ plan: WFSPlan) throws(FieldpackError) {
    guard let first = plan.layers.first?.schema else { return }
    for name in (plan.query.columns ?? []) + plan.query.order.map(\.column) {
      let isKnown = plan.layers.contains { layer in
        layer.schema.columnIndex(name) != nil
          || layer.schema.idColumn?.lowercased() == name.lowercased()
      }
      if isKnown { continue }
      let known = first.columns.map(\.name).joined(separator: ", ")
      throw FieldpackError(
        .notFound, "no layer asked has a column '\(name)' ('\(first.layer)' has: \(known))",
        location: .init(store: service.store))
    }
  }
}

extension Filter {
  /// The condition with its geometries as if they were in the layer's system, to find out whether
  /// its columns exist.
  fileprivate var withoutSystems: Filter {
    switch self {
    case .envelope(let relation, var box, _):
      if box.minX > box.maxX { swap(&box.minX, &box.maxX) }
      return .envelope(relation, box)
    case .vertex(var box, _):
      if box.minX > box.maxX { swap(&box.minX, &box.maxX) }
      return .vertex(in: box)
    case .relation(let relation, let geometry, _, let column):
      return .relation(relation, geometry, column: column)
    case .test(let test, let geometry, _, let column):
      return .test(test, geometry, column: column)
    case .spatial(let relation, let a, let b):
      return .spatial(relation, a.withoutSystem, b.withoutSystem)
    case .and(let parts): return .and(parts.map(\.withoutSystems))
    case .or(let parts): return .or(parts.map(\.withoutSystems))
    case .not(let part): return .not(part.withoutSystems)
    default: return self
    }
  }
}

extension SpatialOperand {
  fileprivate var withoutSystem: SpatialOperand {
    if case .geometry(let geometry, _) = self { .geometry(geometry) } else { self }
  }
}
