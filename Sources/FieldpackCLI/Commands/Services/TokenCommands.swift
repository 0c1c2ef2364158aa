import Fieldpack
import FieldpackCore
import FieldpackServer

extension FieldpackTool {
  static var tokenCommand: Command {
    Command(
      "token", abstract: "Make tokens for a server, list them, and take them back.",
      discussion: """
        With a token a client shows a server of 'fieldpack serve --token-file' who it is. The file \
        of tokens has mode 0600 and holds only hashes, so a token is shown once, when it is made. \
        A running server reads the file again when it changes: a revoked token is refused from \
        then on.
        """,
      subcommands: [tokenAddCommand, tokenListCommand, tokenRevokeCommand], family: positionsFamily)
  }

  private static var tokenAddCommand: Command {
    Command(
      "add", abstract: "Make a token, and show it once.",
      discussion: """
        'read' and 'write' are rights on all layers, 'read:LAYER' and 'write:LAYER' on one; who \
        may write a layer may read it. 'ingest' is the right to send captures, motion and \
        positions. Without 'bio' the layers bio_*, their logs and their media are hidden. Without \
        --allow the right is 'read'. The file is made where it is missing.
        """,
      examples: [
        "fieldpack token add tokens.json office --allow write --allow ingest",
        "fieldpack token add tokens.json guest --allow read:wells",
      ], body: TokenAddCommand.self)
  }

  private static var tokenListCommand: Command {
    Command(
      "list", abstract: "List the names, the rights and the ages of the tokens.",
      examples: ["fieldpack token list tokens.json"], body: TokenListCommand.self)
  }

  private static var tokenRevokeCommand: Command {
    Command(
      "revoke", abstract: "Take a token back.",
      examples: ["fieldpack token revoke tokens.json guest"], body: TokenRevokeCommand.self)
  }
}

/// A file of tokens, and the name of one.
private struct NamedToken: OptionGroup {
  @Required var file: String
  @Required var name: String

  init(_ reader: inout OptionReader) {
    _file = reader.argument(.file("tokens", "json"), help: "The file of tokens.")
    _name = reader.argument(.text("name"), help: "What the token is called.")
  }
}

/// `fieldpack token add`.
private struct TokenAddCommand: CommandBody {
  struct Options: OptionGroup {
    let token: NamedToken
    let rights: [AccessRight]

    init(_ reader: inout OptionReader) {
      token = reader.group()
      rights = reader.values(
        "allow", .right, help: "A right of the token; may be repeated. (default: read)")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let (file, name) = (options.token.file, options.token.name)
    let rights = options.rights.isEmpty ? [.read(nil)] : options.rights
    let text = try AccessTokens(file).add(name, rights)
    if invocation.isJSON {
      try invocation.print([
        "file": .text(file), "name": .text(name), "rights": JSONValue(rights.map(\.description)),
        "token": .text(text),
      ])
    } else {
      try invocation.print(text + "\n")
    }
    return ExitStatus.success
  }
}

/// `fieldpack token list`.
private struct TokenListCommand: CommandBody {
  struct Options: OptionGroup {
    @Required var file: String

    init(_ reader: inout OptionReader) {
      _file = reader.argument(.file("tokens", "json"), help: "The file of tokens.")
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let tokens = try AccessTokens(options.file).all()
    if invocation.isJSON {
      try invocation.print([
        "file": .text(options.file),
        "tokens": .array(
          tokens.map { token in
            [
              "name": .text(token.name), "rights": JSONValue(token.rights.map(\.description)),
              "created": .text(token.created.description),
            ]
          }),
      ])
    } else if !tokens.isEmpty {
      try invocation.printTable(
        [TableColumn("name"), TableColumn("rights"), TableColumn("created")],
        tokens.map { token in
          [
            token.name, token.rights.map(\.description).joined(separator: " "),
            token.created.description,
          ]
        })
    }
    return ExitStatus.success
  }
}

/// `fieldpack token revoke`.
private struct TokenRevokeCommand: CommandBody {
  let invocation: Invocation
  let options: NamedToken

  func run() async throws(FieldpackError) -> Int32 {
    try AccessTokens(options.file).revoke(options.name)
    if invocation.isJSON {
      try invocation.print(["file": .text(options.file), "revoked": .text(options.name)])
    } else {
      try invocation.print("revoked \(DisplayText.visible(options.name))\n")
    }
    return ExitStatus.success
  }
}

extension ValueForm where Value == AccessRight {
  fileprivate static var right: ValueForm {
    ValueForm("right") { (text) throws(ValueError) -> AccessRight in
      guard let right = try? AccessRight(text) else {
        throw ValueError("is none of read, write, read:LAYER, write:LAYER, ingest and bio")
      }
      return right
    }
  }
}
