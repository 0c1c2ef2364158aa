public import FieldpackCore

/// Options that belong together and share a heading in the help.
public struct OptionGroup: Sendable {
  /// The heading; `nil` joins the command's own options.
  public let title: String?
  public let options: [OptionSpec]

  public init(_ title: String? = nil, _ options: [any OptionKey]) {
    self.title = title
    self.options = options.map(\.spec)
  }
}

/// A command, or a group of them: the one source of parsing, help, completions and the dump.
public struct Command: Sendable {
  public typealias Body =
    @Sendable (Invocation) async throws(FieldpackError) -> Int32

  public let name: String
  /// One line: what the command does.
  public let abstract: String
  /// What else its help says, paragraphs separated by empty lines.
  public let discussion: String
  /// Whole command lines.
  public let examples: [String]
  public let arguments: [ArgumentSpec]
  public let groups: [OptionGroup]
  public let subcommands: [Command]
  /// Neighbours of one family share a line in the list of commands, and this is what it says.
  public let family: String?
  /// `nil` is a command that only holds others.
  public let body: Body?

  public init(
    _ name: String, abstract: String, discussion: String = "", examples: [String] = [],
    arguments: [any ArgumentKey] = [], options: [OptionGroup] = [],
    subcommands: [Command] = [], family: String? = nil, body: Body? = nil
  ) {
    self.name = name
    self.abstract = abstract
    self.discussion = discussion
    self.examples = examples
    self.arguments = arguments.map(\.spec)
    self.groups = options
    self.subcommands = subcommands
    self.family = family
    self.body = body
  }

  public var options: [OptionSpec] { groups.flatMap(\.options) }

  func option(named name: some StringProtocol) -> OptionSpec? {
    options.first { $0.name == name }
  }

  func option(short: Character) -> OptionSpec? {
    options.first { $0.short == short }
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
