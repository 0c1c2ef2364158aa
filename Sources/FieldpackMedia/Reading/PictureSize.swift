import FieldpackCore

/// A width and a height in pixels.
package struct PictureSize: Hashable, Sendable {
  package var width: Int
  package var height: Int

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  package var swapped: PictureSize { PictureSize(width: height, height: width) }

  /// The largest of the same shape whose sides are no longer than `side`; never a larger one.
  package func fitting(_ side: Int) -> PictureSize {
    let long = max(width, height)
    guard long > side else { return self }
    func scaled(_ length: Int) -> Int { max(1, (2 * length * side + long) / (2 * long)) }
    return PictureSize(width: scaled(width), height: scaled(height))
  }
}

extension PictureSize {
  /// As a picture's header tells it, before it is turned; `nil` where that is not easily told.
  ///
  /// - Parameter picture: JPEG, PNG, GIF, WebP or BMP; its header is enough, and nothing is decoded.
  package init?(of picture: [UInt8]) {
    switch MediaType(picture) {
    case .jpeg:
      guard let size = Self.jpeg(picture) else { return nil }
      self = size
    case .png where picture.count >= 24 && picture[12..<16].elementsEqual("IHDR".utf8):
      self.init(width: picture.big(16, 4), height: picture.big(20, 4))
    case .gif where picture.count >= 10:
      self.init(width: picture.little(6, 2), height: picture.little(8, 2))
    case .webp where picture.count >= 30:
      guard let size = Self.webP(picture) else { return nil }
      self = size
    case .bmp where picture.count >= 26:
      let isOld = picture.little(14, 4) == 12
      func side(_ offset: Int) -> Int {
        abs(Int(Int32(truncatingIfNeeded: picture.little(offset, 4))))
      }
      self =
        isOld
        ? .init(width: picture.little(18, 2), height: picture.little(20, 2))
        : .init(width: side(18), height: side(22))
    default: return nil
    }
  }

  /// From the first part of a WebP: a lossy frame, a lossless one, or what tells of both.
  private static func webP(_ bytes: [UInt8]) -> PictureSize? {
    switch String(decoding: bytes[12..<16], as: UTF8.self) {
    case "VP8 ":
      return PictureSize(
        width: bytes.little(26, 2) & 0x3FFF, height: bytes.little(28, 2) & 0x3FFF)
    case "VP8L":
      let bits = bytes.little(21, 4)
      return PictureSize(width: bits & 0x3FFF + 1, height: bits >> 14 & 0x3FFF + 1)
    case "VP8X":
      return PictureSize(width: bytes.little(24, 3) + 1, height: bytes.little(27, 3) + 1)
    default: return nil
    }
  }

  /// From the first frame header, segment by segment.
  private static func jpeg(_ bytes: [UInt8]) -> PictureSize? {
    var offset = 2
    while offset + 9 < bytes.count, bytes[offset] == 0xFF {
      let marker = bytes[offset + 1]
      if marker == 0xFF {
        offset += 1
        continue
      }
      if JPEGStructure.isFrame(marker) {
        return PictureSize(width: bytes.big(offset + 7, 2), height: bytes.big(offset + 5, 2))
      }
      if marker == 0xD9 || marker == 0xDA { break }
      let hasLength = !(0xD0...0xD7).contains(marker) && marker != 0x01
      offset += hasLength ? 2 + max(2, bytes.big(offset + 2, 2)) : 2
    }
    return nil
  }
}

extension PictureSize {
  /// What is decoded at most, in pixels.
  package static let limit = 1 << 27

  /// - Throws: `.invalidData` for an empty one, `.unsupported` for one of too many pixels.
  func check(_ name: String) throws(FieldpackError) {
    let position = FilePosition(file: name)
    guard width > 0, height > 0 else {
      throw FieldpackError(
        .invalidData, "\(name) says it is \(width) x \(height) pixels large", position: position)
    }
    guard width * height <= Self.limit else {
      throw FieldpackError(
        .unsupported,
        "\(name) says it is \(width) x \(height) pixels large; \(Self.limit) pixels are decoded at "
          + "most", position: position)
    }
  }
}
