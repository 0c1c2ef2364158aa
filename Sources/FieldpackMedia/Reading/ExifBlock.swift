/// The EXIF segment of a JPEG, as far as the turn of the picture goes.
struct ExifBlock: Sendable {
  /// The content of the segment, beginning with `Exif`.
  private(set) var bytes: [UInt8]
  private(set) var turn = PictureTurn.none
  private let isLittle: Bool
  /// Where the value of Orientation stands, and where the offset of the second directory.
  private var value: Range<Int>?
  private var next: Int?

  private static let orientation = 0x0112

  /// `nil` for a segment of another kind and for one whose first directory cannot be read.
  init?(_ content: ArraySlice<UInt8>) {
    guard content.starts(with: Array("Exif\0".utf8)), content.count >= 14 else { return nil }
    bytes = Array(content)
    switch (bytes[6], bytes[7]) {
    case (UInt8(ascii: "I"), UInt8(ascii: "I")): isLittle = true
    case (UInt8(ascii: "M"), UInt8(ascii: "M")): isLittle = false
    default: return nil
    }
    // Only the first directory is read, so that no chain of them can have a loop.
    guard number(at: 8, 2) == 42, let offset = number(at: 10, 4), offset >= 8,
      let count = number(at: 6 + offset, 2)
    else { return nil }
    let entries = 8 + offset
    for entry in stride(from: entries, to: entries + 12 * count, by: 12) {
      guard let tag = number(at: entry, 2) else { return }
      if tag == Self.orientation { readTurn(at: entry) }
    }
    let end = entries + 12 * count
    if number(at: end, 4) != nil { next = end }
  }

  /// A SHORT, or a LONG as some programs write it.
  private mutating func readTurn(at offset: Int) {
    guard let type = number(at: offset + 2, 2), type == 3 || type == 4,
      number(at: offset + 4, 4) == 1, let value = number(at: offset + 8, type == 3 ? 2 : 4),
      let turn = PictureTurn(rawValue: value)
    else { return }
    self.turn = turn
    self.value = offset + 8..<offset + (type == 3 ? 10 : 12)
  }

  /// The same of a picture that stands upright.
  ///
  /// The small picture that it may hold is not upright, and is no longer pointed to.
  var upright: ExifBlock {
    var block = self
    if let value {
      for offset in value { block.bytes[offset] = 0 }
      block.bytes[isLittle ? value.lowerBound : value.upperBound - 1] = 1
    }
    if let next { for offset in next..<next + 4 { block.bytes[offset] = 0 } }
    block.turn = .none
    return block
  }

  private func number(at offset: Int, _ count: Int) -> Int? {
    guard offset >= 0, offset + count <= bytes.count else { return nil }
    return isLittle ? bytes.little(offset, count) : bytes.big(offset, count)
  }
}
