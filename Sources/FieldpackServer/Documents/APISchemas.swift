import FieldpackCore

/// The schemas of the API document, in the JSON Schema of OpenAPI 3.0.
enum APISchemas {
  static func reference(_ kind: String, _ name: String) -> JSONValue {
    ["$ref": .text("#/components/\(kind)/\(name)")]
  }

  private static func schema(_ name: String) -> JSONValue { reference("schemas", name) }

  private static let text: JSONValue = ["type": "string"]
  private static let anyObject: JSONValue = ["type": "object"]

  private static func list(_ item: JSONValue) -> JSONValue { ["type": "array", "items": item] }

  private static func object(
    _ properties: KeyValuePairs<String, JSONValue>, required: [String] = []
  ) -> JSONValue {
    .members([
      "type": "object", "required": .unlessEmpty(required),
      "properties": .object(properties.map { .init(name: $0.key, value: $0.value) }),
    ])
  }

  static let tree: JSONValue = [
    "link": link, "problem": problem, "document": anyObject, "landingPage": landingPage,
    "conformance": conformance, "extent": extent, "collection": collection,
    "collections": collections, "geometry": geometry, "feature": feature,
    "featureCollection": featureCollection, "newFeature": newFeature, "newFeatures": newFeatures,
    "featurePatch": featurePatch,
  ]

  private static let link = object(
    [
      "href": text, "rel": text, "type": text, "title": text, "hreflang": text,
      "length": ["type": "integer"], "templated": ["type": "boolean"],
    ], required: ["href", "rel"])

  private static let problem = object(
    [
      "type": text, "title": text, "status": ["type": "integer"], "detail": text, "code": text,
    ], required: ["title", "status"])

  private static let landingPage = object(
    ["title": text, "description": text, "links": list(schema("link"))], required: ["links"])

  private static let conformance = object(
    ["conformsTo": list(text), "links": list(schema("link"))], required: ["conformsTo"])

  // MARK: Collections

  private static let extent: JSONValue = {
    let box: JSONValue = [
      "type": "array", "minItems": 4, "maxItems": 6, "items": ["type": "number"],
    ]
    let moment: JSONValue = ["type": "string", "nullable": true]
    let interval: JSONValue = [
      "type": "array", "minItems": 2, "maxItems": 2, "items": moment,
    ]
    return object([
      "spatial": object(["bbox": list(box), "crs": text]),
      "temporal": object(["interval": list(interval), "trs": text]),
    ])
  }()

  private static let collection = object(
    [
      "id": text, "title": text, "description": text, "links": list(schema("link")),
      "extent": schema("extent"), "itemType": text, "crs": list(text), "storageCrs": text,
    ], required: ["id", "links"])

  private static let collections = object(
    [
      "links": list(schema("link")), "crs": list(text), "collections": list(schema("collection")),
    ], required: ["links", "collections"])

  // MARK: Features

  private static let kinds: [String] = [
    "Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon",
    "GeometryCollection",
  ]

  private static let geometry: JSONValue = {
    var geometry = object(
      [
        "type": ["type": "string", "enum": JSONValue(kinds)],
        "coordinates": ["type": "array", "items": anyItem],
        "geometries": list(anyObject),
      ], required: ["type"])
    if case .object(let members) = geometry {
      geometry = .object(members + [.init(name: "nullable", value: true)])
    }
    return geometry
  }()

  private static let anyItem: JSONValue = [:]
  private static let properties: JSONValue = ["type": "object", "nullable": true]
  private static let featureType: JSONValue = ["type": "string", "enum": ["Feature"]]
  private static let collectionType: JSONValue = [
    "type": "string", "enum": ["FeatureCollection"],
  ]
  private static let id: JSONValue = ["oneOf": [["type": "string"], ["type": "integer"]]]

  private static let feature = object(
    [
      "type": featureType, "id": id, "geometry": schema("geometry"), "properties": properties,
      "links": list(schema("link")),
    ], required: ["type", "geometry", "properties"])

  private static let featureCollection = object(
    [
      "type": collectionType, "features": list(schema("feature")), "links": list(schema("link")),
      "timeStamp": ["type": "string", "format": "date-time"],
      "numberMatched": ["type": "integer", "minimum": 0],
      "numberReturned": ["type": "integer", "minimum": 0],
    ], required: ["type", "features"])

  private static let newFeature = object(
    [
      "type": featureType, "id": id, "geometry": schema("geometry"), "properties": properties,
    ], required: ["type", "geometry", "properties"])

  private static let newFeatures = object(
    ["type": collectionType, "features": list(schema("newFeature"))],
    required: ["type", "features"])

  private static let featurePatch = object([
    "geometry": schema("geometry"), "properties": properties,
  ])
}
