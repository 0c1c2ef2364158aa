import FieldpackCore
import FieldpackHTTP

/// What the head of a `PUT` says of the piece of an upload that comes with it.
struct UploadPiece: Hashable {
  var contentType: String
  /// Where the piece lies in the upload.
  var range: Range<Int>
  /// The length of the whole upload.
  var total: Int
  /// The SHA-256 digest of the piece, as hexadecimal digits.
  var pieceDigest: String?
  /// The SHA-256 digest of the whole upload.
  var wholeDigest: String?

  /// Whether the whole upload can have that digest; an unknown digest fits every upload.
  func fits(_ digest: String?) -> Bool {
    wholeDigest == nil || digest == nil || wholeDigest == digest
  }

  /// Reads `Content-Range` (`bytes 0-99/1000`), `Content-Digest` (RFC 9530, of the piece), and
  /// `Repr-Digest` or `Digest` (RFC 3230, of the whole).
  ///
  /// - Throws: `.invalidData`.
  init(_ head: ServerRequest) throws(FieldpackError) {
    let length = head.fields["Content-Length"].flatMap { Int($0) }
    contentType = head.fields["Content-Type"] ?? ""
    if let field = head.fields["Content-Range"] {
      guard let (range, total) = Self.range(field) else {
        throw FieldpackError(
          .invalidData, "Content-Range names no first byte, last byte and length of an upload")
      }
      guard length == nil || length == range.count else {
        throw FieldpackError(.invalidData, "Content-Range and Content-Length do not agree")
      }
      (self.range, self.total) = (range, total)
    } else if let length, length > 0 {
      (range, total) = (0..<length, length)
    } else {
      throw FieldpackError(.invalidData, "the request says nothing of its length")
    }
    pieceDigest = try Self.digest("Content-Digest", head.fields)
    let stated = try Self.digest("Repr-Digest", head.fields)
    wholeDigest = if let stated { stated } else { try Self.digest("Digest", head.fields) }
  }

  private static func range(_ field: String) -> (Range<Int>, Int)? {
    guard field.lowercased().hasPrefix("bytes ") else { return nil }
    let sides = field.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
    guard sides.count == 2, let total = number(sides[1]) else { return nil }
    let ends = sides[0].split(separator: "-", omittingEmptySubsequences: false)
    guard ends.count == 2, let first = number(ends[0]), let last = number(ends[1]),
      first <= last, last < total
    else { return nil }
    return (first..<last + 1, total)
  }

  private static func number(_ text: Substring) -> Int? {
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    return Int(text)
  }

  /// The digest of a field such as `sha-256=:…:` or `SHA-256=…`; other algorithms are passed over.
  private static func digest(
    _ name: String, _ fields: HTTPFields
  ) throws(FieldpackError) -> String? {
    for part in fields.values(of: name).flatMap({ $0.split(separator: ",") }) {
      let part = part.drop(while: \.isWhitespace)
      guard part.lowercased().hasPrefix("sha-256=") else { continue }
      var text = part.dropFirst(8).filter { !$0.isWhitespace }
      if text.hasPrefix(":"), text.hasSuffix(":"), text.count > 1 {
        text = String(text.dropFirst().dropLast())
      }
      guard let bytes = Base64.decode(text.utf8), bytes.count == 32 else {
        throw FieldpackError(.invalidData, "\(name) is no SHA-256 digest in base 64")
      }
      return String(hex: bytes)
    }
    return nil
  }
}
