import FieldpackCore

/// The help of a command, laid out for a width.
struct HelpText {
  /// From the tool to the command.
  let path: [Command]
  let width: Int
  /// Whether only what one needs at first is told.
  let isShort: Bool
  private let declaration: Declaration

  private static let column = 26

  /// The options that a short help shows.
  static let shortLimit = 10

  init(_ path: [Command], width: Int, isShort: Bool = false) {
    self.path = path
    self.isShort = isShort
    self.width = max(40, width)
    declaration = path.last?.declaration() ?? Declaration()
  }

  var text: String {
    guard let command = path.last else { return "" }
    let sections = [
      TextWrap.lines("OVERVIEW: " + command.abstract, width: width),
      usage(command),
      examples(command),
      command.discussion.isEmpty || isShort && command.subcommands.isEmpty
        ? [] : TextWrap.lines(command.discussion, width: width),
      arguments(command),
      isShort ? shortOptions(command) : options(command),
      subcommands(command),
    ]
    let blocks = sections.filter { !$0.isEmpty }.map { $0.joined(separator: "\n") }
    return blocks.joined(separator: "\n\n") + "\n"
  }

  private func usage(_ command: Command) -> [String] {
    var words = path.map(\.name)
    if !command.subcommands.isEmpty { words.append("<command>") }
    words += declaration.arguments.map(\.usage)
    words += declaration.options.filter(\.isRequired).map {
      "\($0.title) <\($0.placeholder ?? "")>"
    }
    if !command.subcommands.isEmpty {
      words += ["[<options>]", "[--help]"] + (path.count == 1 ? ["[--version]"] : [])
    } else if declaration.options.contains(where: { !$0.isRequired }) {
      words.append("[<options>]")
    }
    return TextWrap.lines("USAGE: " + words.joined(separator: " "), width: width)
  }

  private func examples(_ command: Command) -> [String] {
    guard !command.examples.isEmpty else { return [] }
    return ["EXAMPLES:"] + command.examples.map { "  " + $0 }
  }

  private func arguments(_ command: Command) -> [String] {
    guard !declaration.arguments.isEmpty else { return [] }
    return ["ARGUMENTS:"] + declaration.arguments.flatMap { row("<\($0.name)>", $0.explanation) }
  }

  private func options(_ command: Command) -> [String] {
    // A group of commands has only options that all of them share; their own help lists those.
    guard command.subcommands.isEmpty else { return [] }
    var lines: [String] = ["OPTIONS:"]
    lines += declaration.sections.filter { $0.title == nil }.flatMap(rows)
    lines += row("-h, --help", "Show this help; -h shows less of it.")
    for section in declaration.sections {
      guard let title = section.title, !section.options.isEmpty else { continue }
      lines += ["", title.uppercased() + ":"] + rows(section)
    }
    return lines
  }

  /// What is asked for most often, of whatever command.
  private static let usual: Set = [
    "where", "bbox", "near", "select", "sort", "limit", "srs", "format", "count", "overwrite",
    "layer", "mode",
  ]

  /// The options that are required, the usual ones, and of the others the first ones that say no more
  /// about another one, as `--bbox-srs` does.
  private func shortOptions(_ command: Command) -> [String] {
    guard command.subcommands.isEmpty else { return [] }
    let own = declaration.sections.filter { $0.title != CommonOptions.title }.flatMap(\.options)
    let usual = own.filter { $0.isRequired || Self.usual.contains($0.name) }.prefix(Self.shortLimit)
    var names = Set(usual.map(\.name))
    for option in own where names.count < Self.shortLimit {
      guard !own.contains(where: { option.name.hasPrefix($0.name + "-") }) else { continue }
      names.insert(option.name)
    }
    let chosen = own.filter { names.contains($0.name) }
    var lines = chosen.isEmpty ? [] : ["OPTIONS:"]
    for option in chosen {
      let sentence = option.help.firstRange(of: ". ").map { option.help[..<$0.lowerBound] + "." }
      lines += row(option.label, sentence.map(String.init) ?? option.help)
    }
    let words = path.map(\.name).joined(separator: " ")
    let count = declaration.options.count
    return lines + (lines.isEmpty ? [] : [""])
      + TextWrap.lines("'\(words) --help' tells all \(count) options.", width: width)
  }

  private func rows(_ section: OptionSection) -> [String] {
    section.options.flatMap { row($0.label, $0.explanation) }
  }

  private func subcommands(_ command: Command) -> [String] {
    guard !command.subcommands.isEmpty else { return [] }
    var rows: [(names: [String], family: String?, text: String)] = []
    for next in command.subcommands {
      if let family = next.family, rows.last?.family == family {
        rows[rows.count - 1].names.append(next.name)
      } else {
        rows.append(([next.name], next.family, next.family ?? next.abstract))
      }
    }
    return ["SUBCOMMANDS:"] + rows.flatMap { row($0.names.joined(separator: " "), $0.text) }
  }

  private func row(_ label: String, _ text: String) -> [String] {
    Self.row(label, text, width: width)
  }

  /// A label and its explanation in two columns; a long label has a line of its own.
  static func row(_ label: String, _ text: String, width: Int) -> [String] {
    let column = min(Self.column, width / 2)
    let lines = TextWrap.lines(text, width: width - column)
    let indent = String(repeating: " ", count: column)
    let isLong = DisplayText.width(label) + 3 > column
    let first = isLong ? ["  " + label] : []
    return first
      + lines.enumerated().map { index, line in
        index == 0 && !isLong
          ? DisplayText.pad("  " + label, to: column) + line : indent + line
      }
  }
}

extension ArgumentSpec {
  /// As it stands in the line of usage.
  var usage: String {
    let bracketed = "<\(name)>"
    switch (minimum, maximum) {
    case (0, nil): return "[\(bracketed) ...]"
    case (0, _): return "[\(bracketed)]"
    case (_, nil): return "\(bracketed) ..."
    default: return bracketed
    }
  }

  var explanation: String { help + completion.choicesNote(default: nil) }
}

extension OptionSpec {
  /// `-q, --quiet` or `--limit <n>`.
  var label: String {
    let dashes = (short.map { "-\($0), " } ?? "") + title
    return placeholder.map { "\(dashes) <\($0)>" } ?? dashes
  }

  var explanation: String { help + completion.choicesNote(default: defaultText) }
}

extension CompletionHint {
  fileprivate func choicesNote(default defaultText: String?) -> String {
    var parts: [String] = []
    if case .choices(let choices) = self {
      parts.append("values: " + choices.joined(separator: ", "))
    }
    if let defaultText { parts.append("default: " + defaultText) }
    return parts.isEmpty ? "" : " (\(parts.joined(separator: "; ")))"
  }
}
