import FieldpackCore

/// What a command line asks for.
enum ParsedCommand {
  case run([Command], Command.Body, ParsedArguments)
  case help([Command])
  case dump(Command)
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
      if scan.wantsVersion { return .version }
    }
    try scan.finish()
    let asJSON = scan.given.contains { $0.option.name == CommonOptions.json.spec.name }
    if scan.path.count == 2, scan.command.name == Command.helpName {
      guard let path = descend(scan.positionals) else {
        throw .unknownTopic(scan.positionals, of: self)
      }
      guard asJSON, let command = path.last else { return .help(path) }
      return .dump(command)
    }
    guard let body = scan.command.body else {
      return asJSON ? .dump(scan.command) : .help(scan.path)
    }
    return .run(scan.path, body, try scan.arguments())
  }

  /// The name of the command that shows the help of others.
  static let helpName = "help"
}

extension ArgumentScan {
  /// The values of everything given, each checked.
  fileprivate func arguments() throws(FieldpackError) -> ParsedArguments {
    var result = ParsedArguments()
    for (option, texts) in try optionTexts() {
      do throws(ValueError) {
        result.set(option, to: try option.read(texts))
      } catch { throw invalid("\(option.title) \(quoted(texts))", error) }
    }
    for option in command.options where option.isRequired && !result.has(option.name) {
      throw .usage("\(option.title) is missing", path)
    }
    for (argument, texts) in try argumentTexts() where !texts.isEmpty {
      do throws(ValueError) {
        result.set(argument, to: try argument.read(texts))
      } catch { throw invalid("<\(argument.name)> \(quoted(texts))", error) }
    }
    return result
  }

  private func quoted(_ texts: [String]) -> String {
    texts.map { "'\($0)'" }.joined(separator: " ")
  }

  private func invalid(_ subject: String, _ error: ValueError) -> FieldpackError {
    let text = "\(subject) \(error.reason)"
    guard !error.reason.contains("Try: ") else { return FieldpackError(.invalidArgument, text) }
    return .usage(text, path)
  }

  private func optionTexts() throws(FieldpackError) -> [(OptionSpec, [String])] {
    var result: [(option: OptionSpec, texts: [String])] = []
    for (option, text) in given {
      guard command.option(named: option.name) != nil else {
        throw .usage("\(path.subject) no option '\(option.title)'", path)
      }
      if let index = result.firstIndex(where: { $0.option.name == option.name }) {
        guard option.isRepeatable else {
          throw .usage("\(option.title) is given more than once", path)
        }
        result[index].texts.append(text)
      } else {
        result.append((option, [text]))
      }
    }
    return result
  }

  /// Deals the words out to the arguments, each taking what those after it can spare.
  private func argumentTexts() throws(FieldpackError) -> [(ArgumentSpec, [String])] {
    var left = positionals[...]
    // Where words are missing, the last arguments lack them.
    let isEnough = left.count >= command.arguments.reduce(0) { $0 + $1.minimum }
    var result: [(ArgumentSpec, [String])] = []
    for (index, argument) in command.arguments.enumerated() {
      let rest = command.arguments[(index + 1)...]
      let later = isEnough ? rest.reduce(0) { $0 + $1.minimum } : 0
      let count = min(max(0, left.count - later), argument.maximum ?? left.count)
      guard count >= argument.minimum else {
        throw .usage("<\(argument.name)> is missing", path)
      }
      result.append((argument, Array(left.prefix(count))))
      left = left.dropFirst(count)
    }
    if let extra = left.first {
      throw .usage("\(path.subject) no place for '\(extra)'", path)
    }
    return result
  }
}

extension FieldpackError {
  fileprivate static func unknownTopic(_ names: [String], of root: Command) -> FieldpackError {
    let near = Suggestion.nearest(to: names.first ?? "", among: root.subcommands.map(\.name))
    let hint = near.map { "\(root.name) help \($0)" }
    return .usage(
      "there is no command '\(names.joined(separator: " "))'", [root], hint: hint)
  }
}
