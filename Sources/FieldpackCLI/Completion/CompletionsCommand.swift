import FieldpackCore

extension FieldpackTool {
  private static let shell = Argument<Shell>.required(
    .choice("shell"), help: "The shell to make completions for.")

  static var completionsCommand: Command {
    Command(
      "completions", abstract: "Print completions for a shell.",
      discussion: """
        For this session and, written into the shell's start-up file, for all:

          bash   eval "$(fieldpack completions bash)"
          zsh    source <(fieldpack completions zsh)
          fish   fieldpack completions fish | source
        """,
      arguments: [shell], options: [CommonOptions.group], family: upkeepFamily
    ) { invocation throws(FieldpackError) in
      let shell = invocation.arguments[shell]
      if invocation.arguments[CommonOptions.json] {
        try invocation.print([
          "shell": .text(shell.rawValue), "script": .text(shell.completionScript),
        ])
      } else {
        try invocation.print(shell.completionScript)
      }
      return ExitStatus.success
    }
  }
}
