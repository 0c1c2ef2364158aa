import FieldpackField

/// What the bytes of a file are, as their beginning says; its name is not believed.
struct MediaType: Hashable, Sendable {
  static let unknown = "application/octet-stream"

  var contentType: String
  /// In pixels as they are stored, where a picture's header tells.
  var width: Int?
  var height: Int?

  init(contentType: String, width: Int? = nil, height: Int? = nil) {
    self.contentType = contentType
    self.width = width
    self.height = height
  }

  init(_ bytes: [UInt8]) {
    if let picture = PictureType(bytes) {
      (contentType, width, height) = (picture.contentType, picture.width, picture.height)
    } else {
      contentType = Self.film(bytes) ?? Self.unknown
    }
  }

  /// QuickTime and MPEG-4 files are boxes of four bytes of length and four letters.
  private static func film(_ bytes: [UInt8]) -> String? {
    guard bytes.count >= 12 else { return nil }
    switch String(decoding: bytes[4..<8], as: UTF8.self) {
    case "ftyp": return bytes[8..<12].elementsEqual("qt  ".utf8) ? "video/quicktime" : "video/mp4"
    case "moov", "mdat", "wide", "pnot": return "video/quicktime"
    default: return nil
    }
  }

  var isVideo: Bool { contentType.hasPrefix("video/") }
}
