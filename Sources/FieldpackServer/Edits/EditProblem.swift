import FieldpackCore
import FieldpackServices

/// The problem for a change that breaks a rule of its collection.
enum EditProblem {
  /// - Parameter rule: the rule that the store names; `nil` where it names none.
  /// - Returns: `nil` for other errors.
  static func document(
    for error: FieldpackError, breaking rule: BrokenRule?, in layer: ServedLayer
  ) -> ProblemDocument? {
    guard error.code == .constraint else { return nil }
    // A rule of the schema extension, such as a list of values or a range, has its own message.
    guard let rule else {
      var document = ProblemDocument(error, while: .body)
      document.status = 422
      return document
    }
    let columns = columns(of: rule, in: layer)
    var document: ProblemDocument
    switch rule.kind {
    case .notNull: document = ProblemDocument(422, "\(columns) cannot be null")
    case .unique: document = ProblemDocument(409, "another feature has that value of \(columns)")
    case .relation:
      document = ProblemDocument(409, "a relation of the collection forbids this")
    case .other: document = ProblemDocument(422, "a rule of the collection forbids this")
    }
    document.code = error.code.name
    if let position = error.position, position.file == nil {
      document.detail = "\(position): \(document.detail)"
    }
    return document
  }

  private static func columns(of rule: BrokenRule, in layer: ServedLayer) -> String {
    let known = layer.schema.columns.map(\.name) + [layer.schema.idColumn].compactMap(\.self)
    let names = rule.columns.compactMap { column in
      known.first { column == $0 || column.hasSuffix(".\($0)") }
    }
    guard !names.isEmpty else { return "a column" }
    return "property " + names.map { "'\($0)'" }.joined(separator: ", ")
  }
}
