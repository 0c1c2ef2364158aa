/// An option as the parser, the help, the completions and the dump see it.
struct OptionSpec: Sendable {
  /// Without the dashes.
  let name: String
  let short: Character?
  let help: String
  /// What stands for the value; `nil` is a flag.
  let placeholder: String?
  let completion: CompletionHint
  /// What holds when the option is not given, as the help shows it.
  let defaultText: String?
  let isRequired: Bool
  let isRepeatable: Bool

  var takesValue: Bool { placeholder != nil }
}

/// A positional argument as the parser, the help, the completions and the dump see it.
struct ArgumentSpec: Sendable {
  let name: String
  let help: String
  let completion: CompletionHint
  let minimum: Int
  /// `nil` is any number.
  let maximum: Int?
}

/// Options that share a heading in the help.
struct OptionSection: Sendable {
  /// The heading; `nil` holds the command's own options.
  let title: String?
  var options: [OptionSpec] = []
}

/// All that a command takes.
struct Declaration: Sendable {
  var arguments: [ArgumentSpec] = []
  /// The first has no title.
  var sections = [OptionSection(title: nil)]

  var options: [OptionSpec] { sections.flatMap(\.options) }

  func option(named name: some StringProtocol) -> OptionSpec? {
    for section in sections {
      if let option = section.options.first(where: { $0.name == name }) { return option }
    }
    return nil
  }

  func option(short: Character) -> OptionSpec? {
    for section in sections {
      if let option = section.options.first(where: { $0.short == short }) { return option }
    }
    return nil
  }
}

/// The options and arguments of a command, or some of them that several commands share.
///
/// ```swift
/// struct Options: OptionGroup {
///   @Required var file: String
///   let limit: Int?
///
///   init(_ reader: inout OptionReader) {
///     _file = reader.argument(.file(), help: "The file.")
///     limit = reader.value("limit", .integer("n"), help: "At most so many features.")
///   }
/// }
/// ```
protocol OptionGroup: Sendable {
  /// The heading in the help; `nil` joins the options of the command.
  static var title: String? { get }

  /// Declares every option, and fills the property with what was given.
  init(_ reader: inout OptionReader)
}

extension OptionGroup {
  static var title: String? { nil }
}

/// A value that must be given: the parser refuses a command line without it.
@propertyWrapper struct Required<Value: Sendable>: Sendable {
  /// `nil` while options are declared, and nothing was given.
  fileprivate let given: Value?

  var wrappedValue: Value {
    guard let given else { preconditionFailure("options are declared and not filled") }
    return given
  }
}

/// Declares options and arguments in the order of the help, and reads what was given to them.
struct OptionReader {
  private(set) var declaration = Declaration()
  /// The first text that is no value of its option.
  private(set) var failure: (subject: String, reason: ValueError)?

  /// The texts of each option by its name, and of each argument by its place.
  private let options: [(option: OptionSpec, texts: [String])]
  private let arguments: [[String]]
  private var section = 0

  init(
    options: [(option: OptionSpec, texts: [String])] = [], arguments: [[String]] = []
  ) {
    self.options = options
    self.arguments = arguments
  }

  /// Options that several commands share.
  mutating func group<Group: OptionGroup>() -> Group {
    let outer = section
    defer { section = outer }
    if let title = Group.title {
      declaration.sections.append(OptionSection(title: title))
      section = declaration.sections.count - 1
    }
    return Group(&self)
  }

  // MARK: Options

  /// A flag that is there or not.
  mutating func flag(_ name: String, short: Character? = nil, help: String) -> Bool {
    let spec = OptionSpec(
      name: name, short: short, help: help, placeholder: nil, completion: .none,
      defaultText: nil, isRequired: false, isRepeatable: true)
    return !declare(spec).isEmpty
  }

  /// A value that may be missing.
  ///
  /// - Parameter shownDefault: what holds without it, as the help shows it.
  mutating func value<Value>(
    _ name: String, short: Character? = nil, _ form: ValueForm<Value>,
    shownDefault: String? = nil, help: String
  ) -> Value? {
    let texts = declare(form.spec(name, short: short, help: help, defaultText: shownDefault))
    return read(texts, as: form, of: "--\(name)").last
  }

  /// A value with one that holds when none is given.
  mutating func value<Value>(
    _ name: String, short: Character? = nil, _ form: ValueForm<Value>, default: Value,
    shownAs defaultText: String? = nil, help: String
  ) -> Value {
    value(
      name, short: short, form, shownDefault: defaultText ?? "\(`default`)", help: help)
      ?? `default`
  }

  /// A value that must be given.
  mutating func required<Value>(
    _ name: String, short: Character? = nil, _ form: ValueForm<Value>, help: String
  ) -> Required<Value> {
    let texts = declare(form.spec(name, short: short, help: help, isRequired: true))
    return Required(given: read(texts, as: form, of: "--\(name)").last)
  }

  /// Values, one each time the option is given.
  mutating func values<Value>(
    _ name: String, short: Character? = nil, _ form: ValueForm<Value>, help: String
  ) -> [Value] {
    let texts = declare(form.spec(name, short: short, help: help, isRepeatable: true))
    return read(texts, as: form, of: "--\(name)")
  }

  // MARK: Arguments

  /// An argument that must be given.
  mutating func argument<Value>(_ form: ValueForm<Value>, help: String) -> Required<Value> {
    Required(given: arguments(form, minimum: 1, maximum: 1, help: help).last)
  }

  /// An argument that may be missing.
  mutating func optionalArgument<Value>(_ form: ValueForm<Value>, help: String) -> Value? {
    arguments(form, minimum: 0, maximum: 1, help: help).last
  }

  /// At least `minimum` arguments.
  mutating func arguments<Value>(
    _ form: ValueForm<Value>, minimum: Int = 0, maximum: Int? = nil, help: String
  ) -> [Value] {
    let place = declaration.arguments.count
    declaration.arguments.append(
      ArgumentSpec(
        name: form.placeholder, help: help, completion: form.completion, minimum: minimum,
        maximum: maximum))
    guard place < arguments.count else { return [] }
    return read(arguments[place], as: form, of: "<\(form.placeholder)>")
  }

  // MARK: Texts

  /// The texts that were given to the option.
  private mutating func declare(_ spec: OptionSpec) -> [String] {
    declaration.sections[section].options.append(spec)
    return options.first { $0.option.name == spec.name }?.texts ?? []
  }

  private mutating func read<Value>(
    _ texts: [String], as form: ValueForm<Value>, of subject: @autoclosure () -> String
  ) -> [Value] {
    var values: [Value] = []
    do throws(ValueError) {
      for text in texts { values.append(try form.read(text)) }
    } catch  where failure == nil {
      let quoted = texts.map { "'\($0)'" }.joined(separator: " ")
      failure = ("\(subject()) \(quoted)", error)
    } catch {}
    return values
  }
}

extension ValueForm {
  fileprivate func spec(
    _ name: String, short: Character?, help: String, defaultText: String? = nil,
    isRequired: Bool = false, isRepeatable: Bool = false
  ) -> OptionSpec {
    OptionSpec(
      name: name, short: short, help: help, placeholder: placeholder, completion: completion,
      defaultText: defaultText, isRequired: isRequired, isRepeatable: isRepeatable)
  }
}
