import FieldpackCore
import FieldpackGeometry

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
    var collection = Array(base.escaped.utf8)
    collection.add(path.prefix(2))
    var page = collection
    page.add(path.dropFirst(2))
    page.append(UInt8(ascii: "?"))
    var text: [UInt8] = []
    text.reserveCapacity(1024)
    let given = page + Self.beforeFormat(query.leavingOut(.format)).utf8
    for (name, type) in operation.formats {
      text.add(name == format ? "self" : "alternate", MediaType.name(type), given, name)
    }
    if let next {
      page += Self.beforeFormat(query.leavingOut(.format, .after, .offset)).utf8
      text.add("next", MediaType.geoJSON, page, format + "&" + [next].text)
    }
    text.add("collection", MediaType.json, collection, "")
    text.append(UInt8(ascii: "]"))
    return text
  }

  private static func beforeFormat(_ parameters: [ServerRequest.Parameter]) -> String {
    parameters.isEmpty ? "f=" : parameters.text + "&f="
  }
}

extension [UInt8] {
  /// Appends parts of a path, which are given without escapes.
  fileprivate mutating func add(_ path: ArraySlice<String>) {
    for part in path {
      append(UInt8(ascii: "/"))
      self += PercentText.encode(part).utf8
    }
  }

  /// Appends a link to an array of links.
  fileprivate mutating func add(
    _ relation: StaticString, _ type: String, _ address: [UInt8], _ rest: String
  ) {
    let length = relation.utf8CodeUnitCount + type.utf8.count + address.count + rest.utf8.count
    let isFirst = isEmpty
    appendRun(upTo: length + 40) { text in
      text.append(isFirst ? "[{\"rel\":\"" : ",{\"rel\":\"")
      text.append(relation)
      text.append("\",\"type\":\"")
      text.append(copyOf: type)
      text.append("\",\"href\":\"")
      address.withUnsafeBufferPointer { text.append($0) }
      text.append(copyOf: rest)
      text.append("\"}")
    }
  }
}
