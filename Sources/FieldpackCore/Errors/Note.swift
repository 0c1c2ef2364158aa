/// A remark that a report makes beside what it reports, with what can be done about it.
///
///     report.notes.append("\(count) features were left out")
public struct Note: Hashable, Sendable, Codable, ExpressibleByStringInterpolation {
  public let text: String
  public let advice: FieldpackError.Advice?

  public init(_ text: String, advice: FieldpackError.Advice? = nil) {
    self.text = text
    self.advice = advice
  }

  public init(stringLiteral text: String) { self.init(text) }

  /// What is said of an error, with the error's advice.
  package init(_ start: String, _ error: FieldpackError) {
    self.init(start + error.message, advice: error.advice)
  }

  /// The same note behind what tells of which thing it is.
  package func preceded(by start: String) -> Note { Note(start + text, advice: advice) }
}

extension Note: CustomStringConvertible {
  /// The text, and the advice in Swift's words.
  public var description: String { text + (advice.map { ". Try: \($0)" } ?? "") }
}
