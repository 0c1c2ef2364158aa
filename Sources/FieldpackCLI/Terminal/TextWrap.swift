import FieldpackCore

/// Breaks text into lines at blanks.
enum TextWrap {
  /// The lines of `text`, each at most `width` cells where its words allow; line breaks are kept.
  static func lines(_ text: String, width: Int) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).flatMap {
      paragraph($0, width: width)
    }
  }

  private static func paragraph(_ text: Substring, width: Int) -> [String] {
    // Lines that begin with blanks are laid out by hand.
    if text.first == " " { return [String(text)] }
    var lines: [String] = []
    var line = ""
    var used = 0
    for word in text.split(separator: " ") {
      let cells = DisplayText.width(word)
      if !line.isEmpty, used + 1 + cells > width {
        lines.append(line)
        line = ""
        used = 0
      }
      if !line.isEmpty {
        line += " "
        used += 1
      }
      line += word
      used += cells
    }
    return lines + [line]
  }
}
