import FieldpackCore
import FieldpackGeometry

extension ServerDocuments {
  func landing(_ links: Links) -> JSONValue {
    let base = links.base
    var others = [
      ServerLink(
        "service-desc", base.href(["api"], query: ["f": "json"]), type: MediaType.api,
        title: "The API in OpenAPI 3.0"),
      ServerLink(
        "service-doc", base.href(["api"], query: ["f": "html"]), type: "text/html",
        title: "The API as a page"),
      ServerLink(
        "conformance", base.href(["conformance"]), type: MediaType.json,
        title: "The standards that this server keeps to"),
      ServerLink(
        "data", base.href(["collections"]), type: MediaType.json, title: "The collections"),
      ServerLink(
        OGCRelation.functions, base.href(["functions"]), type: MediaType.json,
        title: "The functions for conditions"),
      ServerLink(
        OGCRelation.tilingSchemes, base.href(["tileMatrixSets"]), type: MediaType.json,
        title: "The tile matrix sets"),
    ]
    if options.hasMap {
      others.append(ServerLink("preview", base.href(["map"]), type: "text/html", title: "A map"))
    }
    return .members([
      "title": .text(options.title), "description": options.description.map { .text($0) },
      "links": links.json(others),
    ])
  }

  func conformance(_ links: Links) -> JSONValue {
    .members([
      "links": links.json([]), "conformsTo": JSONValue(ConformanceClasses.uris(options)),
    ])
  }

  func collections(_ links: Links) -> JSONValue {
    let collections = layers.map { layer in
      let name = Name.collection(layer.id)
      let own = ServerLink(
        "self", links.base.href(name.path, query: ["f": links.format.rawValue]),
        type: links.format == .html ? "text/html" : MediaType.json, title: layer.title)
      return collection(
        layer, Links(base: links.base, format: links.format, own: [own]), isListed: true)
    }
    return .members([
      "links": links.json([]), "crs": JSONValue(ServedLayer.commonSystems.map(\.uri)),
      "collections": .array(collections + pictures(links)),
    ])
  }

  private func pictures(_ links: Links) -> [JSONValue] {
    pyramids.map { pyramid in
      let own = ServerLink(
        "self",
        links.base.href(
          Name.collection(pyramid.id).path, query: ["f": links.format.rawValue]),
        type: links.format == .html ? "text/html" : MediaType.json, title: pyramid.title)
      return MapTileDocuments(links: Links(base: links.base, format: links.format, own: [own]))
        .collection(pyramid)
    }
  }

  /// - Parameter isListed: in the list of collections, whose common systems `#/crs` stands for.
  func collection(_ layer: ServedLayer, _ links: Links, isListed: Bool) -> JSONValue {
    var systems = layer.systems.map(\.uri)
    if isListed, layer.systems.count >= ServedLayer.commonSystems.count {
      systems.replaceSubrange(..<ServedLayer.commonSystems.count, with: ["#/crs"])
    }
    return .members([
      "id": .text(layer.collectionID), "title": .text(layer.title),
      "description": layer.layer.description.map { .text($0) },
      "links": links.json(collectionLinks(of: layer, links.base)), "extent": extent(of: layer),
      "itemType": "feature", "crs": .unlessEmpty(systems),
      "storageCrs": layer.storageCRS.map { .text($0.uri) },
    ])
  }

  private func collectionLinks(of layer: ServedLayer, _ base: LinkBase) -> [ServerLink] {
    let path = Name.collection(layer.id).path
    var found = ServerOperation.getItems.formats.enumerated().map { index, format in
      // The first is the default, and its address is what clients extend with parameters.
      ServerLink(
        "items",
        index == 0
          ? base.href(path + ["items"]) : base.href(path + ["items"], query: ["f": format.name]),
        type: MediaType.name(format.type), title: "The features as \(format.name)")
    }
    for (relation, name) in [
      (OGCRelation.queryables, "queryables"), (OGCRelation.schema, "schema"),
      (OGCRelation.sortables, "sortables"),
    ] {
      found.append(
        ServerLink(relation, base.href(path + [name]), type: MediaType.schema, title: name))
    }
    if layer.hasTiles {
      found.append(
        ServerLink(
          OGCRelation.vectorTilesets, base.href(path + ["tiles"]), type: MediaType.json,
          title: "The vector tiles"))
    }
    return found
  }

  private func extent(of layer: ServedLayer) -> JSONValue? {
    let spatial: JSONValue? = layer.bbox.map { box in
      ["bbox": [.array(box.map { .real($0) })], "crs": .text(CRSName.crs84.uri)]
    }
    let temporal: JSONValue? = layer.instantColumn.map { _ in
      let ends = [JSONValue(layer.interval.first), JSONValue(layer.interval.last)]
      return [
        "interval": [.array(ends)],
        "trs": "http://www.opengis.net/def/uom/ISO-8601/0/Gregorian",
      ]
    }
    guard spatial != nil || temporal != nil else { return nil }
    return .members(["spatial": spatial, "temporal": temporal])
  }
}

extension ServedLayer {
  /// Whether the layer's geometries can be brought to Web Mercator.
  package var hasTiles: Bool { schema.geometry.map { !$0.srs.isUndefined } ?? false }
}
