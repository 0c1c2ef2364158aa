extension Value {
  /// The value as a column of another type holds it: a text is read as a value of that type, and a
  /// column of texts gets other values as texts. `nil` where the text is no value of the type.
  ///
  /// A number may still be too large for the column.
  package func converted(to type: ColumnType) -> Value? {
    switch (type, self) {
    case (.text, .integer), (.text, .real), (.text, .boolean), (.json, .integer), (.json, .real),
      (.json, .boolean):
      return .text(plainText)
    case (.boolean, .text(let text)):
      return ["true": true, "1": true, "false": false, "0": false][text.lowercased()]
        .map { .boolean($0) }
    case (.tinyInt, .text(let text)), (.smallInt, .text(let text)), (.mediumInt, .text(let text)),
      (.integer, .text(let text)):
      return Int64(text).map { .integer($0) } ?? Self.number(text)
    case (.float, .text(let text)), (.double, .text(let text)):
      return Self.number(text)
    default:
      return self
    }
  }

  private static func number(_ text: String) -> Value? {
    var text = text
    return text.withUTF8 { NumberParser.double($0) }.map { .real($0) }
  }
}
