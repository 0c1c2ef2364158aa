import FieldpackCore

extension FieldpackTool {
  /// Every command of the tool.
  static var root: Command {
    Command(
      "fieldpack",
      abstract: "Field data in one open file: import, query, transform, export.",
      examples: [
        "fieldpack import survey.geojson walk.gpx --into field.gpkg",
        "fieldpack query field.gpkg survey --bbox 7,46,8,47 --where \"depth > 20\"",
        "fieldpack export field.gpkg track_points --output walk.gpx",
      ],
      subcommands: commands)
  }

  private static var commands: [Command] {
    [infoCommand, importCommand, queryCommand, exportCommand] + editCommands + [
      layerCommand, logCommand,
      transformCommand, tileCommand, checkoutCommand, checkinCommand, shardCommand, checkCommand,
      optimizeCommand, explainCommand, sqlCommand,
      trackCommand, monitorCommand, photoCommand, captureCommand, motionCommand, formCommand,
      fetchCommand, servicesCommand, syncCommand, serveCommand,
      tokenCommand, bridgeCommand, personCommand, itemCommand, sensorCommand,
      loginCommand, logoutCommand, whoamiCommand, doctorCommand, completionsCommand, helpCommand,
    ]
  }

  /// What the shell completions look up in files.
  static var completionValues: CompletionValues { .files }

  static var helpCommand: Command {
    Command(
      Command.helpName, abstract: "Show the help of a command or topic, such as cql2.",
      discussion: "Topics are "
        + HelpTopic.all.map { "\($0.name) (\($0.abstract.dropLast()))" }.joined(separator: ", ")
        + ". With --json the whole tree of commands and options, as one document.",
      examples: ["fieldpack help query", "fieldpack help cql2"],
      body: HelpCommand.self)
  }
}

/// `fieldpack help`, which the parser answers itself.
private struct HelpCommand: CommandBody {
  struct Options: OptionGroup {
    init(_ reader: inout OptionReader) {
      let _: [String] = reader.arguments(.text("command"), help: "The command, or the topic.")
      let _: Bool = reader.flag(Command.manualName, help: "Print the page for man, in roff.")
    }
  }

  init(invocation: Invocation, options: Options) {}

  func run() async throws(FieldpackError) -> Int32 { ExitStatus.success }
}
