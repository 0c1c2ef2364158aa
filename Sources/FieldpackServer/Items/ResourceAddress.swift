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
    let start = String(JSONValue.text(base.text).text.dropFirst().dropLast())
    let resource = start + base.href(path).dropFirst(base.text.count) + "?"
    var text = "["
    func add(_ relation: String, _ type: String, _ href: String) {
      if text.utf8.count > 1 { text += "," }
      text += "{\"rel\":\"\(relation)\",\"type\":\"\(type)\",\"href\":\"\(href)\"}"
    }
    let given = query.leavingOut(.format).text
    for (name, type) in operation.formats {
      add(
        name == format ? "self" : "alternate", MediaType.name(type),
        resource + Self.joined(given, "f=\(name)"))
    }
    if let next {
      let rest = query.leavingOut(.format, .after, .offset).text
      add(
        "next", MediaType.geoJSON,
        resource + Self.joined(Self.joined(rest, "f=\(format)"), [next].text))
    }
    let collection = base.href(Array(path.prefix(2))).dropFirst(base.text.count)
    add("collection", MediaType.json, start + collection)
    return text + "]"
  }

  private static func joined(_ parameters: String, _ more: String) -> String {
    parameters.isEmpty ? more : parameters + "&" + more
  }
}
