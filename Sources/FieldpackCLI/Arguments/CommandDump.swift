import FieldpackCore

extension Command {
  /// The whole tree of commands and options as one document, for programs that drive the tool.
  var dump: JSONValue {
    let declaration = declaration()
    return [
      "name": .text(name), "abstract": .text(abstract),
      "examples": JSONValue(examples),
      "arguments": .array(declaration.arguments.map(\.dump)),
      "options": .array(declaration.options.map(\.dump)),
      "subcommands": .array(subcommands.map(\.dump)),
    ]
  }
}

extension ArgumentSpec {
  fileprivate var dump: JSONValue {
    [
      "name": .text(name), "help": .text(help), "minimum": JSONValue(minimum),
      "maximum": JSONValue(maximum), "completion": completion.dump,
    ]
  }
}

extension OptionSpec {
  fileprivate var dump: JSONValue {
    [
      "name": .text(title), "short": JSONValue(short.map { "-\($0)" }), "help": .text(help),
      "value": JSONValue(placeholder), "default": JSONValue(defaultText),
      "is_required": .boolean(isRequired), "is_repeatable": .boolean(isRepeatable),
      "completion": completion.dump,
    ]
  }
}

extension CompletionHint {
  fileprivate var dump: JSONValue {
    switch self {
    case .none: nil
    case .choices(let choices): ["kind": "choices", "values": JSONValue(choices)]
    case .files(let extensions): ["kind": "file", "extensions": JSONValue(extensions)]
    case .folder: ["kind": "folder"]
    case .source(let extensions): ["kind": "source", "extensions": JSONValue(extensions)]
    case .store: ["kind": "store"]
    case .form: ["kind": "form"]
    case .layer: ["kind": "layer"]
    case .column: ["kind": "column"]
    case .srs: ["kind": "srs"]
    case .list(let element): ["kind": "list", "element": element.dump]
    }
  }
}
