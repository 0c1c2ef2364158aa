import FieldpackCore

/// Says in words how a layer of a service answers a query.
struct WFSExplanation {
  private let plan: WFSPlan
  private let operations: WFSOperations
  private let service: WFSService

  init(_ plan: WFSPlan, _ operations: WFSOperations, _ service: WFSService) {
    self.plan = plan
    self.operations = operations
    self.service = service
  }

  func explain(_ layer: WFSLayerPlan) -> Explanation {
    var request = layer.request
    request.count = plan.pushedLimit
    let writer = layer.writer(service)
    let encoded = request.encoded(for: operations, writer: writer)
    var lines: [String] = []
    if let filter = layer.pushed.filter {
      lines.append(
        "the service tests \(layer.pushed.isExact ? "the condition" : "a part of the condition"): "
          + writer.document(filter))
    }
    if plan.query.filter != .all, !layer.pushed.isExact {
      lines.append("tested here: \((try? plan.query.filter.cql2Text) ?? "the whole condition")")
    }
    if let gathering = plan.gathering { lines.append("gathered in a temporary file: \(gathering)") }
    if operations.capabilities.pages {
      let size = min(service.pageSize, operations.capabilities.countDefault ?? .max)
      lines.append("in pages of \(size) features")
    }
    lines.append("as \(layer.format == nil ? "GML" : "GeoJSON")")
    return Explanation(
      store: service.store, layer: layer.layer, sql: encoded.description, parameters: [],
      plan: lines)
  }
}
