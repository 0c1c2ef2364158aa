import FieldpackCore

/// What clients may ask for beside the addresses of OGC's standards, for the API document.
///
/// The router does not read this table: each of these addresses has a handler of its own.
struct ServiceOperation: Sendable {
  /// The operation's id in the document.
  var id: String
  /// In lower case.
  var method = "get"
  /// The path with its variables in braces.
  var path: String
  var tag: String
  var summary: String
  var parameters: [JSONValue] = []
  var body: [JSONValue.Member] = []
  var answers: [JSONValue.Member]

  var json: JSONValue {
    let refusal = JSONValue.Member(
      name: "default", value: APISchemas.reference("responses", "refusal"))
    return .members([
      "tags": [.text(tag)], "summary": .text(summary), "operationId": .text(id),
      "parameters": parameters.isEmpty ? nil : .array(parameters),
      "requestBody": body.isEmpty ? nil : ["required": true, "content": .object(body)],
      "responses": .object(answers + [refusal]),
    ])
  }

  /// Why something is not done: the formats differ from one protocol to the other.
  static let refusal: JSONValue = [
    "description": "The request is not answered as it is, with the reason.",
    "content": [
      MediaType.problem: ["schema": APISchemas.reference("schemas", "problem")],
      MediaType.json: ["schema": [:]],
      "text/plain": ["schema": text], MediaType.name(MediaType.html): ["schema": text],
    ],
  ]

  // MARK: Schemas

  static let text: JSONValue = ["type": "string"]
  static let binary: JSONValue = ["type": "string", "format": "binary"]
  static let object: JSONValue = ["type": "object"]

  static func integer(_ range: ClosedRange<Int>) -> JSONValue {
    [
      "type": "integer", "minimum": JSONValue(range.lowerBound),
      "maximum": JSONValue(range.upperBound),
    ]
  }

  static func list(_ values: [String]) -> JSONValue {
    let item: JSONValue = ["type": "string", "enum": JSONValue(values)]
    return ["type": "array", "minItems": 1, "items": item]
  }

  // MARK: Parameters

  /// A parameter that the operations of the standards have, too.
  static func shared(_ name: String) -> JSONValue { APISchemas.reference("parameters", name) }

  static func variable(
    _ name: String, _ description: String, _ schema: JSONValue = text
  ) -> JSONValue {
    parameter(name, in: "path", description, schema, isRequired: true)
  }

  static func query(
    _ name: String, _ description: String, _ schema: JSONValue = text, isRequired: Bool = false
  ) -> JSONValue {
    parameter(name, in: "query", description, schema, isRequired: isRequired)
  }

  static func field(_ name: String, _ description: String) -> JSONValue {
    parameter(name, in: "header", description, text, isRequired: false)
  }

  private static func parameter(
    _ name: String, in place: String, _ description: String, _ schema: JSONValue,
    isRequired: Bool
  ) -> JSONValue {
    .members([
      "name": .text(name), "in": .text(place), "description": .text(description),
      "required": .boolean(isRequired), "schema": schema,
      // Several values have commas between them.
      "explode": schema["type"] == "array" ? false : nil,
    ])
  }

  // MARK: Answers

  static func answer(
    _ status: Int, _ description: String, _ type: String? = nil, _ schema: JSONValue = object
  ) -> JSONValue.Member {
    .init(
      name: String(status),
      value: .members([
        "description": .text(description), "content": type.map { [$0: ["schema": schema]] },
      ]))
  }

  static let notModified = answer(304, "What If-None-Match names is still so.")

  static func content(_ type: String, _ schema: JSONValue) -> JSONValue.Member {
    .init(name: type, value: ["schema": schema])
  }
}
