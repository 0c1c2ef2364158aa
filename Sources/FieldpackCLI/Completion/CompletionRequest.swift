import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a shell asks while someone types: `fieldpack --complete SHELL WORD…`, the last word being
/// the one to complete.
///
/// The answer's first line says what to offer: `words`, `words nospace` where more of the same word
/// may follow, `files [EXTENSION…]` or `folders`. Then come the words, one a line, each with a tab
/// and its description where there is one.
struct CompletionRequest {
  /// The hidden option that makes a request.
  static let word = "--complete"

  private var scan: ArgumentScan
  private let current: String

  /// - Parameter words: the shell's name and the words after the tool's name.
  init(root: Command, words: [String]) {
    // Bash hands words over as they are typed, quotes and all.
    let typed =
      words.first == "bash" ? words.dropFirst().map(ShellWord.unquote) : [] + words.dropFirst()
    scan = ArgumentScan(root: root)
    for word in typed.dropLast() { try? scan.take(word) }
    current = typed.last ?? ""
  }

  func answer(from values: CompletionValues) async -> String {
    if let option = scan.pending {
      return await answer(option.completion, current, prefix: "", values)
    }
    if !scan.endsOptions, current.hasPrefix("--"), let equals = current.firstIndex(of: "=") {
      let name = current[..<equals].dropFirst(2)
      let hint = scan.declaration.option(named: name)?.completion ?? .none
      let start = current.index(after: equals)
      return await answer(hint, String(current[start...]), prefix: current[..<start], values)
    }
    if !scan.endsOptions, current.hasPrefix("-") { return words(options, current) }
    if scan.expectsCommand { return words(commands(scan.command), current) }
    if scan.path.count == 2, scan.command.name == Command.helpName { return words(topics, current) }
    guard let argument = argument(at: scan.positionals.count) else {
      return current.isEmpty && !scan.endsOptions ? words(options, current) : words([], current)
    }
    return await answer(argument.completion, current, prefix: "", values)
  }

  private func commands(_ command: Command) -> [CompletionCandidate] {
    command.subcommands.map { CompletionCandidate($0.name, $0.abstract) }
  }

  private var topics: [CompletionCandidate] {
    scan.root.descend(scan.positionals)?.last.map(commands) ?? []
  }

  private var options: [CompletionCandidate] {
    let given = Set(scan.given.map(\.option.name))
    let open = scan.declaration.options.filter {
      !given.contains($0.name) || ($0.isRepeatable && $0.takesValue)
    }
    return open.map { CompletionCandidate("--\($0.name)", $0.help) }
      + [CompletionCandidate("--help", "Show this help.")]
  }

  private func argument(at index: Int) -> ArgumentSpec? {
    let arguments = scan.declaration.arguments
    if index < arguments.count { return arguments[index] }
    guard let last = arguments.last, last.maximum == nil else { return nil }
    return last
  }

  private func answer(
    _ hint: CompletionHint, _ text: String, prefix: some StringProtocol,
    _ values: CompletionValues
  ) async -> String {
    switch hint {
    case .source where SourceName.colon(in: text) != nil:
      let colon = SourceName.colon(in: text) ?? text.endIndex
      let layers = await values.layers(ShellWord.expandingHome(String(text[..<colon])))
      let start = text.index(after: colon)
      return words(layers, String(text[start...]), prefix: String(prefix) + text[..<start])
    case .files(let extensions), .source(let extensions):
      return (["files"] + extensions).joined(separator: " ") + "\n"
    case .folder: return "folders\n"
    case .list(let element):
      let begin = text.lastIndex(of: ",").map { text.index(after: $0) } ?? text.startIndex
      let signed = text[begin...].hasPrefix("-") ? text.index(after: begin) : begin
      let found = await candidates(element, values)
      return words(
        found, String(text[signed...]), prefix: String(prefix) + String(text[..<signed]), more: true
      )
    default:
      return words(await candidates(hint, values), text, prefix: String(prefix))
    }
  }

  private func candidates(
    _ hint: CompletionHint, _ values: CompletionValues
  ) async -> [CompletionCandidate] {
    switch hint {
    case .choices(let choices): return choices.map { CompletionCandidate($0) }
    case .srs: return await values.srs(source)
    case .store:
      guard let source else { return [] }
      return await values.stores(source)
    case .layer:
      guard let source else { return [] }
      return await values.layers(source)
    case .form:
      guard let source else { return [] }
      return await values.forms(source)
    case .column:
      guard let source else { return [] }
      return await values.columns(source, layers)
    case .none, .files, .folder, .source, .list: return []
    }
  }

  /// The source that the words so far name, as the one argument of its kind or else as an option.
  private var named: SourceName? {
    let option = scan.given.last { $0.option.completion.isSource }?.text
    let index = scan.positionals.indices.first { index in
      guard let argument = argument(at: index) else { return false }
      return argument.completion.isSource && argument.maximum != nil
    }
    return (index.map { scan.positionals[$0] } ?? option).flatMap { try? SourceName($0) }
  }

  private var source: String? { named.map { ShellWord.expandingHome($0.path) } }

  private var layers: [String] {
    let words = scan.positionals.indices.filter { argument(at: $0)?.completion == .layer }
    return [named?.layer?.rawValue].compactMap { $0 } + words.map { scan.positionals[$0] }
      + scan.given.filter { $0.option.completion == .layer }.map(\.text)
  }

  private func words(
    _ candidates: [CompletionCandidate], _ begin: String, prefix: String = "", more: Bool = false
  ) -> String {
    var text = more ? "words nospace\n" : "words\n"
    for candidate in candidates where candidate.word.hasPrefix(begin) {
      // A line break would be a word of its own; such a name cannot be offered.
      guard !candidate.word.contains(where: \.isNewline) else { continue }
      text += prefix + candidate.word
      if !candidate.description.isEmpty {
        text += "\t" + DisplayText.visible(candidate.description)
      }
      text += "\n"
    }
    return text
  }
}

extension CompletionHint {
  fileprivate var isSource: Bool {
    if case .source = self { true } else { false }
  }
}

/// Words as shells hold them.
enum ShellWord {
  /// The text that a word of `sh` stands for; quotes may still be open.
  static func unquote(_ word: String) -> String {
    var result = ""
    var quote: Character?
    var rest = word[...]
    while let character = rest.popFirst() {
      switch (character, quote) {
      case ("'", "'"), ("\"", "\""): quote = nil
      case ("'", nil), ("\"", nil): quote = character
      case ("\\", nil): if let next = rest.popFirst() { result.append(next) }
      case ("\\", "\""):
        if let next = rest.first, "\"\\$`".contains(next) {
          result.append(next)
          rest.removeFirst()
        } else {
          result.append(character)
        }
      default: result.append(character)
      }
    }
    return result
  }

  /// `~/…` with the home folder in place of the tilde. Shells leave the tilde in some places.
  static func expandingHome(_ path: String) -> String {
    let isAtHome = path == "~" || path.hasPrefix("~/")
    guard isAtHome, let home = Terminal.variable("HOME") else { return path }
    return home + path.dropFirst()
  }
}
