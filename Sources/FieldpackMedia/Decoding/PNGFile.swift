/// A PNG that another program wrote.
enum PNGFile {
  private static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
  private static let kept: Set = ["IHDR", "PLTE", "IDAT", "IEND"]

  /// The picture without what else is told of it, so that nobody turns it again.
  ///
  /// - Returns: `nil` where it is not whole, or not as large as it should be.
  static func bare(_ bytes: [UInt8], _ size: PictureSize) -> [UInt8]? {
    var bare = signature
    var offset = signature.count
    var last = ""
    guard bytes.starts(with: signature) else { return nil }
    while offset + 12 <= bytes.count {
      let end = offset + 12 + bytes.big(offset, 4)
      guard end <= bytes.count else { return nil }
      last = String(decoding: bytes[offset + 4..<offset + 8], as: UTF8.self)
      if kept.contains(last) { bare += bytes[offset..<end] }
      offset = end
    }
    guard last == "IEND", bare.count >= 24, bare.big(16, 4) == size.width,
      bare.big(20, 4) == size.height
    else { return nil }
    return bare
  }
}
