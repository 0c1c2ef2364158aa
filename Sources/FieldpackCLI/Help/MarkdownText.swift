import FieldpackCore

/// The Markdown of the articles, laid out for a terminal.
struct MarkdownText {
  private let width: Int
  private var lines: [String] = []
  /// The lines of a paragraph or of an entry of a list that are not laid out yet.
  private var waiting: [Substring] = []
  /// The heads of the table that is being read.
  private var heads: [String]?
  private var isCode = false

  init(_ markdown: String, width: Int) {
    self.width = width
    for line in markdown.split(separator: "\n", omittingEmptySubsequences: false) { take(line) }
    flush()
  }

  var text: String { lines.joined(separator: "\n") + "\n" }

  private mutating func take(_ line: Substring) {
    if line.hasPrefix("```") {
      flush()
      isCode.toggle()
    } else if isCode {
      lines.append("  " + line)
    } else if line.hasPrefix("|") {
      flush()
      takeRow(line)
    } else if line.isEmpty {
      flush()
      heads = nil
      if lines.last != "" { lines.append("") }
    } else if line.hasPrefix("### ") {
      flush()
      lines.append(line.dropFirst(4).uppercased() + ":")
    } else {
      if line.hasPrefix("- ") { flush() }
      waiting.append(line)
    }
  }

  /// Lays the waiting lines out as a paragraph, or as an entry of a list.
  private mutating func flush() {
    guard let first = waiting.first else { return }
    let isEntry = first.hasPrefix("- ")
    if isEntry { waiting[0] = first.dropFirst(2) }
    let words = waiting.map(Self.plain).joined(separator: " ")
    let indent = isEntry ? 4 : 0
    for (index, line) in TextWrap.lines(words, width: width - indent).enumerated() {
      lines.append((isEntry ? (index == 0 ? "  - " : "    ") : "") + line)
    }
    waiting = []
  }

  private mutating func takeRow(_ line: Substring) {
    let cells = line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
      .map(Self.plain)
    guard let heads else {
      heads = cells
      return
    }
    guard let label = cells.first, !cells.allSatisfy({ $0 == "---" }) else { return }
    // Where there are many columns, their heads tell what a value means.
    var values = zip(heads, cells).dropFirst().filter { !$0.1.isEmpty }
    let isWide = heads.count > 3
    if isWide { values = values.map { ($0.lowercased(), $1) } }
    let text = values.map { isWide ? "\($0) \($1)" : $1 }.joined(separator: "; ")
    lines += HelpText.row(label, text, width: width)
  }

  private static func plain(_ text: some StringProtocol) -> String {
    let words = text.split(separator: " ").joined(separator: " ")
    return words.replacing("`", with: "").replacing("**", with: "")
  }
}
