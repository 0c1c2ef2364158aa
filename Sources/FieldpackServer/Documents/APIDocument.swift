import FieldpackCore

/// The API in OpenAPI 3.0.3: a template for each path, whatever the number of layers, and no
/// reference out of the document.
struct APIDocument {
  let documents: ServerDocuments
  let base: LinkBase

  private var options: ServerDocuments.Options { documents.options }

  var tree: JSONValue {
    let about =
      (options.description.map { $0 + " " } ?? "")
      + "A column of a collection is a parameter of its features, too, with the value that it shall "
      + "have: see the queryables of the collection."
    return .members([
      "openapi": "3.0.3",
      "info": [
        "title": .text(options.title), "version": .text(options.version),
        "description": .text(about),
      ],
      "servers": [["url": .text(base.text.isEmpty ? "/" : base.text)]],
      "security": security, "tags": .array(tags),
      "paths": .object(paths + healthPaths),
      "components": .members([
        "parameters": .object(parameters),
        "responses": .object(
          Self.errors + [.init(name: "refusal", value: ServiceOperation.refusal)]),
        "schemas": APISchemas.tree, "securitySchemes": options.hasTokens ? Self.schemes : nil,
      ]),
    ])
  }

  private static let tagTexts = [
    ("capabilities", "What there is."), ("features", "Features of a collection."),
    ("tiles", "Vector tiles, and pictures."), ("live", "What happens, as it happens."),
    ("synchronisation", "Edits of copies of the file."),
    ("devices", "What devices send."), ("captures", "Pictures and videos with their places."),
    ("sensors", "Persons, and what sensors measure of them."),
    ("apps", "What apps of SpatialConnect ask for."), ("access", "Signing in."),
    ("health", "How the server is, at another address."),
  ]

  private var tags: [JSONValue] {
    var used = Set(operations.map(\.tag) + services.map(\.tag))
    if options.hasHealth { used.insert("health") }
    return Self.tagTexts.filter { used.contains($0.0) }
      .map { ["name": .text($0.0), "description": .text($0.1)] }
  }

  // MARK: Access

  private static let schemes: JSONValue = [
    "bearer": ["type": "http", "scheme": "bearer", "description": "A token."],
    "basic": ["type": "http", "scheme": "basic", "description": "A token as the password."],
  ]

  private var security: JSONValue? {
    guard options.hasTokens else { return nil }
    let none: JSONValue = [:]
    return .array([["bearer": []], ["basic": []]] + (options.isOpen ? [none] : []))
  }

  private var operations: [ServerOperation] {
    ServerOperation.allCases.filter { operation in
      (options.isWritable || !operation.isEdit)
        && (!documents.pyramids.isEmpty || !operation.isOfPictures)
    }
  }

  private var paths: [JSONValue.Member] {
    var paths: [String] = []
    for operation in operations where !paths.contains(operation.path) {
      paths.append(operation.path)
    }
    let services = services
    for service in services where !paths.contains(service.path) { paths.append(service.path) }
    return paths.map { path in
      let methods =
        operations.filter { $0.path == path }
        .map { JSONValue.Member(name: $0.method, value: json(of: $0)) }
        + services.filter { $0.path == path }.map { .init(name: $0.method, value: $0.json) }
      return .init(name: path, value: .object(methods))
    }
  }

  private var services: [ServiceOperation] { ServiceOperation.all(of: documents) }

  /// The addresses of the server's health. The document does not tell where they are, because that
  /// address is often one of the inner network.
  private var healthPaths: [JSONValue.Member] {
    guard options.hasHealth else { return [] }
    let address: JSONValue = [
      "default": "http://localhost",
      "description": "The address that the server has for its health.",
    ]
    return [
      ("healthz", "Whether the server runs."), ("readyz", "Whether the server takes requests."),
      ("metrics", "Numbers for Prometheus."),
    ].map { name, summary in
      let operation = ServiceOperation(
        id: name, path: "/" + name, tag: "health", summary: summary,
        answers: [ServiceOperation.answer(200, "Yes.", "text/plain", ServiceOperation.text)])
      let servers: JSONValue = [["url": "{health}", "variables": ["health": address]]]
      return .init(name: "/" + name, value: ["servers": servers, "get": operation.json])
    }
  }

  private func json(of operation: ServerOperation) -> JSONValue {
    .members([
      "tags": [.text(operation.tag)], "summary": .text(operation.summary),
      "operationId": .text(operation.rawValue),
      "parameters": .array(references(of: operation)),
      "requestBody": operation.requestBody, "responses": .object(responses(of: operation)),
    ])
  }

  // MARK: Parameters

  private func references(of operation: ServerOperation) -> [JSONValue] {
    var names = operation.pathVariables
    names += operation.parameters.map { $0 == .format ? operation.formatParameter : $0.rawValue }
    if operation.isEdit, operation != .deleteItem { names.append("Content-Crs") }
    if operation.isEdit, operation != .createItems { names.append("If-Match") }
    return names.map { APISchemas.reference("parameters", $0) }
  }

  private var parameters: [JSONValue.Member] {
    var found: [JSONValue.Member] = pathParameters
    found += QueryParameter.allCases.filter { $0 != .format }
      .map { .init(name: $0.rawValue, value: $0.json(options)) }
    for operation in operations where operation.parameters.contains(.format) {
      let name = operation.formatParameter
      guard !found.contains(where: { $0.name == name }) else { continue }
      let formats = operation.formats.map(\.name)
      found.append(
        .init(name: name, value: QueryParameter.format.json(options, formats: formats)))
    }
    return options.isWritable ? found + editParameters : found
  }

  private var pathParameters: [JSONValue.Member] {
    let ids = documents.layers.map(\.collectionID)
    let sets = documents.pyramids.map(\.setID)
    return pictureParameters + [
      Self.variable(
        "collectionId", "The id of a collection.",
        .members(["type": "string", "enum": .unlessEmpty(ids)])),
      Self.variable("featureId", "The id of a feature.", ["type": "string"]),
      Self.variable(
        "tileMatrixSetId", "The id of a tile matrix set.",
        ["type": "string", "enum": JSONValue([TileDocuments.setID] + sets)]),
      Self.variable(
        "tileMatrix", "The zoom level.",
        ["type": "string", "enum": JSONValue(TileDocuments.zooms.map(String.init))]),
      Self.variable(
        "tileRow", "The row of the tile, from the north.", ["type": "integer", "minimum": 0]),
      Self.variable(
        "tileCol", "The column of the tile, from the west.", ["type": "integer", "minimum": 0]),
    ]
  }

  private var pictureParameters: [JSONValue.Member] {
    guard !documents.pyramids.isEmpty else { return [] }
    let ids = documents.pyramids.map(\.collectionID)
    let sets = documents.pyramids.map(\.setID)
    return [
      Self.variable(
        "mapId", "The id of a pyramid of pictures.", ["type": "string", "enum": JSONValue(ids)]),
      Self.variable(
        "mapTileMatrixSetId", "The id of a tile matrix set that the pyramid has tiles on.",
        ["type": "string", "enum": JSONValue([TileDocuments.setID] + sets)]),
    ]
  }

  private static func variable(
    _ name: String, _ description: String, _ schema: JSONValue
  ) -> JSONValue.Member {
    .init(
      name: name,
      value: [
        "name": .text(name), "in": "path", "description": .text(description), "required": true,
        "schema": schema,
      ])
  }

  private var editParameters: [JSONValue.Member] {
    func field(_ name: String, _ description: String, isRequired: Bool) -> JSONValue.Member {
      .init(
        name: name,
        value: [
          "name": .text(name), "in": "header", "description": .text(description),
          "required": .boolean(isRequired), "schema": ["type": "string"],
        ])
    }
    return [
      field(
        "If-Match",
        "The ETag of the feature as it was read: it is changed only where it is still so.",
        isRequired: options.requiresIfMatch),
      field(
        "Content-Crs",
        "The reference system of the geometries in the body, by its URI in angle brackets.",
        isRequired: false),
    ]
  }

  // MARK: Responses

  private func responses(of operation: ServerOperation) -> [JSONValue.Member] {
    let statuses = operation.errorStatuses(requiresIfMatch: options.requiresIfMatch)
    return operation.successes
      + statuses.map { status in
        .init(name: String(status), value: APISchemas.reference("responses", String(status)))
      }
  }

  private static let errors: [JSONValue.Member] = [
    (400, "The request has a mistake."), (401, "Who asks has not signed in."),
    (403, "Who asks may not do this."), (404, "There is no such thing."),
    (405, "Nobody can change this."), (406, "There is no such format."),
    (409, "A rule of the collection forbids this."),
    (412, "The feature is no longer as If-Match says."), (413, "The body is too large."),
    (415, "The body is in a format that is not read here."),
    (422, "The body cannot be understood."), (428, "If-Match is missing."),
    (500, "The server could not answer."), (503, "Ask again later."),
  ].map { status, description in
    let content: JSONValue = [
      MediaType.problem: ["schema": APISchemas.reference("schemas", "problem")],
      // For browsers.
      MediaType.name(MediaType.html): ["schema": ["type": "string"]],
    ]
    return .init(
      name: String(status), value: ["description": .text(description), "content": content])
  }
}
