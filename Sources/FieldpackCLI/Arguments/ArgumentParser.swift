import FieldpackCore

/// What a command line asks for.
enum ParsedCommand {
  case run([Command], PreparedCommand)
  case help([Command])
  /// What `-h` asks for.
  case shortHelp([Command])
  case topic(HelpTopic)
  case manual([Command])
  /// A document of commands and options, or of a topic.
  case dump(JSONValue)
  case version
}

extension Command {
  /// Reads the words after the tool's name.
  ///
  /// - Throws: `.invalidArgument` for words that this command and its subcommands do not take.
  func parse(_ words: [String]) throws(FieldpackError) -> ParsedCommand {
    var scan = ArgumentScan(root: self)
    for word in words {
      try scan.take(word)
      if scan.wantsHelp { return .help(scan.path) }
      if scan.wantsShortHelp { return .shortHelp(scan.path) }
      if scan.wantsVersion { return .version }
    }
    try scan.finish()
    if scan.path.count == 2, scan.command.name == Command.helpName {
      if let topic = scan.positionals.first.flatMap(HelpTopic.named), scan.positionals.count == 1 {
        return try asJSON(scan) ? .dump(topic.dump) : .topic(topic)
      }
      guard let path = descend(scan.positionals) else {
        throw .unknownTopic(scan.positionals, of: self)
      }
      if scan.given.contains(where: { $0.option.name == Self.manualName }) { return .manual(path) }
      guard try asJSON(scan), let command = path.last else { return .help(path) }
      return .dump(command.dump)
    }
    guard let prepare = scan.command.prepare else {
      return try asJSON(scan) ? .dump(scan.command.dump) : .help(scan.path)
    }
    return .run(scan.path, try prepare(try scan.texts()))
  }

  private func asJSON(_ scan: ArgumentScan) throws(FieldpackError) -> Bool {
    try scan.texts().filled(NoOptions.self).common.json
  }

  /// The name of the command that shows the help of others.
  static let helpName = "help"
  /// The option of that command that prints a man page.
  static let manualName = "man"
}

/// What was given to the options and arguments of a command, not read yet.
struct OptionTexts {
  fileprivate let options: [(option: OptionSpec, texts: [String])]
  fileprivate let arguments: [[String]]
  /// From the tool to the command.
  fileprivate let path: [Command]

  /// The values of everything given.
  func filled<Options: OptionGroup>(
    _ type: Options.Type
  ) throws(FieldpackError) -> (options: Options, common: CommonOptions) {
    var reader = OptionReader(options: options, arguments: arguments)
    let filled: (options: Options, common: CommonOptions) = (reader.group(), reader.group())
    guard let (subject, error) = reader.failure else { return filled }
    let text = "\(subject) \(error.reason)"
    guard !error.reason.contains("Try: ") else { throw FieldpackError(.invalidArgument, text) }
    throw .usage(text, path)
  }
}

extension ArgumentScan {
  /// The texts of all options and arguments, as many as the command takes.
  func texts() throws(FieldpackError) -> OptionTexts {
    OptionTexts(options: try optionTexts(), arguments: try argumentTexts(), path: path)
  }

  private func optionTexts() throws(FieldpackError) -> [(option: OptionSpec, texts: [String])] {
    var result: [(option: OptionSpec, texts: [String])] = []
    for (option, text) in given {
      if let index = result.firstIndex(where: { $0.option.name == option.name }) {
        guard option.isRepeatable else {
          throw .usage("\(option.title) is given more than once", path)
        }
        result[index].texts.append(text)
      } else {
        result.append((option, [text]))
      }
    }
    for section in declaration.sections {
      for option in section.options where option.isRequired {
        guard given.contains(where: { $0.option.name == option.name }) else {
          throw .usage("\(option.title) is missing", path)
        }
      }
    }
    return result
  }

  /// Deals the words out to the arguments, each taking what those after it can spare.
  private func argumentTexts() throws(FieldpackError) -> [[String]] {
    var left = positionals[...]
    let arguments = declaration.arguments
    // Where words are missing, the last arguments lack them.
    let isEnough = left.count >= arguments.reduce(0) { $0 + $1.minimum }
    var result: [[String]] = []
    for (index, argument) in arguments.enumerated() {
      let rest = arguments[(index + 1)...]
      let later = isEnough ? rest.reduce(0) { $0 + $1.minimum } : 0
      let count = min(max(0, left.count - later), argument.maximum ?? left.count)
      guard count >= argument.minimum else {
        if let renaming = Renaming.of(.missingWord, path) { throw renaming.error }
        throw .usage("<\(argument.name)> is missing", path)
      }
      result.append(Array(left.prefix(count)))
      left = left.dropFirst(count)
    }
    if let extra = left.first {
      if let renaming = Renaming.of(.extraWord, path) { throw renaming.error }
      throw .usage("\(path.subject) no place for '\(extra)'", path)
    }
    return result
  }
}

extension FieldpackError {
  fileprivate static func unknownTopic(_ names: [String], of root: Command) -> FieldpackError {
    let known = root.subcommands.map(\.name) + HelpTopic.all.map(\.name)
    let near = Suggestion.nearest(to: names.first ?? "", among: known)
    let hint = near.map { "\(root.name) help \($0)" }
    return .usage(
      "there is no command '\(names.joined(separator: " "))'", [root], hint: hint)
  }
}
