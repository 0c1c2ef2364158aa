/// Text as a terminal shows it: how many cells it takes, and without what could drive the terminal.
package enum DisplayText {
  /// `text` with control characters, line breaks and direction marks spelled out, so that a name
  /// in a file can neither move the cursor nor pass for another.
  ///
  /// Line breaks and tabs become `\n`, `\r`, `\t`; the others `\u{1b}` and the like.
  package static func visible(_ text: some StringProtocol) -> String {
    guard text.unicodeScalars.contains(where: isUnsafe) else { return String(text) }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      case _ where isUnsafe(scalar):
        result += "\\u{\(String(scalar.value, radix: 16))}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  /// The number of cells that `text` takes: 2 for East Asian wide characters and emoji, 0 for
  /// combining marks.
  package static func width(_ text: some StringProtocol) -> Int {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
    return text.reduce(0) { $0 + width($1) }
  }

  package static func width(_ character: Character) -> Int {
    let scalars = character.unicodeScalars
    guard let first = scalars.first else { return 0 }
    if scalars.count == 1 { return width(first) }
    let isEmoji =
      first.properties.isEmojiPresentation
      || scalars.contains { $0.value == 0xFE0F || $0.value == 0x20E3 }
    if isEmoji { return 2 }
    return scalars.reduce(0) { $0 + width($1) }
  }

  private static func width(_ scalar: Unicode.Scalar) -> Int {
    let value = scalar.value
    if value < 0x300 { return value == 0xAD || value < 0x20 || (0x7F..<0xA0 ~= value) ? 0 : 1 }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: break
    }
    // The vowels and finals of Hangul join the wide consonant before them.
    if 0x1160...0x11FF ~= value { return 0 }
    return isWide(value) || scalar.properties.isEmojiPresentation ? 2 : 1
  }

  /// East Asian Width W and F, after Unicode's EastAsianWidth.txt.
  private static func isWide(_ value: UInt32) -> Bool {
    switch value {
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
      0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F, 0xFF01...0xFF60,
      0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF,
      0x20000...0x3FFFD:
      true
    default: false
    }
  }

  /// `text` cut to `width` cells, the last of them `ellipsis` where something is left out.
  package static func cut(_ text: String, to width: Int, ellipsis: String = "…") -> String {
    guard self.width(text) > width else { return text }
    let room = width - self.width(ellipsis)
    guard room >= 0 else { return "" }
    var kept = ""
    var used = 0
    for character in text {
      let cells = self.width(character)
      if used + cells > room { break }
      kept.append(character)
      used += cells
    }
    return kept + ellipsis
  }

  /// `text` with blanks up to `width` cells, after it or before it.
  package static func pad(_ text: String, to width: Int, leading: Bool = false) -> String {
    let blanks = String(repeating: " ", count: max(0, width - self.width(text)))
    return leading ? blanks + text : text + blanks
  }
}
