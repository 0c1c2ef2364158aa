import FieldpackCore

/// A piece of reference that the tool shows: parts of the articles, line by line.
struct HelpTopic: Sendable {
  let name: String
  /// One line: what the topic is about.
  let abstract: String
  /// The article whose lines these are.
  let article: String
  /// Headings, paragraphs, lists, tables and code in Markdown.
  let markdown: String

  static let all = [cql2, functions, formats, styles, keys, exitStatus]

  static func named(_ name: String) -> HelpTopic? { all.first { $0.name == name } }

  /// The topic as people read it in a terminal.
  func text(width: Int) -> String {
    let start = TextWrap.lines("\(name): \(abstract)", width: max(40, width))
    return (start + [""]).joined(separator: "\n")
      + "\n" + MarkdownText(markdown, width: max(40, width)).text
  }

  /// The topic for programs, in the form of a command.
  var dump: JSONValue {
    [
      "name": .text(name), "abstract": .text(abstract), "text": .text(markdown),
      "examples": .array([]), "arguments": .array([]), "options": .array([]),
      "subcommands": .array([]),
    ]
  }
}
