/// What was given to a command, by the keys that declare it.
public struct ParsedArguments: Sendable {
  private var options: [String: any Sendable] = [:]
  private var arguments: [String: any Sendable] = [:]

  mutating func set(_ option: OptionSpec, to value: any Sendable) { options[option.name] = value }

  mutating func set(_ argument: ArgumentSpec, to value: any Sendable) {
    arguments[argument.name] = value
  }

  /// What the option holds.
  ///
  /// An option that the command does not declare holds what it holds when it is not given.
  /// - Precondition: a required option is declared by the command.
  public subscript<Result>(_ option: Option<Result>) -> Result {
    if let value = options[option.spec.name] as? Result { return value }
    guard let absent = option.absent else {
      preconditionFailure("the command does not declare --\(option.spec.name)")
    }
    return absent
  }

  /// What the argument holds.
  ///
  /// - Precondition: a required argument is declared by the command.
  public subscript<Result>(_ argument: Argument<Result>) -> Result {
    if let value = arguments[argument.spec.name] as? Result { return value }
    guard let absent = argument.absent else {
      preconditionFailure("the command does not declare <\(argument.spec.name)>")
    }
    return absent
  }

  /// Whether the option was given.
  public func contains<Result>(_ option: Option<Result>) -> Bool {
    has(option.spec.name)
  }

  func has(_ name: String) -> Bool { options[name] != nil }
}
