package import FieldpackCore

/// The address by which clients reach the server, with which every link in a document begins.
package struct LinkBase: Hashable, Sendable {
  /// Such as `https://example.org/fields`, without a slash at the end.
  package let text: String

  package init(_ text: String) {
    var text = text
    while text.utf8.last == UInt8(ascii: "/") { text.removeLast() }
    self.text = text
  }

  /// The path of the address, such as `/fields` of `https://example.org/fields`; empty where it has none.
  var pathPrefix: String {
    guard let scheme = text.firstRange(of: "://") else { return "" }
    let rest = text[scheme.upperBound...]
    return rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? ""
  }

  /// The path of an address, whose parts are given without escapes.
  static func text(of path: some Collection<String>) -> String {
    if path.isEmpty { return "/" }
    var text = ""
    for part in path {
      text += "/"
      text += PercentText.encode(part)
    }
    return text
  }

  /// The address as a text in JSON has it, without quotation marks.
  var escaped: String {
    guard text.utf8.contains(where: { $0 < 0x20 || $0 == 0x22 || $0 == 0x5C || $0 > 0x7E }) else {
      return text
    }
    return String(JSONValue.text(text).text.dropFirst().dropLast())
  }

  /// The address of a path whose parts are given without escapes; no parts are the landing page.
  package func href(
    _ path: [String] = [], query: KeyValuePairs<String, String> = [:]
  ) -> String {
    var href = text + Self.text(of: path)
    for (index, (name, value)) in query.enumerated() {
      href += (index == 0 ? "?" : "&") + PercentText.encode(name) + "="
      href += PercentText.encode(value)
    }
    return href
  }
}

/// A link of a document (RFC 8288, as OGC API writes it in JSON).
package struct ServerLink: Hashable, Sendable {
  package var relation: String
  package var href: String
  package var type: String?
  package var title: String?
  /// Whether the address has variables in braces.
  package var isTemplated = false

  package init(_ relation: String, _ href: String, type: String? = nil, title: String? = nil) {
    self.relation = relation
    self.href = href
    self.type = type
    self.title = title
  }

  package var json: JSONValue {
    .members([
      "rel": .text(relation), "type": type.map { .text($0) }, "title": title.map { .text($0) },
      "href": .text(href), "templated": isTemplated ? true : nil,
    ])
  }
}

/// The relations of links that OGC has registered.
package enum OGCRelation {
  private static let start = "http://www.opengis.net/def/rel/ogc/1.0/"

  package static let queryables = start + "queryables"
  package static let schema = start + "schema"
  package static let sortables = start + "sortables"
  package static let functions = start + "functions"
  package static let vectorTilesets = start + "tilesets-vector"
  package static let mapTilesets = start + "tilesets-map"
  package static let tilingScheme = start + "tiling-scheme"
  package static let tilingSchemes = start + "tiling-schemes"
  package static let geodata = start + "geodata"
}

/// The media types of what the server gives.
package enum MediaType {
  package static let json = "application/json"
  package static let html = "text/html; charset=utf-8"
  package static let geoJSON = "application/geo+json"
  package static let geoPackage = "application/geopackage+sqlite3"
  package static let schema = "application/schema+json"
  package static let problem = "application/problem+json"
  package static let vectorTile = "application/vnd.mapbox-vector-tile"
  package static let mergePatch = "application/merge-patch+json"
  /// Without a blank, because the official tests compare it as text.
  package static let api = "application/vnd.oai.openapi+json;version=3.0"

  /// The type as links and the API document name it.
  package static func name(_ type: String) -> String { type == html ? "text/html" : type }
}

extension JSONValue? {
  /// An array; `nil` without texts, so that a member of no use is left out.
  static func unlessEmpty(_ texts: [String]) -> JSONValue? {
    texts.isEmpty ? JSONValue?.none : JSONValue(texts)
  }
}
