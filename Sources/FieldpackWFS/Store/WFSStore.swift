public import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
public import FieldpackHTTP
import FieldpackProjection

/// The layers of a Web Feature Service, version 1.1.0 or 2.0.0, as a store that is read.
///
///     let store = try WFSStore(address: "https://example.org/wfs", id: "town")
///     let box = Envelope(minX: 13, minY: 51, maxX: 14, maxY: 52)
///     for try await batch in try await store.query(Query("town:wells", where: .intersects(box))) { … }
///
/// The service is asked when the first call needs it. It tests the part of a condition that all
/// services understand alike, and the rest is tested here, so that an answer is the same as that of a
/// GeoPackage. There is one exception: the service tests boxes, and it looks at geometries and not
/// at their envelopes.
///
/// Features come as the service gives them, in its order. A query with an order, a target or
/// operations on geometries gathers the features in a temporary file first.
///
/// The id of a feature `wells.7` in the layer `wells` is 7. An id that does not begin with the layer's
/// name is kept whole.
///
/// A service has no snapshots: in ``read(_:)`` each call sees the service as it is then.
public final class WFSStore: Store {
  public let id: StoreID
  let service: WFSService
  private let defaultLayers: [LayerID]
  private let style: LayerStyle?

  /// - Parameters:
  ///   - address: where the service is, with the parameters that every request needs, such as
  ///     `map=` of MapServer.
  ///   - version: 1.1.0, or 2.0.0: a service that does not know it is spoken to in 1.1.0.
  ///   - client: sends the requests; by default a client without a limit on the time of an answer.
  ///   - fields: what every request has beside, such as `Authorization`.
  ///   - defaultLayers: the layers that answer a query that names none; empty is all.
  ///   - style: the style that the schemas of all layers get.
  ///   - logger: gets the addresses of requests at the level `debug`, without the values of the
  ///     parameters that `address` has.
  /// - Throws: `.invalidArgument` for another version.
  public convenience init(
    address: String, id: StoreID, version: WFSVersion = .wfs20, client: HTTPClient? = nil,
    fields: HTTPFields = [:], defaultLayers: [LayerID] = [], style: LayerStyle? = nil,
    logger: Logger = .silent
  ) throws(FieldpackError) {
    var configuration = HTTPConfiguration()
    configuration.timeout = nil
    let sender = if let client { client } else { try HTTPClient(configuration) }
    let connection = WFSConnection(client: sender, logger: logger, fields: fields)
    let service = WFSService(store: id, version: version, address: address, connection: connection)
    try self.init(service, defaultLayers: defaultLayers, style: style)
  }

  init(
    _ service: WFSService, defaultLayers: [LayerID] = [], style: LayerStyle? = nil
  ) throws(FieldpackError) {
    let (id, version) = (service.store, service.version)
    guard version != .wfs10 else {
      throw FieldpackError(
        .invalidArgument, "features are read in version 1.1.0 or 2.0.0 of WFS, not in 1.0.0",
        location: .init(store: id))
    }
    self.id = id
    self.defaultLayers = defaultLayers
    self.style = style
    self.service = service
  }

  private var planner: WFSPlanner {
    WFSPlanner(service: service, defaultLayers: defaultLayers)
  }

  func plan(_ query: Query) async throws(FieldpackError) -> WFSPlan {
    var plan = try await planner.plan(query)
    for index in plan.layers.indices { plan.layers[index].shape.style = style }
    return plan
  }

  // MARK: Layers

  /// The layers of the service, with counts that it is asked for.
  public func layers() async throws(FieldpackError) -> [Layer] {
    let types = try await types()
    return try await Self.each(types) { [self] (type) async throws(FieldpackError) in
      try await layer(type)
    }
  }

  public func schemas() async throws(FieldpackError) -> [Schema] {
    let types = try await types()
    return try await Self.each(types) { [self] (type) async throws(FieldpackError) in
      var schema = try await service.description(of: type).schema
      schema.style = style
      return schema
    }
  }

  /// The layers that the service names, described.
  private func types() async throws(FieldpackError) -> [WFSCapabilities.FeatureType] {
    let types = try await service.operations().capabilities.types
    try await service.describe(types)
    return types
  }

  /// Those of the layers that the service has.
  package func having(_ layers: [LayerID]) async throws(FieldpackError) -> [LayerID] {
    let capabilities = try await service.operations().capabilities
    return layers.filter { (try? planner.type($0, in: capabilities)) != nil }
  }

  private func layer(
    _ type: WFSCapabilities.FeatureType
  ) async throws(FieldpackError) -> Layer {
    let description = try await service.description(of: type)
    var schema = description.schema
    schema.style = style
    let version = try await service.operations().version
    let writer = FESWriter(version: version, geometryName: "", geometries: nil)
    var layer = Layer(
      schema: schema, kind: schema.geometry == nil ? .attributes : .features, title: type.title,
      featureCount: try await service.hits(FeatureRequest(type: type), writer),
      envelope: schema.geometry == nil ? nil : Self.extent(type))
    layer.description = type.abstract
    layer.notes = description.otherGeometries.map {
      Note("the geometry column '\($0)' is left out, because a layer has one")
    }
    return layer
  }

  /// The extent that the service names, in the layer's system.
  private static func extent(_ type: WFSCapabilities.FeatureType) -> Envelope? {
    guard let box = type.envelope, let srs = type.srs?.srs, srs != .wgs84 else {
      return type.envelope
    }
    guard let transformation = try? CoordinateTransformation(from: .wgs84, to: srs),
      let boxes = try? transformation.transform(box), var extent = boxes.first
    else { return nil }
    for box in boxes.dropFirst() { extent.formUnion(box) }
    return extent
  }

  /// Asks for several things, a few at a time, and gives them in order.
  private static func each<R: Sendable>(
    _ types: [WFSCapabilities.FeatureType],
    _ body:
      @escaping @Sendable (WFSCapabilities.FeatureType) async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> [R] {
    var results: [R] = []
    for start in stride(from: 0, to: types.count, by: 4) {
      let part = types[start..<min(start + 4, types.count)]
      let answers = await withTaskGroup(of: (Int, Result<R, FieldpackError>).self) { group in
        for (index, type) in part.enumerated() {
          group.addTask {
            do throws(FieldpackError) {
              return (index, .success(try await body(type)))
            } catch { return (index, .failure(error)) }
          }
        }
        var found: [(Int, Result<R, FieldpackError>)] = []
        for await answer in group { found.append(answer) }
        return found.sorted { $0.0 < $1.0 }
      }
      for answer in answers { results.append(try answer.1.get()) }
    }
    return results
  }

  // MARK: Queries

  public func query(_ query: Query) async throws(FieldpackError) -> FeatureBatches {
    let plan = try await plan(query)
    let report = QueryReport()
    for note in plan.notes { report.add(note: note) }
    return FeatureBatches(report: report) { [service] in
      let walk = WFSWalk(plan, of: service, report: report)
      return { () async throws(FieldpackError) in try await walk.next() }
    }
  }

  public func scan<S: FeatureSink & Sendable>(
    _ query: Query, into sink: S, report: QueryReport
  ) async throws(FieldpackError) -> S {
    let plan = try await plan(query)
    for note in plan.notes { report.add(note: note) }
    let walk = WFSWalk(plan, of: service, report: report)
    var sink = sink
    var announced: Set<LayerID> = []
    var current: LayerID?
    func announce(_ layers: some Sequence<WFSLayerPlan>) throws(FieldpackError) {
      for layer in layers where announced.insert(layer.layer).inserted {
        try sink.begin(layer.shape)
        current = layer.layer
      }
    }
    while let batch = try await walk.next() {
      // Layers without a match come in their order, where the features are not sorted.
      if plan.gathering == nil {
        try announce(plan.layers.prefix { $0.layer != batch.schema.layer })
      }
      announced.insert(batch.schema.layer)
      try batch.drive(&sink, announcing: current != batch.schema.layer)
      current = batch.schema.layer
    }
    try announce(plan.layers)
    return sink
  }

  public func count(_ query: Query) async throws(FieldpackError) -> Int {
    // The order of features does not change their number.
    let counted = query.nearest == nil ? query.withoutOrder() : query
    var plan = try await plan(counted)
    _ = try await self.plan(query)
    if plan.gathering != nil { return try await GatheredAnswer.count(plan, of: service) }
    plan = try await self.plan(counted.withoutLimit())
    var total = 0
    for layer in plan.layers { total += try await count(layer, plan) }
    return max(0, min(total - query.offset, query.limit ?? .max))
  }

  private func count(
    _ layer: WFSLayerPlan, _ plan: WFSPlan
  ) async throws(FieldpackError) -> Int {
    if layer.pushed.isExact {
      do throws(FieldpackError) {
        let hits = try await service.hits(layer.request, layer.writer(service))
        if let hits { return hits }
      } catch {
        // A service may refuse to count, or a condition.
        guard case .exception? = error.wfsFailure else { throw error }
      }
    }
    var single = plan
    single.layers = [layer]
    let walk = WFSWalk(single, of: service, report: QueryReport())
    var count = 0
    while let batch = try await walk.next() { count += batch.count }
    return count
  }

  public func feature(
    _ id: FeatureID, in layer: LayerID
  ) async throws(FieldpackError) -> Feature? {
    try await found(id, in: layer)?.feature
  }

  /// A feature, and its id as the service has it.
  func found(
    _ id: FeatureID, in layer: LayerID
  ) async throws(FieldpackError) -> (feature: Feature, text: String)? {
    let operations = try await service.operations()
    let type = try planner.type(layer, in: operations.capabilities)
    let plan = try await plan(Query(LayerID(type.name)))
    var hasAnswered = false
    for text in FeatureShape.texts(of: id, in: type) {
      let pages = FeaturePages(ids: [text], plan.layers[0], operations, of: service)
      do throws(FieldpackError) {
        while let rows = try await pages.next() {
          guard let row = rows.first(where: { $0.id == id }) else { continue }
          var batch = FeatureBatch(store: self.id, schema: plan.layers[0].shape)
          batch.append(row)
          return (try batch.feature(at: 0), text)
        }
        hasAnswered = true
      } catch {
        // A service that has answered for a text may refuse one of another form.
        guard Self.meansMissing(error) || hasAnswered && Self.isException(error) else {
          throw error
        }
      }
    }
    return nil
  }

  private static func isException(_ error: FieldpackError) -> Bool {
    guard case .exception? = error.wfsFailure else { return false }
    return error.code != .permission
  }

  /// Whether a service says with an exception that there is no feature of an id.
  private static func meansMissing(_ error: FieldpackError) -> Bool {
    guard case .exception(let code, let locator, _)? = error.wfsFailure else { return false }
    let place = locator?.lowercased() ?? ""
    return code == "NotFound" || place == "resourceid" || place == "featureid"
  }

  public func read<R: Sendable>(
    _ body: @Sendable (borrowing StoreSnapshot) throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    try service.checkOpen()
    return try await WFSSnapshot.run(self, body)
  }

  public func explain(_ query: Query) async throws(FieldpackError) -> [Explanation] {
    let plan = try await plan(query)
    let operations = try await service.operations()
    let explanation = WFSExplanation(plan, operations, service)
    return plan.layers.map { explanation.explain($0) }
  }

  public func close() async { service.close() }
}
