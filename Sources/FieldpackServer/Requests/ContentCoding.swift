import FieldpackArchive
import FieldpackCore
import FieldpackHTTP

/// Packs answers with gzip for the clients that accept it.
enum ContentCoding {
  /// The fewest bytes that are packed: a shorter body fits into one network packet as it is.
  static let shortest = 1_000
  static let vary = "Accept, Accept-Encoding"

  /// Whether a client takes gzip (RFC 9110, 12.5.3).
  static func takesGzip(_ request: ServerRequest) -> Bool {
    guard let accepted = request.fields["Accept-Encoding"] else { return false }
    var takesAny = false
    for part in accepted.lowercased().split(separator: ",").prefix(32) {
      let parts = part.split(separator: ";").map {
        $0.filter { !$0.isWhitespace }
      }
      let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap {
        Double($0.dropFirst(2))
      }
      let isTaken = quality ?? 1 > 0
      switch parts.first {
      case "gzip", "x-gzip": return isTaken
      case "*": takesAny = isTaken
      default: break
      }
    }
    return takesAny
  }

  /// The strong entity tag of the packed bytes, made from the tag of the bytes.
  static func packedTag(_ tag: String) -> String { tag.dropLast() + "-gzip\"" }
}

extension ServerResponse {
  /// The answer, packed where the client accepts that. The answer's entity tag is a weak one, which holds
  /// for the packed bytes, too.
  func packed(for request: ServerRequest) -> ServerResponse {
    var response = self
    response.fields["Vary"] = ContentCoding.vary
    guard status == 200, ContentCoding.takesGzip(request) else { return response }
    switch body {
    case .bytes(let bytes):
      guard bytes.count >= ContentCoding.shortest, let packed = try? GzipPacker.packed(bytes)
      else { return response }
      response.body = .bytes(packed)
    case .stream(let stream):
      guard stream.isPacked else { return response }
    case .socket: return response
    }
    response.fields["Content-Encoding"] = "gzip"
    return response
  }
}
