import FieldpackCore

/// A form of several parts, `multipart/form-data` (RFC 7578).
public struct MultipartForm: Hashable, Sendable {
  public enum Content: Hashable, Sendable {
    case bytes([UInt8])
    /// A regular file, by its path.
    case file(String)
  }

  public struct Part: Hashable, Sendable {
    public var name: String
    public var fileName: String?
    public var contentType: String?
    public var content: Content

    public init(
      _ name: String, fileName: String? = nil, contentType: String? = nil, _ content: Content
    ) {
      self.name = name
      self.fileName = fileName
      self.contentType = contentType
      self.content = content
    }
  }

  public var parts: [Part]
  /// The text between parts, which none of them may contain.
  public var boundary: String

  /// - Parameter boundary: by default one that cannot be guessed, so that no content has it.
  public init(_ parts: [Part], boundary: String = MultipartForm.randomBoundary()) {
    self.parts = parts
    self.boundary = boundary
  }

  /// 128 random bits after the word `fieldpack-`.
  public static func randomBoundary() -> String {
    var generator = SystemRandomNumberGenerator()
    return "fieldpack-" + String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
  }

  /// The value of the header field `Content-Type` for the form.
  public var contentType: String { "multipart/form-data; boundary=\(boundary)" }
}

extension MultipartForm {
  /// What comes before the content of a part, whose end is `\r\n`.
  ///
  /// - Throws: `.invalidArgument` for a boundary that is none, and for text of more than one line.
  func head(of part: Part) throws(FieldpackError) -> [UInt8] {
    var head = "--\(boundary)\r\n"
    head += "Content-Disposition: form-data; name=\"\(try Self.quoted(part.name))\""
    if let name = part.fileName { head += "; filename=\"\(try Self.quoted(name))\"" }
    head += "\r\n"
    if let type = part.contentType {
      guard HTTPFields.Field("Content-Type", type).isSound else {
        throw FieldpackError(.invalidArgument, "the type of part \(part.name) has a line break")
      }
      head += "Content-Type: \(type)\r\n"
    }
    return Array((head + "\r\n").utf8)
  }

  /// What comes after all parts.
  ///
  /// - Throws: `.invalidArgument` for a boundary that is none.
  func end() throws(FieldpackError) -> [UInt8] {
    guard boundary.utf8.count <= 70, HTTPSyntax.isToken(boundary) else {
      throw FieldpackError(.invalidArgument, "a boundary has 1 to 70 letters and digits")
    }
    return Array("--\(boundary)--\r\n".utf8)
  }

  /// Quotes are spelled as browsers spell them; a name of more than one line is refused.
  private static func quoted(_ name: String) throws(FieldpackError) -> String {
    guard HTTPFields.Field("name", name).isSound else {
      throw FieldpackError(.invalidArgument, "the name of a part has a line break or control sign")
    }
    // A quote with an accent is one Character and no quote; the bytes of a quote end the name.
    let bytes = name.utf8.flatMap { $0 == UInt8(ascii: "\"") ? Array("%22".utf8) : [$0] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
