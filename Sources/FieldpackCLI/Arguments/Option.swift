/// An option as the parser, the help, the completions and the dump see it.
public struct OptionSpec: Sendable {
  /// Without the dashes.
  public let name: String
  public let short: Character?
  public let help: String
  /// What stands for the value; `nil` is a flag.
  public let placeholder: String?
  public let completion: CompletionHint
  /// What holds when the option is not given, as the help shows it.
  public let defaultText: String?
  public let isRequired: Bool
  public let isRepeatable: Bool
  let read: @Sendable ([String]) throws(ValueError) -> any Sendable

  public var takesValue: Bool { placeholder != nil }
}

/// Something that declares an option; ``Option`` is the only one.
public protocol OptionKey: Sendable {
  var spec: OptionSpec { get }
}

/// A declared option, which is also the key to what was given: `arguments[option]`.
///
/// `Result` is `Bool` for a flag, `V?` for a value that may be missing, `V` with a default or
/// where the option is required, and `[V]` where it may be repeated.
public struct Option<Result: Sendable>: OptionKey {
  public let spec: OptionSpec
  let absent: Result?
}

extension Option {
  private init<Value>(
    _ name: String, short: Character?, _ form: ValueForm<Value>, help: String,
    absent: Result?, defaultText: String? = nil, isRequired: Bool = false,
    isRepeatable: Bool = false,
    read: @escaping @Sendable ([String]) throws(ValueError) -> any Sendable
  ) {
    spec = OptionSpec(
      name: name, short: short, help: help, placeholder: form.placeholder,
      completion: form.completion, defaultText: defaultText, isRequired: isRequired,
      isRepeatable: isRepeatable, read: read)
    self.absent = absent
  }

  /// A flag that is there or not.
  public static func flag(
    _ name: String, short: Character? = nil, help: String
  ) -> Option<Bool> {
    let spec = OptionSpec(
      name: name, short: short, help: help, placeholder: nil, completion: .none,
      defaultText: nil, isRequired: false, isRepeatable: true, read: { _ in true })
    return Option<Bool>(spec: spec, absent: false)
  }

  /// A value that may be missing.
  public static func value<Value>(
    _ name: String, short: Character? = nil, _ form: ValueForm<Value>, help: String
  ) -> Option<Value?> where Result == Value? {
    Option<Value?>(name, short: short, form, help: help, absent: .some(nil)) {
      (texts) throws(ValueError) in try form.one(texts)
    }
  }

  /// A value with one that holds when none is given.
  public static func value(
    _ name: String, short: Character? = nil, _ form: ValueForm<Result>, default: Result,
    shownAs defaultText: String? = nil, help: String
  ) -> Option<Result> {
    Option(
      name, short: short, form, help: help, absent: `default`,
      defaultText: defaultText ?? "\(`default`)"
    ) { (texts) throws(ValueError) in try form.one(texts) }
  }

  /// A value that must be given.
  public static func required(
    _ name: String, short: Character? = nil, _ form: ValueForm<Result>, help: String
  ) -> Option<Result> {
    Option(name, short: short, form, help: help, absent: nil, isRequired: true) {
      (texts) throws(ValueError) in try form.one(texts)
    }
  }

  /// Values, one each time the option is given.
  public static func values<Value>(
    _ name: String, short: Character? = nil, _ form: ValueForm<Value>, help: String
  ) -> Option<[Value]> where Result == [Value] {
    Option(name, short: short, form, help: help, absent: [], isRepeatable: true) {
      (texts) throws(ValueError) in try form.all(texts)
    }
  }
}

/// A positional argument as the parser, the help, the completions and the dump see it.
public struct ArgumentSpec: Sendable {
  public let name: String
  public let help: String
  public let completion: CompletionHint
  public let minimum: Int
  /// `nil` is any number.
  public let maximum: Int?
  let read: @Sendable ([String]) throws(ValueError) -> any Sendable
}

/// Something that declares a positional argument; ``Argument`` is the only one.
public protocol ArgumentKey: Sendable {
  var spec: ArgumentSpec { get }
}

/// A declared positional argument, which is also the key to what was given.
public struct Argument<Result: Sendable>: ArgumentKey {
  public let spec: ArgumentSpec
  let absent: Result?
}

extension Argument {
  /// An argument that must be given.
  public static func required(_ form: ValueForm<Result>, help: String) -> Argument<Result> {
    Argument(
      spec: ArgumentSpec(
        name: form.placeholder, help: help, completion: form.completion, minimum: 1, maximum: 1,
        read: { (texts) throws(ValueError) in try form.one(texts) }),
      absent: nil)
  }

  /// An argument that may be missing.
  public static func optional<Value>(
    _ form: ValueForm<Value>, help: String
  ) -> Argument<Value?> where Result == Value? {
    Argument<Value?>(
      spec: ArgumentSpec(
        name: form.placeholder, help: help, completion: form.completion, minimum: 0, maximum: 1,
        read: { (texts) throws(ValueError) in try form.one(texts) }),
      absent: .some(nil))
  }

  /// At least `minimum` arguments.
  public static func list<Value>(
    _ form: ValueForm<Value>, minimum: Int = 0, help: String
  ) -> Argument<[Value]> where Result == [Value] {
    Argument<[Value]>(
      spec: ArgumentSpec(
        name: form.placeholder, help: help, completion: form.completion, minimum: minimum,
        maximum: nil, read: { (texts) throws(ValueError) in try form.all(texts) }),
      absent: [])
  }
}

extension ValueForm {
  fileprivate func one(_ texts: [String]) throws(ValueError) -> any Sendable {
    guard let text = texts.last else { throw ValueError("is missing") }
    return try read(text)
  }

  fileprivate func all(_ texts: [String]) throws(ValueError) -> any Sendable {
    var values: [Value] = []
    for text in texts { values.append(try read(text)) }
    return values
  }
}
