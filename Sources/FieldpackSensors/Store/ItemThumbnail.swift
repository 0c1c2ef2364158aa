import FieldpackCore
import FieldpackMedia

/// Makes the small picture of an item.
struct ItemThumbnail: Sendable {
  /// Both sides of the picture, in pixels: an item's cell of 114, twice as fine.
  static let side = 228
  static let cornerRadius = 36
  /// A slap at 1000 pixels an inch has 10 million. More than this are not decoded.
  static let pixelLimit = 1 << 24
  /// In bytes; larger files get no thumbnail.
  private static let fileLimit = 128 << 20
  /// So many bytes tell the type of a picture, and nearly always how large it is.
  private static let headLength = 1 << 20

  var ffmpeg: FFmpeg

  /// The thumbnail of a picture.
  ///
  /// - Returns: `nil` for what is no picture that can be decoded: what was captured is kept all the same.
  /// - Throws: `.interrupted`.
  func png(of content: SpooledBytes) async throws(FieldpackError) -> [UInt8]? {
    guard content.count <= Self.fileLimit else { return nil }
    do throws(FieldpackError) {
      let head = try content.prefix(Self.headLength)
      guard Self.isDecodable(head) else { return nil }
      let bytes = content.count > head.count ? try content.prefix(content.count) : head
      guard let bitmap = try await bitmap(bytes) else { return nil }
      return try PNGEncoder.bytes(
        of: bitmap.fitted(Self.side, cornerRadius: Self.cornerRadius), isQuick: true)
    } catch {
      guard error.code != .interrupted else { throw error }
      return nil
    }
  }

  private static func isDecodable(_ head: [UInt8]) -> Bool {
    guard let type = MediaType(head), [.bmp, .png, .jpeg, .webp].contains(type) else {
      return false
    }
    guard let size = PictureSize(of: head), size.height > 0 else { return true }
    return size.width <= pixelLimit / size.height
  }

  private func bitmap(_ bytes: [UInt8]) async throws(FieldpackError) -> Bitmap? {
    let name = "the capture"
    return switch MediaType(bytes) {
    case .bmp: try BMPDecoder.bitmap(of: bytes, name: name, limit: Self.pixelLimit)
    case .png: try PNGDecoder.bitmap(of: bytes, name: name, limit: Self.pixelLimit)
    case .jpeg, .webp:
      try await ffmpeg.bitmap(
        of: bytes, name: name, limit: Self.pixelLimit, else: .several([]))
    default: nil
    }
  }
}
