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
    var ids: [String] = []
    var counts = ["Insert": 0, "Update": 0, "Delete": 0]
    held.withLock { features in
      for action in root.children {
        counts[action.name.local]! += 1
        if action.name.local == "Insert" {
          ids.append(insert(action.children[0], into: &features))
        } else {
          change(action, in: &features)
        }
      }
    }
    let inserted = ids.map { "<wfs:Feature><fes:ResourceId rid=\"\($0)\"/></wfs:Feature>" }
    return xml(
      """
      <wfs:TransactionResponse xmlns:wfs="http://www.opengis.net/wfs/2.0"
       xmlns:fes="http://www.opengis.net/fes/2.0" version="2.0.0"><wfs:TransactionSummary>
      <wfs:totalInserted>\(counts["Insert"]!)</wfs:totalInserted>
      <wfs:totalUpdated>\(counts["Update"]! - options.lie)</wfs:totalUpdated>
      <wfs:totalDeleted>\(counts["Delete"]!)</wfs:totalDeleted></wfs:TransactionSummary>
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
    let id = action.child("Filter")?.child("ResourceId")?["rid"] ?? ""
    guard let index = features[layer]?.firstIndex(where: { "\(layer).\($0.id!)" == id }) else {
      return
    }
    if action.name.local == "Delete" {
      features[layer]?.remove(at: index)
      return
    }
    for property in action.children("Property") {
      let name = property.child("ValueReference")?.text ?? ""
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
