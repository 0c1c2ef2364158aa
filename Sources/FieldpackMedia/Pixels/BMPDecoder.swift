package import FieldpackCore

/// Decodes a BMP of Windows: 1, 4, 8, 16, 24 or 32 bits a pixel, not packed.
///
/// Nothing is made for more pixels than the file has bytes for.
package struct BMPDecoder {
  private let bytes: [UInt8]
  private let name: String
  private var width = 0
  private var height = 0
  private var isFromTop = false
  private var depth = 0
  private var start = 0
  /// Red, green, blue.
  private var palette: [(UInt8, UInt8, UInt8)] = []
  /// Of red, green, blue and alpha; a mask of 0 is a channel that is not there.
  private var masks: [UInt32] = []

  private init(_ bytes: [UInt8], name: String) {
    self.bytes = bytes
    self.name = name
  }

  /// - Parameters:
  ///   - name: what to call the picture in errors.
  ///   - limit: how many pixels are decoded at most.
  /// - Throws: `.invalidData` for what is no whole BMP, `.unsupported` for one that is packed or too
  ///   large.
  package static func bitmap(
    of bytes: [UInt8], name: String, limit: Int
  ) throws(FieldpackError) -> Bitmap {
    var decoder = BMPDecoder(bytes, name: name)
    try decoder.readHead(limit)
    return decoder.decode()
  }

  private func signed(_ offset: Int) -> Int {
    Int(Int32(truncatingIfNeeded: bytes.little(offset, 4)))
  }

  private func damage(_ what: String) -> FieldpackError {
    FieldpackError(
      .invalidData, "\(name) is no whole BMP: \(what)", position: FilePosition(file: name))
  }

  private func refused(_ what: String) -> FieldpackError {
    FieldpackError(.unsupported, "\(name) \(what)", position: FilePosition(file: name))
  }

  // MARK: Head

  private mutating func readHead(_ limit: Int) throws(FieldpackError) {
    guard MediaType(bytes) == .bmp, bytes.count >= 26 else {
      throw damage("it does not begin as a BMP does")
    }
    let length = bytes.little(14, 4)
    guard length == 12 || (40...4096).contains(length), 14 + length <= bytes.count else {
      throw damage("the length of its head is wrong")
    }
    let isOld = length == 12
    width = isOld ? bytes.little(18, 2) : signed(18)
    let tall = isOld ? bytes.little(20, 2) : signed(22)
    (isFromTop, height) = (tall < 0, abs(tall))
    depth = isOld ? bytes.little(24, 2) : bytes.little(28, 2)
    let packing = isOld ? 0 : bytes.little(30, 4)
    guard width > 0, height > 0 else {
      throw damage("it says it is \(width) x \(height) pixels large")
    }
    guard width <= limit / height else {
      throw refused(
        "says it is \(width) x \(height) pixels large; \(limit) pixels are decoded at most")
    }
    guard [1, 4, 8, 16, 24, 32].contains(depth), packing == 0 || packing == 3,
      packing == 0 || depth == 16 || depth == 32
    else { throw refused("has a form of BMP that is not decoded") }
    start = bytes.little(10, 4)
    guard start >= 14 + length, start <= bytes.count,
      rowLength <= (bytes.count - start) / height
    else { throw damage("it is cut short") }
    readMasks(length, packing)
    try readPalette(
      after: 14 + length, entry: isOld ? 3 : 4, count: isOld ? 0 : bytes.little(46, 4))
  }

  /// Rows are filled up to four bytes.
  private var rowLength: Int { (width * depth + 31) / 32 * 4 }

  private mutating func readMasks(_ length: Int, _ packing: Int) {
    guard depth == 16 || depth == 32 else { return }
    if packing == 3 {
      // The masks follow the old head and are part of the newer ones, at the same place.
      masks = (0..<4).map { index in
        index < 3 || length >= 56 ? UInt32(truncatingIfNeeded: bytes.little(54 + 4 * index, 4)) : 0
      }
    } else {
      masks = depth == 16 ? [0x7C00, 0x3E0, 0x1F, 0] : [0xFF_0000, 0xFF00, 0xFF, 0]
    }
  }

  private mutating func readPalette(
    after offset: Int, entry: Int, count: Int
  ) throws(FieldpackError) {
    guard depth <= 8 else { return }
    let most = 1 << depth
    let wanted = count == 0 ? most : min(count, most)
    let room = max(0, (start - offset) / entry)
    palette = (0..<min(wanted, room)).map { index in
      let at = offset + index * entry
      return (bytes[at + 2], bytes[at + 1], bytes[at])
    }
    guard !palette.isEmpty else { throw damage("it has no colours") }
  }

  // MARK: Pixels

  private func decode() -> Bitmap {
    var bitmap = Bitmap(PictureSize(width: width, height: height))
    for row in 0..<height {
      let from = start + (isFromTop ? row : height - 1 - row) * rowLength
      var to = row * width * 4
      for column in 0..<width {
        let (red, green, blue, alpha) = pixel(column, in: from)
        bitmap.bytes[to] = red
        bitmap.bytes[to + 1] = green
        bitmap.bytes[to + 2] = blue
        bitmap.bytes[to + 3] = alpha
        to += 4
      }
    }
    return bitmap
  }

  private func pixel(_ column: Int, in row: Int) -> (UInt8, UInt8, UInt8, UInt8) {
    switch depth {
    case 24:
      let at = row + column * 3
      return (bytes[at + 2], bytes[at + 1], bytes[at], 255)
    case 16, 32:
      let size = depth / 8
      let value = UInt32(truncatingIfNeeded: bytes.little(row + column * size, size))
      let alpha = masks[3] == 0 ? 255 : Self.channel(value, masks[3])
      return (
        Self.channel(value, masks[0]), Self.channel(value, masks[1]),
        Self.channel(value, masks[2]), alpha
      )
    default:
      let bit = column * depth
      let shift = 8 - depth - bit % 8
      let index = Int(bytes[row + bit / 8] >> UInt8(shift)) & (1 << depth - 1)
      // An index beyond the colours is drawn as the first.
      let color = index < palette.count ? palette[index] : palette[0]
      return (color.0, color.1, color.2, 255)
    }
  }

  /// The bits under a mask as a byte.
  private static func channel(_ value: UInt32, _ mask: UInt32) -> UInt8 {
    guard mask != 0 else { return 0 }
    let shift = UInt32(mask.trailingZeroBitCount)
    let most = UInt64(mask >> shift)
    return UInt8(min(255, (UInt64((value & mask) >> shift) * 255 + most / 2) / most))
  }
}
