package import FieldpackCore

/// What the server says about itself and its layers, made for one state of the layers.
///
///     let documents = ServerDocuments(layers.map { ServedLayer($0) }, .init(title: "field"))
///     let landing = documents.document(.landing, as: .json, base: LinkBase("https://example.org"))
///
/// Making a document reads nothing. The same name, format and base give the same bytes, so a caller
/// can keep them.
package struct ServerDocuments: Sendable {
  package struct Options: Hashable, Sendable {
    package var title: String
    package var description: String?
    /// Whether features can be created, changed and deleted.
    package var isWritable = false
    /// Whether a change of a feature needs `If-Match`.
    package var requiresIfMatch = false
    package var defaultLimit = 100
    package var maximumLimit = 10_000
    /// How long the features that match are counted for a page, at most.
    package var countingTime = Duration.milliseconds(200)
    /// Whether there is a page with a map at `/map`.
    package var hasMap = false
    /// Whether clients sign in with tokens.
    package var hasTokens = false
    /// Whether clients without a token may read.
    package var isOpen = false
    /// Whether old apps find their bridge and the server that they knew.
    package var hasApps = false
    package var hasBundles = false
    /// Whether another address tells how the server is.
    package var hasHealth = false
    /// Whether a database is served, which has nothing of what devices send.
    package var isOfDatabase = false
    /// Whether there is a page for biometric sensors at `/sensors`.
    package var hasSensors = false
    /// The version of the API, which OpenAPI demands.
    package var version = "1.0.0"

    package init(title: String) { self.title = title }
  }

  /// A document besides features and tiles.
  package enum Name: Hashable, Sendable {
    case landing, conformance, api, collections, functions, tileMatrixSets
    /// That of Web Mercator.
    case tileMatrixSet
    case collection(LayerID)
    case queryables(LayerID)
    case schema(LayerID)
    case sortables(LayerID)
    case tilesets(LayerID)
    /// The tileset of Web Mercator.
    case tileset(LayerID)
    /// The grid of a pyramid of pictures.
    case storedMatrixSet(LayerID)
    case mapTilesets(LayerID)
    /// A tileset of a pyramid, by the id of its tile matrix set.
    case mapTileset(LayerID, String)
  }

  package enum Format: String, CaseIterable, Sendable {
    case json, html
    /// A tileset as TileJSON; no other document has it.
    case tileJSON = "tilejson"
  }

  /// A document with its `Content-Type`.
  package struct Document: Hashable, Sendable {
    package var contentType: String
    package var bytes: [UInt8]
  }

  /// In the order of the list of collections.
  package let layers: [ServedLayer]
  package let pyramids: [ServedPyramid]
  package let options: Options
  /// The layers and pyramids that ``keeping(_:)`` kept; `nil` where all of the file are here.
  private(set) var kept: [LayerID]?
  /// The version of the file that the layers are of.
  package var version: Int64 = 0
  private let positions: [LayerID: Int]

  package init(
    _ layers: [ServedLayer], pyramids: [ServedPyramid] = [], _ options: Options
  ) {
    self.layers = layers
    self.pyramids = pyramids
    self.options = options
    positions = Dictionary(
      layers.enumerated().map { ($0.element.id, $0.offset) },
      uniquingKeysWith: { first, _ in first })
  }

  /// The documents with only the layers that a condition holds for.
  package func keeping(_ condition: (LayerID) -> Bool) -> ServerDocuments {
    var documents = ServerDocuments(
      layers.filter { condition($0.id) }, pyramids: pyramids.filter { condition($0.id) }, options)
    documents.version = version
    let kept = documents.layers.map(\.id) + documents.pyramids.map(\.id)
    if kept.count < layers.count + pyramids.count { documents.kept = kept }
    return documents
  }

  package func layer(_ id: LayerID) -> ServedLayer? { positions[id].map { layers[$0] } }

  package func pyramid(_ id: LayerID) -> ServedPyramid? { pyramids.first { $0.id == id } }

  /// - Returns: `nil` where there is no such layer, or the document does not have that format.
  package func document(
    _ name: Name, as format: Format, base: LinkBase
  ) -> Document? {
    let formats = name.operation.formats
    guard let type = formats.first(where: { $0.name == format.rawValue })?.type,
      let tree = tree(name, as: format, base: base)
    else { return nil }
    guard format == .html else {
      var bytes: [UInt8] = []
      tree.append(to: &bytes)
      return Document(contentType: type, bytes: bytes)
    }
    let page = DocumentPage(name.path, title: title(of: name), tree, base: base)
    return Document(contentType: type, bytes: name == .api ? page.apiBytes : page.bytes)
  }

  /// The document as JSON.
  func tree(_ name: Name, as format: Format, base: LinkBase) -> JSONValue? {
    let links = Links(base: base, format: format, own: ownLinks(name, format, base))
    switch name {
    case .landing: return landing(links)
    case .conformance: return conformance(links)
    case .api: return APIDocument(documents: self, base: base).tree
    case .collections: return collections(links)
    case .functions: return FunctionsDocument.tree(links)
    case .tileMatrixSets: return TileDocuments(links: links).tileMatrixSets(pyramids)
    case .tileMatrixSet: return TileDocuments(links: links).tileMatrixSet
    case .collection(let id):
      return layer(id).map { collection($0, links, isListed: false) }
        ?? pyramid(id).map { MapTileDocuments(links: links).collection($0) }
    case .queryables(let id):
      return layer(id).map { $0.schemaDocument(.queryables, name.path, base) }
    case .schema(let id): return layer(id).map { $0.schemaDocument(.schema, name.path, base) }
    case .sortables(let id): return layer(id).map { $0.schemaDocument(.sortables, name.path, base) }
    case .tilesets(let id): return tiledLayer(id).map { TileDocuments(links: links).tilesets($0) }
    case .tileset(let id):
      return tiledLayer(id).map {
        let documents = TileDocuments(links: links)
        return format == .tileJSON ? documents.tileJSON($0) : documents.tileset($0)
      }
    case .storedMatrixSet(let id):
      return pyramid(id).map { MapTileDocuments(links: links).matrixSet($0) }
    case .mapTilesets(let id):
      return pyramid(id).map { MapTileDocuments(links: links).tilesets($0) }
    case .mapTileset(let id, let set):
      return mapTileset(id, set, isTileJSON: format == .tileJSON, MapTileDocuments(links: links))
    }
  }

  private func mapTileset(
    _ id: LayerID, _ set: String, isTileJSON: Bool, _ documents: MapTileDocuments
  ) -> JSONValue? {
    guard let pyramid = pyramid(id), pyramid.setIDs.contains(set) else { return nil }
    guard isTileJSON else { return documents.tileset(pyramid, set) }
    return set == TileDocuments.setID ? documents.tileJSON(pyramid) : nil
  }

  /// The layer, where it has tiles.
  private func tiledLayer(_ id: LayerID) -> ServedLayer? {
    layer(id).flatMap { $0.hasTiles ? $0 : nil }
  }

  /// What the documents of one request have in common.
  struct Links {
    var base: LinkBase
    var format: Format
    /// The document itself and its other formats.
    var own: [ServerLink]

    func json(_ others: [ServerLink]) -> JSONValue { .array((own + others).map(\.json)) }
  }

  private func ownLinks(_ name: Name, _ format: Format, _ base: LinkBase) -> [ServerLink] {
    var formats = name.operation.formats
    if case .mapTileset(_, let set) = name, set != TileDocuments.setID {
      formats.removeAll { $0.name == Format.tileJSON.rawValue }
    }
    return
      (formats.filter { $0.name == format.rawValue }
      + formats.filter { $0.name != format.rawValue }).map { other in
        ServerLink(
          other.name == format.rawValue ? "self" : "alternate",
          base.href(name.path, query: ["f": other.name]), type: MediaType.name(other.type),
          title: title(of: name) + (other.name == "html" ? " as a page" : ""))
      }
  }

  private func title(of name: Name) -> String {
    switch name {
    case .landing: options.title
    case .conformance: "Conformance classes"
    case .api: "API of \(options.title)"
    case .collections: "Collections of \(options.title)"
    case .functions: "Functions for conditions"
    case .tileMatrixSets: "Tile matrix sets"
    case .tileMatrixSet: "WebMercatorQuad"
    case .collection(let id): layer(id)?.title ?? pyramid(id)?.title ?? id.rawValue
    case .queryables(let id): "Queryables of \(id)"
    case .schema(let id): "Schema of \(id)"
    case .sortables(let id): "Sortables of \(id)"
    case .tilesets(let id): "Tilesets of \(id)"
    case .tileset(let id): "Tiles of \(id)"
    case .storedMatrixSet(let id): "The grid of \(id)"
    case .mapTilesets(let id): "Tilesets of \(id)"
    case .mapTileset(let id, let set): "Tiles of \(id) on \(set)"
    }
  }
}

extension ServerDocuments.Name {
  /// The parts of the path, without escapes.
  package var path: [String] {
    func below(_ layer: LayerID, _ rest: String...) -> [String] {
      ["collections", CollectionName.id(of: layer)] + rest
    }
    return switch self {
    case .landing: []
    case .conformance: ["conformance"]
    case .api: ["api"]
    case .collections: ["collections"]
    case .functions: ["functions"]
    case .tileMatrixSets: ["tileMatrixSets"]
    case .tileMatrixSet: ["tileMatrixSets", TileDocuments.setID]
    case .collection(let id): below(id)
    case .queryables(let id): below(id, "queryables")
    case .schema(let id): below(id, "schema")
    case .sortables(let id): below(id, "sortables")
    case .tilesets(let id): below(id, "tiles")
    case .tileset(let id): below(id, "tiles", TileDocuments.setID)
    case .storedMatrixSet(let id): ["tileMatrixSets", ServedPyramid.setID(of: id)]
    case .mapTilesets(let id): below(id, "map", "tiles")
    case .mapTileset(let id, let set): below(id, "map", "tiles", set)
    }
  }

  package var operation: ServerOperation {
    switch self {
    case .landing: .getLandingPage
    case .conformance: .getConformance
    case .api: .getAPI
    case .collections: .getCollections
    case .functions: .getFunctions
    case .tileMatrixSets: .getTileMatrixSets
    case .tileMatrixSet: .getTileMatrixSet
    case .collection: .getCollection
    case .queryables: .getQueryables
    case .schema: .getSchema
    case .sortables: .getSortables
    case .tilesets: .getTilesets
    case .tileset: .getTileset
    case .storedMatrixSet: .getTileMatrixSet
    case .mapTilesets: .getMapTilesets
    case .mapTileset: .getMapTileset
    }
  }
}
