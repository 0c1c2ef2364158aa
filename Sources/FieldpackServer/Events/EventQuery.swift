import FieldpackCore
import FieldpackGeometry
import FieldpackHTTP
import FieldpackMonitoring
import FieldpackStoreKit

/// What a client follows. Clients that ask the same share the work.
struct EventQuery: Hashable, Sendable {
  /// `nil` for all, as far as ``hasBio`` allows.
  var layers: Set<LayerID>?
  /// Whether `nil` in ``layers`` also means the layers about people.
  var hasBio = true
  var kinds = Set(LiveEvent.Kind.allCases).subtracting([.position])
  var filter = Filter.all
  /// West, south, east and north.
  var box: Envelope?
  /// The layer in whose regions something has to happen.
  var regions: LayerID?

  /// Whether somebody wants events of that kind and layer, wherever they happen.
  func asks(_ kind: LiveEvent.Kind, in layer: LayerID) -> Bool {
    kinds.contains(kind) && (layers?.contains(layer) ?? (hasBio || !AccessRight.isBio(layer)))
  }

  /// The condition on features of a layer.
  func condition(_ schema: Schema) -> Filter {
    guard let box, let geometry = schema.geometry else { return filter }
    if geometry.type == .point, box.minX <= box.maxX {
      return .envelope(.intersects, box, srs: geometry.srs) && filter
    }
    let area = CQL2.rectangle(west: box.minX, south: box.minY, east: box.maxX, north: box.maxY)
    return area.map { .relation(.intersects, $0, srs: geometry.srs) && filter } ?? filter
  }
}

/// Says which events meet an ``EventQuery``.
final class EventTest: Sendable {
  let query: EventQuery
  private let regions: RegionLayer?
  private let evaluators = Locked<[LayerID: Bound]>([:])

  private struct Bound {
    let schema: Schema
    /// `nil` where the layer lacks a column of the condition.
    let evaluator: FilterEvaluator?
  }

  init(_ query: EventQuery, regions: RegionLayer?) {
    self.query = query
    self.regions = regions
  }

  /// The events that meet the query.
  func chosen(_ events: [LiveEvent]) async throws(FieldpackError) -> [LiveEvent] {
    let events = events.filter { query.asks($0.kind, in: $0.layer) }
    guard !events.isEmpty else { return [] }
    guard query.filter != .all || query.box != nil || regions != nil else { return events }
    let watched = try await regions?.regions()
    var chosen: [LiveEvent] = []
    for event in events where try meets(event, watched) { chosen.append(event) }
    return chosen
  }

  /// A feature that has left what is asked for counts, too: whoever shows it has to take it away.
  private func meets(
    _ event: LiveEvent, _ watched: WatchedRegions?
  ) throws(FieldpackError) -> Bool {
    guard let schema = event.schema, event.feature != nil else { return true }
    guard let evaluator = evaluator(event.layer, schema) else { return false }
    for feature in [event.feature, event.before].compactMap({ $0 }) {
      let row = ValueRow(feature, id: event.key?.feature ?? 1, schema: schema)
      guard (try? evaluator.evaluate(row)) == true else { continue }
      if let watched, !Self.isWithin(feature.geometry, watched) { continue }
      return true
    }
    return false
  }

  private func evaluator(_ layer: LayerID, _ schema: Schema) -> FilterEvaluator? {
    if let bound = evaluators.withLock({ $0[layer] }), bound.schema == schema {
      return bound.evaluator
    }
    let evaluator = try? FilterEvaluator(query.condition(schema), schema: schema)
    evaluators.withLock { $0[layer] = Bound(schema: schema, evaluator: evaluator) }
    return evaluator
  }

  /// Whether a position of the geometry lies in a region, or on its edge.
  private static func isWithin(_ geometry: Geometry?, _ regions: WatchedRegions) -> Bool {
    guard let geometry else { return false }
    var visitor = PositionsInRegions(regions: regions)
    geometry.visit(with: &visitor)
    return visitor.isFound
  }
}

private struct PositionsInRegions: GeometryVisitor {
  let regions: WatchedRegions
  var isFound = false

  mutating func begin(_ type: GeometryType, _ dimensions: Dimensions, count: Int?) {}
  mutating func beginRing(count: Int?) {}
  mutating func position(_ x: Double, _ y: Double, _ z: Double, _ m: Double) {
    if !isFound { isFound = !regions.ids(holding: Position(x: x, y: y)).isEmpty }
  }
  mutating func endRing() {}
  mutating func end(_ type: GeometryType) {}
}
