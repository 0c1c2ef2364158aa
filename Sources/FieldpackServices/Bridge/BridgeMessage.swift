import FieldpackCore

/// One message of a page: `{"type": 110, "payload": {…}, "responseId": "110_2_1489594188000"}`.
struct BridgeMessage: Sendable {
  /// The type as the page wrote it, which answers repeat.
  var type: JSONValue
  var action: BridgeAction
  var payload: JSONValue
  var responseID: String?

  /// The name of the event that answers come by.
  var event: String { responseID ?? Self.text(of: type) ?? "" }

  /// Whether the type is a number, and not a name.
  var isNumbered: Bool { Self.text(of: type).flatMap { Int($0) } != nil }

  private static func text(of type: JSONValue) -> String? {
    switch type {
    case .integer(let number): String(number)
    case .text(let text): text
    default: nil
    }
  }

  /// Why a text is no message, with the event that says so.
  struct Mistake: Error {
    var event: String
    var message: String
  }

  init(_ text: String) throws(Mistake) {
    let value: JSONValue
    do throws(JSONMistake) { value = try JSONValueReader.read(text) } catch {
      throw Mistake(
        event: "error", message: "the message is no JSON: byte \(error.offset): \(error.message)")
    }
    try self.init(value)
  }

  init(_ value: JSONValue) throws(Mistake) {
    guard case .object = value else {
      throw Mistake(event: "error", message: "a message is an object, and not \(value.kind)")
    }
    let responseID = value["responseId"]?.string
    // The first versions wrote `action`.
    guard let type = value["type"] ?? value["action"], let name = Self.text(of: type) else {
      throw Mistake(
        event: responseID.map { $0 + "_error" } ?? "error",
        message: "the message has no 'type' that is a number or a text")
    }
    guard let action = BridgeAction(type: name) else {
      throw Mistake(
        event: (responseID ?? name) + "_error", message: "there is no action of type '\(name)'")
    }
    (self.type, self.action, self.responseID) = (type, action, responseID)
    payload = value["payload"] ?? .null
  }
}

/// What a page is told: an event, by whose name the page listens, and its data.
public struct BridgeReply: Hashable, Sendable {
  public let event: String
  /// The data of the event, as JSON.
  public let data: [UInt8]

  init(event: String, data: JSONValue) {
    self.event = event
    self.data = Array(data.text.utf8)
  }

  /// The answer to a message with a payload that is JSON already.
  init(to message: BridgeMessage, payload: some Sequence<UInt8>) {
    event = message.event
    var data = Array("{\"type\":".utf8)
    message.type.append(to: &data)
    data += ",\"payload\":".utf8
    data += payload
    data.append(UInt8(ascii: "}"))
    self.data = data
  }

  init(to message: BridgeMessage, payload: JSONValue) {
    self.init(to: message, payload: Array(payload.text.utf8))
  }

  /// The end of the answers to a message.
  init(endOf message: BridgeMessage) {
    self.init(event: message.event + "_completed", data: ["type": message.type])
  }

  init(error event: String, code: Int, message: String) {
    self.init(
      event: event,
      data: [
        "domain": "SCJavascriptBridgeErrorDomain", "code": JSONValue(code),
        "message": .text(message),
      ])
  }

  /// The reply in one line: `{"event":"110_2_1489594188000","data":{"type":110,"payload":{…}}}`.
  public var text: String {
    var bytes = Array("{\"event\":".utf8)
    JSONValue.text(event).append(to: &bytes)
    bytes += ",\"data\":".utf8
    bytes += data
    bytes.append(UInt8(ascii: "}"))
    return String(decoding: bytes, as: UTF8.self)
  }
}
