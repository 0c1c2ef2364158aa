import FieldpackCore
import FieldpackHTTP

/// A part of the form that a capture is uploaded in.
struct UploadPart: Sendable {
  var name: String
  var fileName: String?
  let content: SpooledBytes
}

/// Reads the form that a capture is uploaded in while it comes.
struct UploadForm: Sendable {
  private static let mostParts = 64

  private(set) var parts: [UploadPart] = []
  private var reader: MultipartReader
  private let folder: String?

  /// - Parameter folder: where long parts lie meanwhile.
  /// - Throws: `.invalidData`.
  init(contentType: String, folder: String? = nil) throws(FieldpackError) {
    reader = try MultipartReader(contentType: contentType, mostParts: Self.mostParts)
    self.folder = folder
  }

  /// Takes the next bytes of the body.
  ///
  /// - Throws: `.invalidData`, `.full` where there is no room for them, `.io`.
  mutating func take(_ bytes: ArraySlice<UInt8>) throws(FieldpackError) {
    var bytes = bytes
    while let event = try reader.next(&bytes) {
      switch event {
      case .part(let head):
        guard let name = head.name else {
          throw FieldpackError(.invalidData, "a part of the body has no name")
        }
        parts.append(
          UploadPart(name: name, fileName: head.fileName, content: SpooledBytes(folder: folder)))
      case .content(let content): try append(content, to: parts[parts.count - 1])
      case .end: break
      }
    }
  }

  private func append(
    _ bytes: ArraySlice<UInt8>, to part: UploadPart
  ) throws(FieldpackError) {
    let limit = Self.limit(of: part.name)
    guard part.content.count + bytes.count <= limit else {
      throw FieldpackError(
        .invalidData, "the part '\(part.name.prefix(80))' is longer than \(limit) bytes")
    }
    try bytes.span.bytes.withUnsafeBytes { (bytes) throws(FieldpackError) in
      try part.content.append(bytes)
    }
  }

  private static func limit(of name: String) -> Int {
    switch name {
    case "media_file", "thumbnail": CaptureFolder.Limits.media
    case "geo_data": CaptureFolder.Limits.geodata
    case "capture_info": CaptureFolder.Limits.info
    // Nothing is made of the other fields.
    default: 64 << 10
    }
  }

  /// - Throws: `.invalidData` where the body ends before its end.
  func finish() throws(FieldpackError) { try reader.finish() }
}
