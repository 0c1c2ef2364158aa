import FieldpackCore

/// The address of features that were asked for, from which the links of the answer are made.
struct ResourceAddress: Sendable {
  let operation: ServerOperation
  let base: LinkBase
  let path: [String]
  let query: [ServerRequest.Parameter]
  /// The name that `f` has for the format of the answer.
  let format: String

  /// The links of the answer, as JSON.
  ///
  /// - Parameter next: the parameter that the next page begins with; `nil` where there is none.
  func links(next: ServerRequest.Parameter? = nil) -> [UInt8] {
    // The JSON is written by hand, because every answer has links. Only the base of an address can hold
    // characters that JSON escapes.
    let collection = base.escaped + LinkBase.text(of: path.prefix(2))
    let rest = path.count > 2 ? LinkBase.text(of: path.dropFirst(2)) : ""
    let given = Self.joined(query.leavingOut(.format).text, "f=")
    var text: [UInt8] = []
    text.reserveCapacity(1024)
    for (name, type) in operation.formats {
      text.add(
        name == format ? "self" : "alternate", MediaType.name(type), collection, rest, "?", given,
        name)
    }
    if let next {
      let others = Self.joined(query.leavingOut(.format, .after, .offset).text, "f=")
      text.add(
        "next", MediaType.geoJSON, collection, rest, "?", others, format, "&", [next].text)
    }
    text.add("collection", MediaType.json, collection)
    text.append(UInt8(ascii: "]"))
    return text
  }

  private static func joined(_ parameters: String, _ more: String) -> String {
    parameters.isEmpty ? more : parameters + "&" + more
  }
}

extension [UInt8] {
  /// Appends a link to an array of links, of which the address comes in parts.
  fileprivate mutating func add(_ relation: String, _ type: String, _ address: String...) {
    append(isEmpty ? UInt8(ascii: "[") : UInt8(ascii: ","))
    self += "{\"rel\":\"".utf8
    self += relation.utf8
    self += "\",\"type\":\"".utf8
    self += type.utf8
    self += "\",\"href\":\"".utf8
    for part in address { self += part.utf8 }
    self += "\"}".utf8
  }
}
