/// What the bytes of a picture are, as their beginning says; nobody else is believed.
package struct PictureType: Hashable, Sendable {
  /// Such as `image/jpeg`.
  package var contentType: String
  /// In pixels, where they are easily told.
  package var width: Int?
  package var height: Int?

  /// `nil` for what is none of JPEG, PNG, GIF and WebP.
  package init?(_ bytes: [UInt8]) {
    func starts(_ signature: [UInt8], at offset: Int = 0) -> Bool {
      bytes.count >= offset + signature.count
        && bytes[offset..<offset + signature.count].elementsEqual(signature)
    }
    if starts([0xFF, 0xD8, 0xFF]) {
      contentType = "image/jpeg"
      (width, height) = Self.jpegSize(bytes)
    } else if starts([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      contentType = "image/png"
      if starts(Array("IHDR".utf8), at: 12), bytes.count >= 24 {
        (width, height) = (Self.big(bytes, 16, 4), Self.big(bytes, 20, 4))
      }
    } else if starts(Array("GIF87a".utf8)) || starts(Array("GIF89a".utf8)) {
      contentType = "image/gif"
      if bytes.count >= 10 {
        (width, height) = (Int(bytes[6]) | Int(bytes[7]) << 8, Int(bytes[8]) | Int(bytes[9]) << 8)
      }
    } else if starts(Array("RIFF".utf8)), starts(Array("WEBP".utf8), at: 8) {
      contentType = "image/webp"
    } else {
      return nil
    }
  }

  /// What the names of its files end with.
  package var fileExtension: String {
    contentType == "image/jpeg" ? "jpg" : String(contentType.dropFirst("image/".count))
  }

  /// From the first frame header, segment by segment.
  private static func jpegSize(_ bytes: [UInt8]) -> (Int?, Int?) {
    var offset = 2
    while offset + 9 < bytes.count, bytes[offset] == 0xFF {
      let marker = bytes[offset + 1]
      if marker == 0xFF {
        offset += 1
        continue
      }
      // SOF0 to SOF15 without DHT, JPG and DAC, which share their range.
      if (0xC0...0xCF).contains(marker), ![0xC4, 0xC8, 0xCC].contains(marker) {
        return (big(bytes, offset + 7, 2), big(bytes, offset + 5, 2))
      }
      if marker == 0xD9 || marker == 0xDA { break }
      let hasLength = !(0xD0...0xD7).contains(marker) && marker != 0x01
      offset += hasLength ? 2 + max(2, big(bytes, offset + 2, 2)) : 2
    }
    return (nil, nil)
  }

  private static func big(_ bytes: [UInt8], _ offset: Int, _ count: Int) -> Int {
    bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
  }
}
