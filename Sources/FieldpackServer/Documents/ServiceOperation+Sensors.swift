import Fieldpack
import FieldpackCore

/// What the page of an operator of biometric sensors asks for. All of it needs the right `bio`.
extension ServiceOperation {
  /// - Parameter isWritable: whether persons and items can be changed, and sensors asked.
  static func sensors(isWritable: Bool) -> [ServiceOperation] {
    isWritable ? sensorReading + sensorWriting : sensorReading
  }

  private static let tag = "sensors"
  private static let person = variable("personId", "The number of a person.")
  private static let item = variable("itemId", "The number of an item.")
  private static let personAnswer = answer(
    200, "The person as it is now, with its items.", MediaType.json)
  private static let itemAnswer = answer(200, "The item as it is now.", MediaType.json)

  private static func part(_ description: String, _ values: [String]) -> JSONValue {
    variable("itemPart", description, ["type": "string", "enum": JSONValue(values)])
  }

  private static let sensorReading = [
    ServiceOperation(
      id: "getSensorPage", path: "/sensors", tag: tag,
      summary: "The page of an operator, for browsers.",
      answers: [answer(200, "A page.", MediaType.name(MediaType.html), text), notModified]),
    ServiceOperation(
      id: "getSensorState", path: "/sensors/state", tag: tag,
      summary: "All persons with their items.",
      answers: [answer(200, "The persons.", MediaType.json)]),
    ServiceOperation(
      id: "getRecentSensors", path: "/sensors/recent", tag: tag,
      summary: "The sensors that were used last.",
      parameters: [query("modality", "What the sensors capture.", isRequired: true)],
      answers: [answer(200, "The sensors.", MediaType.json)]),
    ServiceOperation(
      id: "followSensors", path: "/sensors/events", tag: tag,
      summary: "What happens to persons and items, as server-sent events.",
      answers: [
        answer(200, "Events, for as long as the client stays.", "text/event-stream", text)
      ]),
    ServiceOperation(
      id: "getPerson", path: "/sensors/persons/{personId}", tag: tag,
      summary: "A person with its items, and the entity tag of the details.", parameters: [person],
      answers: [personAnswer]),
    ServiceOperation(
      id: "getItemPart", path: "/sensors/items/{itemId}/{itemPart}", tag: tag,
      summary: "A file of an item.",
      parameters: [item, part("Which file.", ["data", "thumbnail"])],
      answers: [answer(200, "The file.", "*/*", binary)]),
  ]

  private static let sensorWriting = [
    ServiceOperation(
      id: "getItemPreview", path: "/sensors/items/{itemId}/preview", tag: tag,
      summary: "What the sensor of an item sees now.", parameters: [item],
      answers: [
        answer(
          200, "Pictures, for as long as the client stays.", "multipart/x-mixed-replace", binary)
      ]),
    ServiceOperation(
      id: "checkSensor", path: "/sensors/check", tag: tag,
      summary: "Asks a sensor whether it captures what an item wants.",
      parameters: [
        query("modality", "What is captured.", isRequired: true),
        query("submodality", "Which part of it.", isRequired: true),
        query("uri", "The address of the sensor."),
      ], answers: [answer(200, "The result, and a text.", MediaType.json)]),
    ServiceOperation(
      id: "addPerson", method: "post", path: "/sensors/persons", tag: tag,
      summary: "Adds a person.", body: [content(MediaType.json, object)],
      answers: [personAnswer]),
    ServiceOperation(
      id: "replacePerson", method: "put", path: "/sensors/persons/{personId}", tag: tag,
      summary: "Changes the details of a person, with If-Match only those of the entity tag.",
      parameters: [person],
      body: [content(MediaType.json, object)], answers: [personAnswer]),
    ServiceOperation(
      id: "removePerson", method: "delete", path: "/sensors/persons/{personId}", tag: tag,
      summary: "Deletes a person and its items.", parameters: [person],
      answers: [answer(200, "Deleted.", MediaType.json)]),
    ServiceOperation(
      id: "addItem", method: "post", path: "/sensors/persons/{personId}/items", tag: tag,
      summary: "Adds an item to a person.", parameters: [person],
      body: [content(MediaType.json, object)], answers: [personAnswer]),
    ServiceOperation(
      id: "actOnPerson", method: "post", path: "/sensors/persons/{personId}/{personAction}",
      tag: tag, summary: "Makes a copy of a person, or gets the sensors of its items ready.",
      parameters: [
        person,
        variable(
          "personAction", "Which of the two.",
          ["type": "string", "enum": ["duplicate", "select"]]),
      ], answers: [personAnswer]),
    ServiceOperation(
      id: "changeItem", method: "patch", path: "/sensors/items/{itemId}", tag: tag,
      summary: "Changes an item, its marks and its place.", parameters: [item],
      body: [content(MediaType.json, object)],
      answers: [answer(200, "The item, or where it was moved the person.", MediaType.json)]),
    ServiceOperation(
      id: "removeItem", method: "delete", path: "/sensors/items/{itemId}", tag: tag,
      summary: "Deletes an item.", parameters: [item], answers: [personAnswer]),
    ServiceOperation(
      id: "actOnItem", method: "post", path: "/sensors/items/{itemId}/{itemPart}", tag: tag,
      summary: "Presses the button of an item, gets its sensor ready, or empties it.",
      parameters: [item, part("Which of the three.", ["tap", "select", "clear"])],
      answers: [itemAnswer]),
  ]
}
