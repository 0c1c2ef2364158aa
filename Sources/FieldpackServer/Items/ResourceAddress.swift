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
  func links(next: ServerRequest.Parameter? = nil) -> String {
    // The JSON is written by hand, because every answer has links. Only the base of an address can hold
    // characters that JSON escapes.
    let start = base.escaped
    let resource = start + LinkBase.text(of: path) + "?"
    var text = "["
    text.reserveCapacity(1024)
    func add(_ relation: String, _ type: String, _ href: String, _ more: String = "") {
      text += text.utf8.count > 1 ? ",{\"rel\":\"" : "{\"rel\":\""
      text += relation
      text += "\",\"type\":\""
      text += type
      text += "\",\"href\":\""
      text += href
      text += more
      text += "\"}"
    }
    let given = resource + Self.joined(query.leavingOut(.format).text, "f=")
    for (name, type) in operation.formats {
      add(name == format ? "self" : "alternate", MediaType.name(type), given, name)
    }
    if let next {
      let rest = query.leavingOut(.format, .after, .offset).text
      add(
        "next", MediaType.geoJSON,
        resource + Self.joined(Self.joined(rest, "f=\(format)"), [next].text))
    }
    add("collection", MediaType.json, start + LinkBase.text(of: path.prefix(2)))
    return text + "]"
  }

  private static func joined(_ parameters: String, _ more: String) -> String {
    parameters.isEmpty ? more : parameters + "&" + more
  }
}
