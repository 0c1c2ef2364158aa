import FieldpackCore

/// What a command does: it gets its options filled.
protocol CommandBody: SendableMetatype {
  associatedtype Options: OptionGroup

  init(invocation: Invocation, options: Options)

  /// Gives the exit status.
  func run() async throws(FieldpackError) -> Int32
}

/// A command, or a group of them: the one source of parsing, help, completions and the dump.
struct Command: Sendable {
  typealias Run = @Sendable (Invocation) async throws(FieldpackError) -> Int32

  let name: String
  /// One line: what the command does.
  let abstract: String
  /// What else its help says, paragraphs separated by empty lines.
  let discussion: String
  /// Whole command lines.
  let examples: [String]
  let subcommands: [Command]
  /// Neighbours of one family share a line in the list of commands, and this is what it says.
  let family: String?
  /// What the command takes, told when it is asked for: most commands are not.
  let declaration: @Sendable () -> Declaration
  /// Fills the options; `nil` is a command that only holds others.
  let prepare: (@Sendable (OptionTexts) throws(FieldpackError) -> PreparedCommand)?

  /// A group of commands.
  init(
    _ name: String, abstract: String, discussion: String = "", examples: [String] = [],
    subcommands: [Command] = [], family: String? = nil
  ) {
    self.name = name
    self.abstract = abstract
    self.discussion = discussion
    self.examples = examples
    self.subcommands = subcommands
    self.family = family
    declaration = { Declaration(of: NoOptions.self) }
    prepare = nil
  }

  init<Body: CommandBody>(
    _ name: String, abstract: String, discussion: String = "", examples: [String] = [],
    family: String? = nil, body: Body.Type
  ) {
    self.name = name
    self.abstract = abstract
    self.discussion = discussion
    self.examples = examples
    self.subcommands = []
    self.family = family
    declaration = { Declaration(of: Body.Options.self) }
    prepare = { (texts) throws(FieldpackError) in
      let (options, common) = try texts.filled(Body.Options.self)
      return PreparedCommand(common: common) { (invocation) throws(FieldpackError) in
        try await Body(invocation: invocation, options: options).run()
      }
    }
  }

  func subcommand(named name: String) -> Command? {
    subcommands.first { $0.name == name }
  }

  /// The commands that `names` lead to, from this one on; `nil` where a name is unknown.
  func descend(_ names: [String]) -> [Command]? {
    var path = [self]
    for name in names {
      guard let next = path.last?.subcommand(named: name) else { return nil }
      path.append(next)
    }
    return path
  }
}

/// A command whose options are filled.
struct PreparedCommand: Sendable {
  let common: CommonOptions
  let run: Command.Run
}

/// The options of a command that has none beside the common ones.
struct NoOptions: OptionGroup {
  init(_ reader: inout OptionReader) {}
}

extension Declaration {
  init<Options: OptionGroup>(of type: Options.Type) {
    var reader = OptionReader()
    let _: (Options, CommonOptions) = (reader.group(), reader.group())
    self = reader.declaration
  }
}
