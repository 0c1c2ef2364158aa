import FieldpackCore

extension FieldpackTool {
  static var completionsCommand: Command {
    Command(
      "completions", abstract: "Print completions for a shell.",
      discussion: """
        For this session and, written into the shell's start-up file, for all:

          bash   eval "$(fieldpack completions bash)"
          zsh    source <(fieldpack completions zsh)
          fish   fieldpack completions fish | source
        """,
      family: upkeepFamily, body: CompletionsCommand.self)
  }
}

/// `fieldpack completions`.
private struct CompletionsCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var shell: Shell

    init(_ reader: inout OptionReader) {
      _shell = reader.argument(.choice("shell"), help: "The shell to make completions for.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() throws(FieldpackError) -> Int32 {
    let shell = options.shell
    if invocation.isJSON {
      try invocation.print([
        "shell": .text(shell.rawValue), "script": .text(shell.completionScript),
      ])
    } else {
      try invocation.print(shell.completionScript)
    }
    return ExitStatus.success
  }
}
