package import FieldpackCore

/// What clients may ask for by the standards of OGC: the one table of paths, methods, parameters and
/// formats. ``ServiceOperation`` has the other addresses.
///
/// The API document is made of it, and the router refuses what it does not list. The name of a case
/// is the operation's id in that document.
package enum ServerOperation: String, CaseIterable, Sendable {
  case getLandingPage, getConformance, getAPI, getCollections, getCollection, getQueryables
  case getSchema, getSortables, getItems, getItem, createItems, replaceItem, updateItem, deleteItem
  case getFunctions, getTileMatrixSets, getTileMatrixSet, getTilesets, getTileset
  /// The official tests look for this end of the id.
  case getTile = "collection.vector.getTile"
  case getMapTilesets, getMapTileset
  case getMapTile = "collection.map.getTile"

  /// The path with its variables in braces.
  package var path: String {
    switch self {
    case .getLandingPage: "/"
    case .getConformance: "/conformance"
    case .getAPI: "/api"
    case .getCollections: "/collections"
    case .getCollection: "/collections/{collectionId}"
    case .getQueryables: "/collections/{collectionId}/queryables"
    case .getSchema: "/collections/{collectionId}/schema"
    case .getSortables: "/collections/{collectionId}/sortables"
    case .getItems, .createItems: "/collections/{collectionId}/items"
    case .getItem, .replaceItem, .updateItem, .deleteItem:
      "/collections/{collectionId}/items/{featureId}"
    case .getFunctions: "/functions"
    case .getTileMatrixSets: "/tileMatrixSets"
    case .getTileMatrixSet: "/tileMatrixSets/{tileMatrixSetId}"
    case .getTilesets: "/collections/{collectionId}/tiles"
    case .getTileset: "/collections/{collectionId}/tiles/{tileMatrixSetId}"
    case .getTile:
      "/collections/{collectionId}/tiles/{tileMatrixSetId}/{tileMatrix}/{tileRow}/{tileCol}"
    case .getMapTilesets: "/collections/{mapId}/map/tiles"
    case .getMapTileset: "/collections/{mapId}/map/tiles/{mapTileMatrixSetId}"
    case .getMapTile:
      "/collections/{mapId}/map/tiles/{mapTileMatrixSetId}/{tileMatrix}/{tileRow}/{tileCol}"
    }
  }

  /// In lower case, as the API document has it.
  package var method: String {
    switch self {
    case .createItems: "post"
    case .replaceItem: "put"
    case .updateItem: "patch"
    case .deleteItem: "delete"
    default: "get"
    }
  }

  package var isEdit: Bool { method != "get" }

  /// Whether the operation is about pyramids of pictures, which few files have.
  package var isOfPictures: Bool {
    [.getMapTilesets, .getMapTileset, .getMapTile].contains(self)
  }

  /// The parameters of the query besides columns; see ``firstUnknown(of:in:)``.
  package var parameters: [QueryParameter] {
    switch self {
    case .getItems:
      [
        .limit, .offset, .after, .bbox, .bboxCRS, .crs, .datetime, .filter, .filterLanguage,
        .filterCRS, .sortBy, .properties, .format,
      ]
    case .getItem: [.crs, .format]
    case .getTile: [.properties, .format]
    case .createItems, .replaceItem, .updateItem, .deleteItem, .getMapTile: []
    default: [.format]
    }
  }

  /// What the operation gives, by the names that `f` has; the first is the default.
  package var formats: [(name: String, type: String)] {
    let page = ("html", MediaType.html)
    switch self {
    case .getAPI: return [("json", MediaType.api), page]
    case .getQueryables, .getSchema, .getSortables: return [("json", MediaType.schema), page]
    case .getItems:
      return [
        ("json", MediaType.geoJSON), page, ("geojsonl", "application/x-ndjson"),
        ("csv", "text/csv"), ("gpx", "application/gpx+xml"), ("gpkg", MediaType.geoPackage),
      ]
    case .getItem: return [("json", MediaType.geoJSON), page]
    case .getTileset, .getMapTileset:
      return [("json", MediaType.json), page, ("tilejson", MediaType.json)]
    case .getMapTile:
      return [("png", "image/png"), ("jpeg", "image/jpeg"), ("webp", "image/webp")]
    case .getTile: return [("mvt", MediaType.vectorTile)]
    case .createItems, .replaceItem, .updateItem, .deleteItem: return []
    default: return [("json", MediaType.json), page]
    }
  }
}

extension ServerOperation {
  /// The first of `names` that the operation does not know.
  ///
  /// - Parameter layer: the collection that is asked; its columns with simple values are parameters
  ///   of its items, too.
  package func firstUnknown(
    of names: some Sequence<String>, in layer: ServedLayer?
  ) -> String? {
    names.first { name in
      if parameters.contains(where: { $0.rawValue == name }) { return false }
      guard self == .getItems, let layer else { return true }
      return layer.parameterColumn(name) == nil
    }
  }

  /// Refuses parameters that the operation does not know.
  ///
  /// - Throws: `.invalidArgument`, which suggests parameters with similar names.
  package func check(
    _ query: [ServerRequest.Parameter], in layer: ServedLayer?
  ) throws(FieldpackError) {
    guard !query.isEmpty, let name = firstUnknown(of: query.map(\.name), in: layer) else { return }
    var known = parameters.map(\.rawValue)
    if self == .getItems, let layer { known += layer.parameterColumns }
    throw FieldpackError(
      .invalidArgument,
      "there is no parameter '\(name)' here\(NearNames.question(name, in: known))")
  }
}

extension ServedLayer {
  /// The columns that a parameter of their name compares with: those of numbers, texts, dates and
  /// truth values, and the feature id. A parameter of every layer comes before a column of its name.
  package var parameterColumns: [String] {
    queryableProperties.filter(\.isScalar).map(\.name)
      .filter { QueryParameter(rawValue: $0) == nil }
  }

  /// The column that a parameter means; as in conditions the case of ASCII letters does not count.
  package func parameterColumn(_ name: String) -> String? {
    let column: String? =
      switch schema.role(of: name) {
      case .attribute(let index): schema.columns[index].name
      case .id: schema.idColumn
      case .geometry, nil: nil
      }
    return column.flatMap { column in parameterColumns.first { $0 == column } }
  }
}
