import FieldpackCore
import FieldpackTiles

/// The documents of OGC API Tiles, the Tile Matrix Set standard 2.0 and TileJSON 3.0.
struct TileDocuments {
  let links: ServerDocuments.Links

  static let setID = "WebMercatorQuad"
  static let setURI = "http://www.opengis.net/def/tilematrixset/OGC/1.0/WebMercatorQuad"
  /// The zoom levels that tiles are given for.
  static let zooms = 0...22

  private var base: LinkBase { links.base }

  // MARK: The matrix set

  /// - Parameter pyramids: the pyramids of pictures, whose grids are sets, too.
  func tileMatrixSets(_ pyramids: [ServedPyramid]) -> JSONValue {
    let own = ServerLink(
      "self", base.href(["tileMatrixSets", Self.setID]), type: MediaType.json, title: Self.setID)
    let set: JSONValue = [
      "id": .text(Self.setID), "title": "Google Maps Compatible for the World",
      "uri": .text(Self.setURI), "crs": .text(CRSName.webMercator.uri), "links": [own.json],
    ]
    let others = pyramids.map { MapTileDocuments(links: links).summary(of: $0) }
    return ["links": links.json([]), "tileMatrixSets": .array([set] + others)]
  }

  var tileMatrixSet: JSONValue {
    [
      "id": .text(Self.setID), "title": "Google Maps Compatible for the World",
      "uri": .text(Self.setURI), "crs": .text(CRSName.webMercator.uri),
      "orderedAxes": ["X", "Y"],
      "wellKnownScaleSet": "http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible",
      "tileMatrices": .array(Self.zooms.map(Self.matrix)), "links": links.json([]),
    ]
  }

  private static func matrix(_ zoom: Int) -> JSONValue {
    let count = 1 << zoom
    let cell = 2 * WebMercator.edge / Double(count * WebMercator.tileSize)
    return [
      "id": .text(String(zoom)),
      // A pixel of the standard is 0.28 mm wide.
      "scaleDenominator": .real(cell / 0.00028), "cellSize": .real(cell),
      "cornerOfOrigin": "topLeft",
      "pointOfOrigin": [.real(-WebMercator.edge), .real(WebMercator.edge)],
      "tileWidth": JSONValue(WebMercator.tileSize), "tileHeight": JSONValue(WebMercator.tileSize),
      "matrixWidth": JSONValue(count), "matrixHeight": JSONValue(count),
    ]
  }

  // MARK: Tilesets of a collection

  func tilesets(_ layer: ServedLayer) -> JSONValue {
    let own = ServerLink(
      "self", base.href(ServerDocuments.Name.tileset(layer.id).path), type: MediaType.json,
      title: "The tileset")
    var members = description(of: layer)
    members.append(.init(name: "links", value: .array(([own] + tileLinks(layer)).map(\.json))))
    return ["links": links.json([]), "tilesets": [.object(members)]]
  }

  func tileset(_ layer: ServedLayer) -> JSONValue {
    let schema = base.href(ServerDocuments.Name.schema(layer.id).path)
    var members = description(of: layer)
    members += [
      .init(
        name: "layers",
        value: [
          [
            "id": .text(layer.id.rawValue), "title": .text(layer.title), "dataType": "vector",
            "propertiesSchema": ["$ref": .text(schema)],
          ]
        ]),
      .init(name: "links", value: links.json(tileLinks(layer))),
    ]
    return .object(members)
  }

  private func description(of layer: ServedLayer) -> [JSONValue.Member] {
    var members: [(String, JSONValue)] = [
      ("title", .text(layer.title)), ("dataType", "vector"),
      ("crs", .text(CRSName.webMercator.uri)), ("tileMatrixSetURI", .text(Self.setURI)),
      ("tileMatrixSetId", .text(Self.setID)),
    ]
    if let box = layer.bbox, box[0] <= box[2] {
      members.append(
        (
          "boundingBox",
          [
            "lowerLeft": [.real(box[0]), .real(box[1])],
            "upperRight": [.real(box[2]), .real(box[3])], "crs": .text(CRSName.crs84.uri),
          ]
        ))
    }
    return members.map { .init(name: $0.0, value: $0.1) }
  }

  private func tileLinks(_ layer: ServedLayer) -> [ServerLink] {
    let path = ServerDocuments.Name.tileset(layer.id).path
    var tiles = ServerLink(
      "item", base.href(path) + "/{tileMatrix}/{tileRow}/{tileCol}", type: MediaType.vectorTile,
      title: "A tile")
    tiles.isTemplated = true
    return [
      tiles,
      ServerLink(
        OGCRelation.tilingScheme, base.href(["tileMatrixSets", Self.setID]), type: MediaType.json,
        title: Self.setID),
      ServerLink(
        OGCRelation.geodata, base.href(ServerDocuments.Name.collection(layer.id).path),
        type: MediaType.json, title: layer.title),
      ServerLink(
        "describedby", base.href(path, query: ["f": "tilejson"]), type: MediaType.json,
        title: "The tileset as TileJSON"),
    ]
  }

  // MARK: TileJSON

  func tileJSON(_ layer: ServedLayer) -> JSONValue {
    let tiles = base.href(ServerDocuments.Name.tileset(layer.id).path) + "/{z}/{y}/{x}"
    return Self.tileJSON(
      of: [layer], title: layer.title, description: layer.layer.description, tiles: tiles)
  }

  /// That of tiles of all layers.
  static func tileJSON(of layers: [ServedLayer], title: String, base: LinkBase) -> JSONValue {
    tileJSON(
      of: layers, title: title, description: nil, tiles: base.href(["tiles"]) + "/{z}/{x}/{y}.mvt")
  }

  private static func tileJSON(
    of layers: [ServedLayer], title: String, description: String?, tiles: String
  ) -> JSONValue {
    let bounds = bounds(of: layers.count == 1 ? layers[0].bbox : layers.flatMap(\.extent).whole)
    return .members([
      "tilejson": "3.0.0", "name": .text(title), "description": description.map { .text($0) },
      "scheme": "xyz", "tiles": [.text(tiles)], "minzoom": JSONValue(zooms.lowerBound),
      "maxzoom": JSONValue(zooms.upperBound), "bounds": .array(bounds.map { .real($0) }),
      "center": [
        .real((bounds[0] + bounds[2]) / 2), .real((bounds[1] + bounds[3]) / 2),
        JSONValue(zooms.lowerBound),
      ],
      "vector_layers": .array(layers.map(vectorLayer)),
    ])
  }

  private static func vectorLayer(_ layer: ServedLayer) -> JSONValue {
    let fields = layer.properties.compactMap { property -> JSONValue.Member? in
      guard case .attribute(let column) = property.kind, let type = fieldType(column.type)
      else { return nil }
      return .init(name: column.name, value: .text(type))
    }
    return .members([
      "id": .text(layer.id.rawValue), "description": .text(layer.layer.description ?? layer.title),
      "fields": .object(fields), "minzoom": JSONValue(zooms.lowerBound),
      "maxzoom": JSONValue(zooms.upperBound),
    ])
  }

  /// What tiles can show of an extent; TileJSON has no bounds across the antimeridian.
  static func bounds(of box: [Double]?) -> [Double] {
    // The parallel at which the grid ends.
    let edge = 85.0511287798066
    guard let box else { return [-180, -edge, 180, edge] }
    let (west, east) = box[0] <= box[2] ? (max(box[0], -180), min(box[2], 180)) : (-180, 180)
    return [west, min(max(box[1], -edge), edge), east, min(max(box[3], -edge), edge)]
  }

  /// The type in the words of TileJSON's example; blobs are not in tiles.
  private static func fieldType(_ type: ColumnType) -> String? {
    switch type {
    case .boolean: "Boolean"
    case .tinyInt, .smallInt, .mediumInt, .integer, .float, .double: "Number"
    case .blob: nil
    default: "String"
    }
  }
}
