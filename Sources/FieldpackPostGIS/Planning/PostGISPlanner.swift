import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection
import FieldpackStoreKit

/// Plans queries on the layers of a catalogue.
struct PostGISPlanner {
  let catalogue: PostGISCatalogue

  func plan(_ query: Query) throws(FieldpackError) -> PostGISPlan {
    if let box = BoxPlans.Box(query),
      let plan = catalogue.boxPlans.plan(for: query, box, newPlan)
    {
      return plan
    }
    return try newPlan(query)
  }

  func newPlan(_ query: Query) throws(FieldpackError) -> PostGISPlan {
    var plan = PostGISPlan(query: query, layers: [], notes: [])
    var failure: FieldpackError?
    for layer in try layers(query) {
      do throws(FieldpackError) {
        plan.layers.append(try self.plan(layer, query))
      } catch {
        let error = error.adding(location: .init(store: catalogue.store, layer: layer.layer))
        guard error.code == .notFound, query.layers.isEmpty else { throw error }
        failure = failure ?? error
        plan.notes.append(Note("left out: \(error.message)"))
      }
    }
    if plan.layers.isEmpty, let failure { throw failure }
    if query.nearest != nil, !query.order.isEmpty {
      throw FieldpackError(
        .invalidArgument, "features that come by their distance take no other order")
    }
    try checkColumns(plan)
    return plan
  }

  /// The layers that a query asks, in order. A layer named twice answers once.
  private func layers(_ query: Query) throws(FieldpackError) -> [PostGISLayer] {
    if query.layers.isEmpty { return catalogue.layers }
    var asked: [PostGISLayer] = []
    for name in query.layers {
      guard let layer = catalogue.layer(name) else { throw catalogue.missing(name) }
      if !asked.contains(where: { $0.oid == layer.oid }) { asked.append(layer) }
    }
    return asked
  }

  // MARK: A layer

  private func plan(
    _ layer: PostGISLayer, _ query: Query
  ) throws(FieldpackError) -> LayerPlan {
    let schema = layer.schema
    let placing = LiteralPlacing(
      layer: schema.layer, srs: schema.geometry?.srs ?? .undefinedCartesian,
      reference: layer.reference, transformations: TransformationCache())
    // The evaluator finds out whether the columns of the condition exist.
    let evaluator =
      query.filter == .all
      ? nil : try FilterEvaluator(try placing.localized(query.filter), schema: schema)
    if let target = query.nearest { try check(layer, for: target) }
    let lowering = FilterLowering(layer: layer, placing: placing, skipsErrors: query.skipsErrors)
    let condition = try lowering.condition(query.filter)
    let rest = condition.isExact ? nil : evaluator
    let wanted = query.shape(schema)
    let answered = columns(query, schema)
    var fetched = answered
    if rest != nil {
      for name in query.filter.columns {
        guard let index = schema.columnIndex(name), !fetched.contains(index) else { continue }
        fetched.append(index)
      }
    }
    let readsGeometry =
      schema.geometry != nil
      && (wanted.geometry != nil || rest != nil && query.filter.readsGeometry(schema))
    let isMoved = query.srs != nil && query.srs != schema.geometry?.srs
    let reading = LayerReading(
      layer, wanted, readsGeometry: readsGeometry, fetched: fetched, answered: answered.count,
      order: query.order)
    return LayerPlan(
      reading: reading, condition: condition, rest: rest,
      target: isMoved && wanted.geometry != nil ? query.srs : nil)
  }

  /// The columns of the answer, as indexes of the layer's.
  private func columns(_ query: Query, _ schema: Schema) -> [Int] {
    guard let names = query.columns else { return Array(schema.columns.indices) }
    return names.compactMap { schema.columnIndex($0) }
  }

  private func check(
    _ layer: PostGISLayer, for target: NearestTarget
  ) throws(FieldpackError) {
    guard layer.schema.geometry != nil else {
      throw FieldpackError(
        .notFound, "layer '\(layer.layer)' has no geometry to measure a distance to",
        location: .init(layer: layer.layer))
    }
    guard target.metric == .geodesic else { return }
    guard layer.schema.geometry?.srs != .undefinedCartesian else {
      throw FieldpackError(
        .notFound,
        "layer '\(layer.layer)' has no defined SRS, so distances in metres have no meaning in it",
        location: .init(layer: layer.layer))
    }
    do throws(ProjectionError) { _ = try GeodesicSystem(layer.reference) } catch {
      throw FieldpackError(error, location: .init(layer: layer.layer))
    }
  }

  /// Throws for a selected or sorted column that no layer has.
  private func checkColumns(_ plan: PostGISPlan) throws(FieldpackError) {
    guard let first = plan.layers.first?.layer.schema else { return }
    for name in (plan.query.columns ?? []) + plan.query.order.map(\.column) {
      let isKnown = plan.layers.contains { layer in
        layer.layer.schema.columnIndex(name) != nil
          || layer.layer.schema.idColumn?.uppercased() == name.uppercased()
      }
      if isKnown { continue }
      let known = first.columns.map(\.name).joined(separator: ", ")
      throw FieldpackError(
        .notFound, "no layer asked has a column '\(name)' ('\(first.layer)' has: \(known))",
        location: .init(store: catalogue.store))
    }
  }
}

extension Filter {
  /// Whether the condition looks at the geometry.
  func readsGeometry(_ schema: Schema) -> Bool {
    switch self {
    case .envelope, .relation, .test, .spatial, .vertex: return true
    default: break
    }
    if parts.contains(where: { $0.readsGeometry(schema) }) { return true }
    return operands.contains { $0.readsGeometry(schema) }
  }
}

extension Operand {
  fileprivate func readsGeometry(_ schema: Schema) -> Bool {
    switch self {
    case .column(let name): schema.role(of: name) == .geometry
    case .literal: false
    case .arithmetic(let a, _, let b): a.readsGeometry(schema) || b.readsGeometry(schema)
    case .call(_, let operands), .list(let operands):
      operands.contains { $0.readsGeometry(schema) }
    case .condition(let filter): filter.readsGeometry(schema)
    case .interval(let start, let end):
      start?.readsGeometry(schema) ?? false || end?.readsGeometry(schema) ?? false
    }
  }
}
