import FieldpackCore
import FieldpackGeometry
import FieldpackStoreKit

/// How a layer of a service answers a query.
struct WFSLayerPlan: Sendable {
  /// The version that the service speaks.
  let version: WFSVersion
  let type: WFSCapabilities.FeatureType
  let description: FeatureTypeDescription
  /// The columns of the answer.
  var shape: Schema
  /// The indexes of the answer's columns in the layer's.
  let selected: [Int]
  let pushed: PushedFilter
  /// What is tested here; `nil` where the service tests everything exactly.
  let rest: FilterEvaluator?
  let format: String?

  var schema: Schema { description.schema }
  var layer: LayerID { schema.layer }

  /// The reference system that is asked for.
  var asked: SRSName? {
    guard schema.geometry != nil, let name = type.srs else { return nil }
    return format == nil ? name : SRSName(plain: name.srs)
  }

  func writer(_ service: WFSService) -> FESWriter {
    var geometries: GMLGeometryWriter?
    if let name = type.srs {
      geometries = GMLGeometryWriter(
        version: version, name: name,
        isNorthFirst: service.axes.isNorthFirst(name, asked: nil))
    }
    return FESWriter(
      version: version, geometryName: schema.geometry?.name ?? "",
      geometries: geometries)
  }

  /// The request for the features, without count and start.
  var request: FeatureRequest {
    FeatureRequest(type: type, srs: asked, format: format, filter: pushed.filter)
  }
}

/// How a query is answered.
struct WFSPlan: Sendable {
  let query: Query
  var layers: [WFSLayerPlan]
  var notes: [Note]
  /// Why the features are gathered before they are given; `nil` where they are given as they come.
  var gathering: String?

  /// How many features the service has to give of the first layer; `nil` is all.
  var pushedLimit: Int? {
    // Features that are passed over make room for later ones.
    guard gathering == nil, layers.count == 1, layers[0].pushed.isExact, !query.skipsErrors else {
      return nil
    }
    return query.rowsNeeded
  }
}

extension WFSPlan {
  /// What makes a query one that has to be gathered.
  static func gathering(_ query: Query) -> String? {
    if query.nearest != nil { return "features are sorted by distance here" }
    if !query.order.isEmpty { return "features are sorted here" }
    if !query.operations.isEmpty { return "geometries are worked on here" }
    return nil
  }
}
