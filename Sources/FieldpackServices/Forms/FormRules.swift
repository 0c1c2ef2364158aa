public import Fieldpack
public import FieldpackCore

/// What is wrong with one answer.
public struct FormFinding: Hashable, Sendable, CustomStringConvertible {
  /// The key of the field.
  public var field: String
  /// Such as `value is required`.
  public var message: String

  public init(field: String, message: String) {
    self.field = field
    self.message = message
  }

  public var description: String { "\(field): \(message)" }
}

/// Why a submission is not taken: all that is wrong with it, in the order of the fields.
public struct RefusedSubmission: Error, Hashable, CustomStringConvertible {
  /// The key of the form.
  public var form: String
  public var findings: [FormFinding]

  public var description: String {
    "the submission to form '\(form)' is refused: "
      + findings.map(\.description).joined(separator: "; ")
  }
}

/// The rules of a form, prepared for many submissions.
///
///     let values = try FormRules(form).values(of: ["severity": "deep", "count": "3"])
///
/// Texts are read as what their fields hold, because forms of web pages send numbers as texts. An empty
/// text is no answer, and 0 and false are answers. Lengths and patterns count characters as Unicode code
/// points.
public struct FormRules: Sendable {
  public let form: FormConfig
  /// What of the form's constraints is not tested, and why.
  public let notes: [Note]
  private let fields: [FieldRules]

  public init(_ form: FormConfig) {
    self.form = form
    fields = form.fields.map { FieldRules($0) }
    notes = fields.compactMap { field in
      field.note.map { Note("field '\(field.field.key)' of form '\(form.key)': \($0)") }
    }
  }

  /// The answers as the columns of the form's layer hold them.
  ///
  /// - Throws: all that is wrong with them. An answer to a question that the form does not ask is wrong,
  ///   unless it is `.null`.
  public func values(of answers: Attributes) throws(RefusedSubmission) -> Attributes {
    var findings: [FormFinding] = []
    var values = Attributes()
    for rules in fields {
      do throws(FieldRules.Refusal) {
        if let value = try rules.value(of: answers[rules.field.key] ?? .null) {
          values[rules.field.key] = value
        }
      } catch {
        findings += error.messages.map { FormFinding(field: rules.field.key, message: $0) }
      }
    }
    for answer in answers.elements
    where !answer.value.isNull && !fields.contains(where: { $0.field.key == answer.name }) {
      findings.append(FormFinding(field: answer.name, message: "the form has no such field"))
    }
    guard findings.isEmpty else { throw RefusedSubmission(form: form.key, findings: findings) }
    return values
  }
}
