import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport

@testable import FieldpackFormats
@testable import FieldpackWFS

extension ServedLayers {
  /// Carries out a transaction as GeoServer does: features get the next id of their layer.
  func transact(_ body: [UInt8]) -> LoopbackServer.Reply {
    guard let root = try? XMLTree(body) else {
      return report("OperationParsingFailed", "", "no XML")
    }
    var ids: [(handle: String, id: String)] = []
    var counts = ["Insert": 0, "Update": 0, "Delete": 0]
    held.withLock { features in
      for action in root.children {
        counts[action.name.local]! += 1
        if action.name.local == "Insert" {
          ids.append((action["handle"] ?? "", insert(action.children[0], into: &features)))
        } else {
          change(action, in: &features)
        }
      }
    }
    let (element, attribute) = isNew ? ("ResourceId", "rid") : ("FeatureId", "fid")
    // GeoServer names one where nothing was inserted, because version 1.1.0 asks for it.
    if ids.isEmpty, !isNew { ids.append(("", "none")) }
    let message =
      options.lie > 0 || options.complains ? "<wfs:Message>no  room</wfs:Message>" : ""
    let inserted = (options.reversesHandles ? ids.reversed() : ids).map { new in
      let handle = options.reversesHandles ? " handle=\"\(new.handle)\"" : ""
      return "<wfs:Feature\(handle)><fes:\(element) \(attribute)=\"\(new.id)\"/></wfs:Feature>"
    }
    return xml(
      """
      <wfs:TransactionResponse xmlns:wfs="\(options.version.namespace)"
       xmlns:fes="\(options.version.fes)" version="\(options.version.rawValue)">
      <wfs:TransactionSummary>
      <wfs:totalInserted>\(counts["Insert"]!)</wfs:totalInserted>
      <wfs:totalUpdated>\(counts["Update"]! - options.lie)</wfs:totalUpdated>
      <wfs:totalDeleted>\(counts["Delete"]!)</wfs:totalDeleted></wfs:TransactionSummary>
      <wfs:TransactionResults><wfs:Action/><wfs:Action>\(message)</wfs:Action>
      </wfs:TransactionResults>
      <wfs:InsertResults>\(inserted.joined())</wfs:InsertResults></wfs:TransactionResponse>
      """)
  }

  private func insert(_ element: XMLTree, into features: inout [LayerID: [Feature]]) -> String {
    let layer = LayerID(element.name.local)
    let last = (features[layer] ?? []).compactMap { $0.id.flatMap { Int64("\($0)") } }.max() ?? 0
    var feature = Feature(id: .integer(last + 1))
    for property in element.children { set(property.name.local, property, in: &feature, layer) }
    features[layer, default: []].append(feature)
    return "\(layer).\(last + 1)"
  }

  private func change(_ action: XMLTree, in features: inout [LayerID: [Feature]]) {
    let name = action.qualifiedName(action["typeName"] ?? "")
    let layer = LayerID(name?.local ?? "")
    let id = action.child("Filter")?.children.first.flatMap { $0["rid"] ?? $0["fid"] } ?? ""
    guard let index = features[layer]?.firstIndex(where: { "\(layer).\($0.id!)" == id }) else {
      return
    }
    if action.name.local == "Delete" {
      features[layer]?.remove(at: index)
      return
    }
    for property in action.children("Property") {
      let name = property.child(isNew ? "ValueReference" : "Name")?.text ?? ""
      set(name, property.child("Value"), in: &features[layer]![index], layer)
    }
  }

  private func set(_ name: String, _ value: XMLTree?, in feature: inout Feature, _ layer: LayerID) {
    let schema = schemas.first { $0.layer == layer }
    if name == schema?.geometry?.name {
      let reader = GMLGeometryReader(axes: AxisOrders(), asked: nil)
      feature.geometry = value?.children.first.flatMap { try? reader.read($0).geometry }
    } else if let column = schema?.columns.first(where: { $0.name == name }) {
      feature.attributes[name] =
        value.map { AttributeText.value($0.text, of: column.type) } ?? .null
    }
  }
}
