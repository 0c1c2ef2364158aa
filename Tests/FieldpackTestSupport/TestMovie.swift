/// A QuickTime file of a header alone, without a frame.
public enum TestMovie {
  public static func bytes(width: Int = 4, height: Int = 3) -> [UInt8] {
    var entry = [UInt8](repeating: 0, count: 78)
    entry.replaceSubrange(24..<28, with: big(width, 2) + big(height, 2))
    let description = box("stsd", big(0, 4) + big(1, 4) + box("jpeg", entry))
    let table = box("minf", box("stbl", description))
    let handler = box("hdlr", big(0, 8) + Array("vide".utf8) + big(0, 12))
    let identity = [1, 0, 0, 0, 1, 0, 0, 0, 0].flatMap { big($0 << 16, 4) }
    let header = box("tkhd", big(0, 40) + identity + big(0, 8))
    let track = box("trak", header + box("mdia", handler + table))
    return box("ftyp", Array("qt  ".utf8) + big(0, 4)) + box("moov", track)
      + box("mdat", [UInt8](0...255))
  }

  private static func box(_ type: String, _ content: [UInt8]) -> [UInt8] {
    big(content.count + 8, 4) + Array(type.utf8) + content
  }

  private static func big(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).map { index in
      let shift = 8 * (count - 1 - index)
      return shift < 64 ? UInt8(truncatingIfNeeded: value >> shift) : 0
    }
  }
}
