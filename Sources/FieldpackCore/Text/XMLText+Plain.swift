extension XMLText {
  /// Appends bytes that may not be UTF-8, which are mended, as character data.
  package static func append(
    mending bytes: UnsafeBufferPointer<UInt8>, inAttribute: Bool = false, to target: inout [UInt8]
  ) {
    if plainPrefix(of: bytes) == bytes.count {
      target.append(contentsOf: bytes)
    } else if isWellFormed(bytes) {
      append(bytes, inAttribute: inAttribute, to: &target)
    } else {
      append(String(decoding: bytes, as: UTF8.self), inAttribute: inAttribute, to: &target)
    }
  }

  private static func isWellFormed(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var index = 0
    while index < bytes.count {
      let length = bytes[index] < 0x80 ? 1 : wellFormedLength(bytes, at: index)
      if length == 0 { return false }
      index += length
    }
    return true
  }

  /// Bytes up to one that is not ASCII or that XML may want escaped; eight at a step.
  private static func plainPrefix(of bytes: UnsafeBufferPointer<UInt8>) -> Int {
    let words = UnsafeRawBufferPointer(bytes)
    var index = 0
    while index + 8 <= bytes.count,
      needsCare(words.loadUnaligned(fromByteOffset: index, as: UInt64.self)) == 0
    {
      index += 8
    }
    while index < bytes.count {
      let byte = bytes[index]
      guard byte >= 0x20, byte < 0x80, byte != UInt8(ascii: "&"), byte != UInt8(ascii: "<"),
        byte != UInt8(ascii: ">"), byte != UInt8(ascii: "\"")
      else { return index }
      index += 1
    }
    return index
  }

  /// Not 0 where any of eight bytes is a control character, one of `&<>"` or not ASCII.
  @inline(__always)
  private static func needsCare(_ word: UInt64) -> UInt64 {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let controls = word &- ones &* 0x20
    let ampersand = (word ^ ones &* 0x26) &- ones
    let quote = (word ^ ones &* 0x22) &- ones
    // `<` and `>` differ in one bit.
    let angle = ((word | ones &* 2) ^ ones &* 0x3E) &- ones
    return (word | controls | ampersand | quote | angle) & (ones &* 0x80)
  }
}
