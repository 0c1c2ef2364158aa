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
    var links: [ServerLink] = []
    for (name, type) in operation.formats {
      let parameters = query.leavingOut(.format) + [Self.format(name)]
      links.append(
        ServerLink(
          name == format ? "self" : "alternate", href(parameters), type: MediaType.name(type)))
    }
    if let next {
      let parameters = query.leavingOut(.format, .after, .offset) + [Self.format(format), next]
      links.append(ServerLink("next", href(parameters), type: MediaType.geoJSON))
    }
    links.append(
      ServerLink("collection", base.href(Array(path.prefix(2))), type: MediaType.json))
    return JSONValue.array(links.map(\.json)).text
  }

  private func href(_ parameters: [ServerRequest.Parameter]) -> String {
    base.href(path) + "?" + parameters.text
  }

  private static func format(_ name: String) -> ServerRequest.Parameter {
    .init(QueryParameter.format.rawValue, name)
  }
}
