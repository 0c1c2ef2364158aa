/// Which encoding a text is in, as far as its bytes tell.
enum TextEncoding: Hashable {
  case utf8
  /// By its byte order mark.
  case utf16(isBigEndian: Bool)
  /// Bytes that are letters and signs of Western Europe in this encoding, and none of UTF-8.
  case windows1252
  /// Not UTF-8, and nothing else for certain.
  case unknown

  /// - Parameter head: the beginning of a file.
  /// - Parameter isWhole: whether `head` is all of it.
  init(of head: [UInt8], isWhole: Bool) {
    if head.starts(with: [0xFF, 0xFE]) {
      self = .utf16(isBigEndian: false)
      return
    }
    if head.starts(with: [0xFE, 0xFF]) {
      self = .utf16(isBigEndian: true)
      return
    }
    // A character may be cut at the end.
    let end = isWhole ? head.count : head.lastIndex { $0 < 0x80 } ?? 0
    let text = head[..<end]
    if text.allSatisfy({ $0 < 0x80 }) || String(validating: text, as: UTF8.self) != nil {
      self = .utf8
    } else {
      self = Self.isWestern(head) ? .windows1252 : .unknown
    }
  }

  // MARK: Windows-1252

  /// Letters of German, French, Spanish, Italian and Portuguese.
  private static let letters: Set<UInt8> = Set(0xC0...0xFC)
    .subtracting([0xC5, 0xC6, 0xD0, 0xD7, 0xD8, 0xE5, 0xE6, 0xF0, 0xF7, 0xF8]).union([0x8C, 0x9C])
  /// Letters that are words.
  private static let words: Set<UInt8> = [0xE0, 0xE1, 0xE8, 0xE9, 0xF2, 0xF3]
  /// Signs behind which no letter stands: € … ” – — ª º § ´ · » ± © ®.
  private static let signs: Set<UInt8> = [
    0x80, 0x85, 0x94, 0x96, 0x97, 0xAA, 0xBA, 0xA7, 0xB4, 0xB7, 0xBB, 0xB1, 0xA9, 0xAE,
  ]
  /// Signs that stand before letters, too: ‘ ’ “ « ° µ and the blank that does not break.
  private static let openSigns: Set<UInt8> = [0x91, 0x92, 0x93, 0xAB, 0xB0, 0xB5, 0xA0]

  /// Whether each byte beyond ASCII is what Western languages write there in Windows-1252.
  ///
  /// Other encodings show in letters that these languages do not have (Polish, Czech, Turkish, DOS
  /// and Mac), in long runs of such bytes (Greek, Cyrillic), and in UTF-8's sequences.
  private static func isWestern(_ head: [UInt8]) -> Bool {
    var run = 0
    for index in head.indices {
      let byte = head[index]
      guard byte >= 0x80 else {
        run = 0
        continue
      }
      run += 1
      let previous = index > 0 ? head[index - 1] : 0x20
      let next = index + 1 < head.count ? head[index + 1] : 0x20
      guard run < 3, !isUTF8(byte, next), isWestern(byte, after: previous, before: next) else {
        return false
      }
    }
    return true
  }

  /// Whether two bytes are a character of UTF-8, or the start of a longer one.
  private static func isUTF8(_ byte: UInt8, _ next: UInt8) -> Bool {
    byte >= 0xC2 && byte <= 0xF4 && next & 0xC0 == 0x80
      && (byte < 0xE0 || !openSigns.contains(next))
  }

  private static func isWestern(_ byte: UInt8, after previous: UInt8, before next: UInt8) -> Bool {
    if openSigns.contains(byte) { return true }
    if signs.contains(byte) { return !isASCIILetter(next) && !letters.contains(next) }
    // m² and m³.
    if byte == 0xB2 || byte == 0xB3 { return previous | 0x20 == UInt8(ascii: "m") }
    // Hungarian has other letters there, and more words with them.
    if byte | 0x20 == 0xF5 { return next | 0x20 == UInt8(ascii: "e") }
    guard letters.contains(byte) else { return false }
    return words.contains(byte) || isASCIILetter(previous) || isASCIILetter(next)
      || letters.contains(next)
  }

  private static func isASCIILetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }
}
