/// Pictures of a few bytes.
public enum TestPicture {
  /// A PNG of one colour, written without compression.
  public static func png(
    width: Int = 4, height: Int = 3, color: (UInt8, UInt8, UInt8)
  ) -> [UInt8] {
    var pixels: [UInt8] = []
    for _ in 0..<height {
      pixels.append(0)
      for _ in 0..<width { pixels.append(contentsOf: [color.0, color.1, color.2]) }
    }
    let length: [UInt8] = [UInt8(pixels.count & 255), UInt8(pixels.count >> 8)]
    var packed: [UInt8] = [0x78, 0x01, 0x01]
    packed += length
    packed += length.map { ~$0 }
    packed += pixels
    packed += big(adler(pixels))
    var header = big(UInt32(width))
    header += big(UInt32(height))
    header += [8, 2, 0, 0, 0]
    var file: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    file += chunk("IHDR", header)
    file += chunk("IDAT", packed)
    return file + chunk("IEND", [])
  }

  private static func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
    let body = Array(name.utf8) + content
    return big(UInt32(content.count)) + body + big(crc(body))
  }

  private static func big(_ value: UInt32) -> [UInt8] {
    [24, 16, 8, 0].map { (shift: UInt32) in UInt8(truncatingIfNeeded: value >> shift) }
  }

  private static func adler(_ bytes: [UInt8]) -> UInt32 {
    var (a, b): (UInt32, UInt32) = (1, 0)
    for byte in bytes {
      a = (a + UInt32(byte)) % 65521
      b = (b + a) % 65521
    }
    return b << 16 | a
  }

  private static func crc(_ bytes: [UInt8]) -> UInt32 {
    var crc = ~0 as UInt32
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
    }
    return ~crc
  }
}
