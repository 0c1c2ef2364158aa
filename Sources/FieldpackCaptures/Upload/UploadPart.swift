import FieldpackCore
import FieldpackHTTP

/// A part of the form that a capture is uploaded in.
struct UploadPart: Hashable, Sendable {
  var name: String
  var fileName: String?
  var content: [UInt8] = []

  private static let most = 64

  /// - Throws: `.invalidData`.
  static func all(
    in body: [UInt8], _ contentType: String
  ) throws(FieldpackError) -> [UploadPart] {
    var reader = try MultipartReader(contentType: contentType, mostParts: most)
    var parts: [UploadPart] = []
    var bytes = body[...]
    while let event = try reader.next(&bytes) {
      switch event {
      case .part(let head):
        guard let name = head.name else {
          throw FieldpackError(.invalidData, "a part of the body has no name")
        }
        parts.append(UploadPart(name: name, fileName: head.fileName))
      case .content(let content): parts[parts.count - 1].content += content
      case .end: break
      }
    }
    try reader.finish()
    return parts
  }
}
