import FieldpackCore

/// What the API document says of an operation.
extension ServerOperation {
  var tag: String {
    switch self {
    case .getItems, .getItem, .createItems, .replaceItem, .updateItem, .deleteItem: "features"
    case .getTileMatrixSets, .getTileMatrixSet, .getTilesets, .getTileset, .getTile: "tiles"
    case .getMapTilesets, .getMapTileset, .getMapTile: "tiles"
    default: "capabilities"
    }
  }

  var summary: String {
    switch self {
    case .getLandingPage: "The landing page, with links to all else."
    case .getConformance: "The conformance classes of the server."
    case .getAPI: "This document."
    case .getCollections: "The collections."
    case .getCollection: "A collection: where its features lie, and what can be asked of it."
    case .getQueryables: "The properties that conditions can name."
    case .getSchema: "The properties of the features."
    case .getSortables: "The properties that features can be sorted by."
    case .getItems: "Features of a collection."
    case .getItem: "A feature."
    case .createItems: "Creates a feature, or those of a FeatureCollection."
    case .replaceItem: "Replaces a feature."
    case .updateItem: "Changes some properties of a feature, or its geometry."
    case .deleteItem: "Deletes a feature."
    case .getFunctions: "The functions that conditions can have."
    case .getTileMatrixSets: "The tile matrix sets."
    case .getTileMatrixSet: "A tile matrix set."
    case .getTilesets: "The tilesets of a collection."
    case .getTileset: "A tileset of a collection."
    case .getTile: "A vector tile; 204 where it would be empty."
    case .getMapTilesets: "The tilesets of a pyramid of pictures."
    case .getMapTileset: "A tileset of a pyramid of pictures."
    case .getMapTile: "A picture; 204 where there is none."
    }
  }

  /// The names in braces of the path.
  var pathVariables: [String] {
    path.split(separator: "/").compactMap { part in
      part.first == "{" ? String(part.dropFirst().dropLast()) : nil
    }
  }

  /// The name of the parameter `f` among the components; operations with the same formats share it.
  var formatParameter: String { "f-" + formats.map(\.name).joined(separator: "-") }

  // MARK: Bodies

  private static func content(_ type: String, _ schema: String) -> JSONValue.Member {
    let value: JSONValue =
      schema.isEmpty
      ? ["schema": ["type": "string"]] : ["schema": APISchemas.reference("schemas", schema)]
    return .init(name: MediaType.name(type), value: value)
  }

  var requestBody: JSONValue? {
    let content: [JSONValue.Member]
    switch self {
    case .createItems:
      let either: JSONValue = [
        "oneOf": [
          APISchemas.reference("schemas", "newFeature"),
          APISchemas.reference("schemas", "newFeatures"),
        ]
      ]
      content = [.init(name: MediaType.geoJSON, value: ["schema": either])]
    case .replaceItem: content = [Self.content(MediaType.geoJSON, "newFeature")]
    case .updateItem: content = [Self.content(MediaType.mergePatch, "featurePatch")]
    default: return nil
    }
    return ["required": true, "content": .object(content)]
  }

  /// The schema of what the operation gives as JSON.
  private var schemaName: String {
    switch self {
    case .getLandingPage: "landingPage"
    case .getConformance: "conformance"
    case .getCollections: "collections"
    case .getCollection: "collection"
    case .getItems: "featureCollection"
    case .getItem: "feature"
    default: "document"
    }
  }

  // MARK: Responses

  /// The responses that are no errors, by status.
  var successes: [JSONValue.Member] {
    switch self {
    case .createItems:
      let location: JSONValue = [
        "description": "Where the new feature is; not of a FeatureCollection.",
        "schema": ["type": "string", "format": "uri"],
      ]
      let addresses: JSONValue = [
        "schema": ["type": "array", "items": ["type": "string", "format": "uri"]]
      ]
      return [
        .init(
          name: "201",
          value: [
            "description": "Created. The body has the addresses of the features.",
            "headers": ["Location": location, "ETag": Self.tag],
            "content": [MediaType.json: addresses],
          ])
      ]
    case .replaceItem, .updateItem:
      return [
        .init(name: "204", value: ["description": "Done.", "headers": ["ETag": Self.tag]])
      ]
    case .deleteItem: return [.init(name: "204", value: ["description": "Done."])]
    case .getTile, .getMapTile:
      let tile: JSONValue = ["schema": ["type": "string", "format": "binary"]]
      let contents = formats.map { JSONValue.Member(name: $0.type, value: tile) }
      return [
        .init(
          name: "200", value: ["description": "The tile.", "content": .object(contents)]),
        .init(name: "204", value: ["description": "The tile is empty."]), Self.notModified,
      ]
    default:
      return [
        .init(
          name: "200",
          value: .members([
            "description": .text(summary), "headers": headers, "content": .object(contents),
          ])), Self.notModified,
      ]
    }
  }

  private static let tag: JSONValue = [
    "description": "The entity tag of the feature as it is now.", "schema": ["type": "string"],
  ]

  private static let notModified = JSONValue.Member(
    name: "304", value: ["description": "What If-None-Match names is still so."])

  private var contents: [JSONValue.Member] {
    var found: [JSONValue.Member] = []
    for (index, format) in formats.enumerated()
    where !found.contains(where: { $0.name == MediaType.name(format.type) }) {
      found.append(Self.content(format.type, index == 0 ? schemaName : ""))
    }
    return found
  }

  private var headers: JSONValue? {
    guard self == .getItems || self == .getItem else { return nil }
    return [
      "Content-Crs": [
        "description": "The reference system of the geometries, by its URI in angle brackets.",
        "schema": ["type": "string"],
      ]
    ]
  }

  func errorStatuses(requiresIfMatch: Bool) -> [Int] {
    var statuses: Set<Int> = [400, 500, 503]
    if !pathVariables.isEmpty { statuses.insert(404) }
    guard isEdit else {
      return statuses.union([406]).sorted()
    }
    statuses.formUnion([401, 403, 405, 409])
    if self != .deleteItem { statuses.formUnion([413, 415, 422]) }
    if self != .createItems {
      statuses.insert(412)
      if requiresIfMatch { statuses.insert(428) }
    }
    return statuses.sorted()
  }
}
