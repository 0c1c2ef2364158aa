import FieldpackCore

/// Words sorted into commands, options and arguments, one by one, from left to right.
///
/// The parser stops at the first error; completion goes on after one, with what is known so far.
struct ArgumentScan {
  private(set) var path: [Command]
  private(set) var given: [(option: OptionSpec, text: String)] = []
  private(set) var positionals: [String] = []
  /// The option whose value the next word is.
  private(set) var pending: OptionSpec?
  private(set) var endsOptions = false
  private(set) var wantsHelp = false
  /// Whether the help that is wanted is the short one.
  private(set) var wantsShortHelp = false
  private(set) var wantsVersion = false

  let root: Command
  private(set) var command: Command
  /// What the command takes.
  private(set) var declaration: Declaration

  init(root: Command) {
    self.root = root
    command = root
    path = [root]
    declaration = root.declaration()
  }

  /// Whether the next word that is no option names a command.
  var expectsCommand: Bool { !command.subcommands.isEmpty && positionals.isEmpty }

  mutating func take(_ word: String) throws(FieldpackError) {
    if let option = pending {
      pending = nil
      guard !isOption(word) else { throw .usage("\(option.title) needs a value", path) }
      given.append((option, word))
    } else if endsOptions || word == "-" || word.hasPrefix("-:") || !word.hasPrefix("-")
      || Self.isNegative(word)
    {
      try takePositional(word)
    } else if word == "--" {
      endsOptions = true
    } else if word.hasPrefix("--") {
      try takeLong(word.dropFirst(2))
    } else {
      try takeShort(word.dropFirst())
    }
  }

  /// Ends the words; an option must not be left without its value.
  func finish() throws(FieldpackError) {
    if let pending { throw .usage("\(pending.title) needs a value", path) }
  }

  private mutating func takePositional(_ word: String) throws(FieldpackError) {
    guard expectsCommand else {
      positionals.append(word)
      return
    }
    guard let next = command.subcommand(named: word) else {
      if let renaming = Renaming.of(.command(word), path) { throw renaming.error }
      if path.count == 1, let verb = OtherVerb.named(word) { throw verb.error }
      let near = Suggestion.nearest(to: word, among: command.subcommands.map(\.name))
      let hint = near.map { "\(path.title) \($0)" }
      throw .usage(
        "there is no command '\((path.dropFirst().map(\.name) + [word]).joined(separator: " "))'",
        path, hint: hint)
    }
    command = next
    declaration = next.declaration()
    path.append(next)
  }

  private mutating func takeLong(_ text: Substring) throws(FieldpackError) {
    let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = parts.first ?? ""
    let value = parts.count > 1 ? String(parts[1]) : nil
    if name == "help" || (name == "version" && path.count == 1) {
      guard value == nil else { throw .usage("--\(name) takes no value", path) }
      if name == "help" { wantsHelp = true } else { wantsVersion = true }
      return
    }
    guard let option = declaration.option(named: name) else { throw unknown("--\(name)") }
    try take(option, value)
  }

  private mutating func take(_ option: OptionSpec, _ value: String?) throws(FieldpackError) {
    if let value {
      guard option.takesValue else { throw .usage("\(option.title) takes no value", path) }
      given.append((option, value))
    } else if option.takesValue {
      pending = option
    } else {
      given.append((option, ""))
    }
  }

  /// `-q`, `-qh`, `-oFILE`, `-o=FILE`.
  private mutating func takeShort(_ text: Substring) throws(FieldpackError) {
    var rest = text
    while let letter = rest.popFirst() {
      if letter == "h" {
        wantsShortHelp = true
        continue
      }
      guard let option = declaration.option(short: letter) else { throw unknown("-\(letter)") }
      if option.takesValue, !rest.isEmpty {
        given.append((option, String(rest.first == "=" ? rest.dropFirst() : rest)))
        return
      }
      guard rest.first != "=" else { throw .usage("-\(letter) takes no value", path) }
      try take(option, nil)
    }
  }

  private func isOption(_ word: String) -> Bool {
    guard word.hasPrefix("-"), word != "-", !word.hasPrefix("-:") else { return false }
    if word == "--" { return true }
    if word.hasPrefix("--") {
      let name = word.dropFirst(2).prefix { $0 != "=" }
      return name == "help" || declaration.option(named: name) != nil
    }
    guard let letter = word.dropFirst().first, word.count == 2 else { return false }
    return letter == "h" || declaration.option(short: letter) != nil
  }

  private static func isNegative(_ word: String) -> Bool {
    guard let next = word.dropFirst().first else { return false }
    return next == "." || ("0"..."9").contains(next)
  }

  private func unknown(_ word: String) -> FieldpackError {
    if let renaming = Renaming.of(.option(word), path) { return renaming.error }
    let names = declaration.options.map { "--\($0.name)" } + ["--help"]
    let near = word.hasPrefix("--") ? Suggestion.nearest(to: word, among: names) : nil
    return .usage("\(path.subject) no option '\(word)'", path, hint: near)
  }
}

extension OptionSpec {
  /// The option as someone types it.
  var title: String { "--\(name)" }
}

extension [Command] {
  /// The words that lead to the last command.
  var title: String { map(\.name).joined(separator: " ") }

  /// The begin of a sentence on what the command lacks.
  var subject: String { count > 1 ? "\(Array(dropFirst()).title) has" : "there is" }

  /// What prints the help of the last command.
  var helpLine: String {
    ([first?.name ?? "", "help"] + dropFirst().map(\.name)).joined(separator: " ")
  }
}

extension FieldpackError {
  static func usage(_ message: String, _ path: [Command], hint: String? = nil) -> FieldpackError {
    FieldpackError(.invalidArgument, "\(message). Try: \(hint ?? path.helpLine)")
  }
}
