import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTiles

/// The documents of OGC API Tiles for pyramids of pictures.
struct MapTileDocuments {
  let links: ServerDocuments.Links

  private var base: LinkBase { links.base }

  func collection(_ pyramid: ServedPyramid) -> JSONValue {
    let path = ServerDocuments.Name.collection(pyramid.id).path
    let tilesets = ServerLink(
      OGCRelation.mapTilesets, base.href(path + ["map", "tiles"]), type: MediaType.json,
      title: "The tiles")
    let spatial: JSONValue? = pyramid.extent.box.map { box in
      ["spatial": ["bbox": [.array(box.map { .real($0) })], "crs": .text(CRSName.crs84.uri)]]
    }
    return .members([
      "id": .text(pyramid.collectionID), "title": .text(pyramid.title),
      "description": pyramid.pyramid.description.map { .text($0) },
      "links": links.json([tilesets]), "extent": spatial, "dataType": "map",
      "crs": pyramid.crs.map { [.text($0.uri)] },
    ])
  }

  // MARK: The grid

  func summary(of pyramid: ServedPyramid) -> JSONValue {
    let own = ServerLink(
      "self", base.href(ServerDocuments.Name.storedMatrixSet(pyramid.id).path),
      type: MediaType.json, title: pyramid.title)
    return .members([
      "id": .text(pyramid.setID), "title": .text("The grid of " + pyramid.title),
      "crs": pyramid.crs.map { .text($0.uri) }, "links": [own.json],
    ])
  }

  func matrixSet(_ pyramid: ServedPyramid) -> JSONValue {
    let bounds = pyramid.pyramid.bounds
    let corner: [JSONValue] = [.real(bounds.minX), .real(bounds.maxY)]
    let matrices = pyramid.pyramid.matrices.map { matrix -> JSONValue in
      [
        "id": .text(String(matrix.zoom)),
        // A pixel of the standard is 0.28 mm wide.
        "scaleDenominator": .real(matrix.pixelWidth * pyramid.unit / 0.00028),
        "cellSize": .real(matrix.pixelWidth), "cornerOfOrigin": "topLeft",
        // The axes are in the order of the authority, as in all positions of the document.
        "pointOfOrigin": .array(pyramid.isNorthFirst ? corner.reversed() : corner),
        "tileWidth": JSONValue(matrix.tileWidth), "tileHeight": JSONValue(matrix.tileHeight),
        "matrixWidth": JSONValue(matrix.width), "matrixHeight": JSONValue(matrix.height),
      ]
    }
    return .members([
      "id": .text(pyramid.setID), "title": .text("The grid of " + pyramid.title),
      "crs": pyramid.crs.map { .text($0.uri) }, "tileMatrices": .array(matrices),
      "links": links.json([]),
    ])
  }

  // MARK: Tilesets

  func tilesets(_ pyramid: ServedPyramid) -> JSONValue {
    let sets = pyramid.setIDs.map { set -> JSONValue in
      let own = ServerLink(
        "self", base.href(ServerDocuments.Name.mapTileset(pyramid.id, set).path),
        type: MediaType.json, title: "The tileset")
      let all = [own] + tileLinks(pyramid, set)
      return .object(
        description(of: pyramid, set) + [.init(name: "links", value: .array(all.map(\.json)))])
    }
    return ["links": links.json([]), "tilesets": .array(sets)]
  }

  func tileset(_ pyramid: ServedPyramid, _ set: String) -> JSONValue {
    .object(
      description(of: pyramid, set)
        + [.init(name: "links", value: links.json(tileLinks(pyramid, set)))])
  }

  private func description(of pyramid: ServedPyramid, _ set: String) -> [JSONValue.Member] {
    let isWeb = set == TileDocuments.setID
    let crs = isWeb ? CRSName.webMercator : pyramid.crs
    let box: JSONValue? = pyramid.extent.box.flatMap { box in
      guard box[0] <= box[2] else { return nil }
      return [
        "lowerLeft": [.real(box[0]), .real(box[1])], "upperRight": [.real(box[2]), .real(box[3])],
        "crs": .text(CRSName.crs84.uri),
      ]
    }
    let members: JSONValue = .members([
      "title": .text(pyramid.title), "dataType": "map", "crs": crs.map { .text($0.uri) },
      "tileMatrixSetURI": isWeb ? .text(TileDocuments.setURI) : nil,
      "tileMatrixSetId": .text(set), "boundingBox": box,
    ])
    guard case .object(let found) = members else { return [] }
    return found
  }

  private func tileLinks(_ pyramid: ServedPyramid, _ set: String) -> [ServerLink] {
    let path = ServerDocuments.Name.mapTileset(pyramid.id, set).path
    // The link has no media type, because each tile can have another one.
    var tiles = ServerLink(
      "item", base.href(path) + "/{tileMatrix}/{tileRow}/{tileCol}", title: "A tile")
    tiles.isTemplated = true
    var found = [
      tiles,
      ServerLink(
        OGCRelation.tilingScheme, base.href(["tileMatrixSets", set]), type: MediaType.json,
        title: set),
      ServerLink(
        OGCRelation.geodata, base.href(ServerDocuments.Name.collection(pyramid.id).path),
        type: MediaType.json, title: pyramid.title),
    ]
    if set == TileDocuments.setID {
      found.append(
        ServerLink(
          "describedby", base.href(path, query: ["f": "tilejson"]), type: MediaType.json,
          title: "The tileset as TileJSON"))
    }
    return found
  }

  /// The tileset on the grid of web maps, which is the only grid of TileJSON.
  func tileJSON(_ pyramid: ServedPyramid) -> JSONValue {
    let path = ServerDocuments.Name.mapTileset(pyramid.id, TileDocuments.setID).path
    let bounds = TileDocuments.bounds(of: pyramid.extent.box)
    return .members([
      "tilejson": "3.0.0", "name": .text(pyramid.title),
      "description": pyramid.pyramid.description.map { .text($0) }, "scheme": "xyz",
      "tiles": [.text(base.href(path) + "/{z}/{y}/{x}")],
      "minzoom": JSONValue(TileDocuments.zooms.lowerBound),
      "maxzoom": JSONValue(TileDocuments.zooms.upperBound),
      "bounds": .array(bounds.map { .real($0) }),
    ])
  }
}
