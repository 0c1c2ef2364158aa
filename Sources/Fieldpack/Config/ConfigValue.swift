import FieldpackCore

/// A value of a config, with the position where it stands.
public struct ConfigValue: Hashable, Sendable {
  public indirect enum Content: Hashable, Sendable {
    case null
    case boolean(Bool)
    /// The digits as they stand.
    case number(String)
    case text(String)
    case array([ConfigValue])
    case object([ConfigMember])
  }

  public let content: Content
  /// The bytes of the value in the config.
  public let range: Range<Int>

  /// The value of the last member of that name, which is the one that counts; `nil` where there is
  /// none, or the value is no object.
  public subscript(name: String) -> ConfigValue? {
    members.last { $0.name == name }?.value
  }

  /// The elements of an array; none for other kinds.
  public var elements: [ConfigValue] {
    if case .array(let elements) = content { elements } else { [] }
  }

  /// The members of an object in order; none for other kinds.
  public var members: [ConfigMember] {
    if case .object(let members) = content { members } else { [] }
  }

  public var text: String? {
    if case .text(let text) = content { text } else { nil }
  }

  public var integer: Int64? {
    if case .number(let digits) = content { Int64(digits) } else { nil }
  }

  public var isNull: Bool { content == .null }

  /// The name of the kind, for messages.
  var kind: String {
    switch content {
    case .null: "null"
    case .boolean: "a boolean"
    case .number: "a number"
    case .text: "a text"
    case .array: "an array"
    case .object: "an object"
    }
  }
}

/// A member of an object of a config.
public struct ConfigMember: Hashable, Sendable {
  public let name: String
  /// Where the name begins, in bytes.
  public let offset: Int
  public let value: ConfigValue
}

extension ConfigValue.Content: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral
{
  public init(stringLiteral value: String) { self = .text(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }
  public init(integerLiteral value: Int64) { self = .number(String(value)) }

  /// An array of new values.
  public static func list(_ contents: [Self]) -> Self {
    .array(contents.map(ConfigValue.init(new:)))
  }

  /// An object of new members, in order.
  public static func object(of members: KeyValuePairs<String, Self>) -> Self {
    .object(
      members.map { ConfigMember(name: $0.key, offset: 0, value: ConfigValue(new: $0.value)) })
  }

  /// The value as JSON on one line.
  package var json: String {
    switch self {
    case .null: "null"
    case .boolean(let flag): flag ? "true" : "false"
    case .number(let digits): digits
    case .text(let text): Self.quoted(text)
    case .array(let elements):
      "[" + elements.map(\.content.json).joined(separator: ", ") + "]"
    case .object(let members):
      "{"
        + members.map { Self.quoted($0.name) + ": " + $0.value.content.json }
        .joined(separator: ", ") + "}"
    }
  }

  static func quoted(_ text: String) -> String {
    var output = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": output += "\\\""
      case "\\": output += "\\\\"
      case "\n": output += "\\n"
      case "\r": output += "\\r"
      case "\t": output += "\\t"
      case "\u{0}"..."\u{1F}":
        let digits = String(scalar.value, radix: 16)
        output += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      default: output.unicodeScalars.append(scalar)
      }
    }
    return output + "\""
  }
}

extension ConfigValue {
  fileprivate init(new content: Content) { self.init(content: content, range: 0..<0) }
}
