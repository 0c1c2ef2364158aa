extension Value {
  /// The value in the form that a column of another type holds, where texts are read and other
  /// values are written as texts; `nil` where the text is no value of that type.
  ///
  /// Whether the result fits the column, as a number into a small integer, is not asked.
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
    guard let number = Double(text), number.isFinite else { return nil }
    return .real(number)
  }
}
