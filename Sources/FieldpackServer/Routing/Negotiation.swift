import FieldpackCore
import FieldpackHTTP

/// The choice of what a client gets, by the parameter `f`, else by its field `Accept`.
enum Negotiation {
  /// The name of the format.
  ///
  /// - Throws: `.invalidArgument` for a value of `f` that the operation does not have.
  static func format(
    of request: ServerRequest, for operation: ServerOperation
  ) throws(FieldpackError) -> String {
    let formats = operation.formats
    if let name = request.last(.format) {
      guard formats.contains(where: { $0.name == name }) else {
        throw FieldpackError(
          .invalidArgument,
          "f is none of \(formats.map(\.name).joined(separator: ", ")): '\(name)'")
      }
      return name
    }
    guard let accept = request.fields["Accept"], accept != "*/*" else { return formats[0].name }
    var best = (name: formats[0].name, quality: 0.0)
    for (type, quality) in types(accept) where quality > best.quality {
      if let format = formats.first(where: { matches($0.type, type) }) {
        best = (format.name, quality)
      }
    }
    // Whoever takes none of the types gets the default, as RFC 9110, 12.5.1 allows.
    return best.name
  }

  /// The media types of a field `Accept` with their qualities, in the order of the field.
  private static func types(_ accept: String) -> [(type: Substring, quality: Double)] {
    accept.split(separator: ",").prefix(32).map { part in
      let parts = part.split(separator: ";").map { $0.trimmingPrefix(while: \.isWhitespace) }
      let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap {
        Double($0.dropFirst(2))
      }
      return (type: parts.first.map { $0.prefix { !$0.isWhitespace } } ?? "", quality: quality ?? 1)
    }
  }

  private static func matches(_ type: String, _ wanted: Substring) -> Bool {
    let own = type.prefix { $0 != ";" }
    if wanted == "*/*" || own == wanted { return true }
    if wanted == "application/json", own == "application/geo+json" { return true }
    return wanted.hasSuffix("/*") && own.hasPrefix(wanted.dropLast())
  }

  /// Whether a browser asks: it names pages first.
  static func prefersPage(_ request: ServerRequest) -> Bool {
    if let name = request.last(.format) { return name == "html" }
    return types(request.fields["Accept"] ?? "").first.map { $0.type == "text/html" } ?? false
  }

  /// Whether a list of entity tags has one, without the difference of weak tags (RFC 9110, 8.8.3.2).
  static func has(_ tag: String, in list: String?) -> Bool {
    guard let list else { return false }
    func plain(_ tag: Substring) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag }
    return list.split(separator: ",").contains { part in
      let part = part.drop(while: \.isWhitespace).prefix { !$0.isWhitespace }
      return part == "*" || plain(part) == plain(tag[...])
    }
  }
}
