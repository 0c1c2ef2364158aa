import FieldpackCore
import FieldpackSQLite

/// The problem for a change that breaks a rule of its collection.
enum EditProblem {
  /// - Returns: `nil` for other errors.
  static func document(for error: FieldpackError, in layer: ServedLayer) -> ProblemDocument? {
    guard error.code == .constraint else { return nil }
    // A rule of the schema extension, such as a list of values or a range, has its own message.
    guard let cause = error.underlying as? SQLiteError else {
      var document = ProblemDocument(error, while: .body)
      document.status = 422
      return document
    }
    let columns = columns(in: cause.message, of: layer)
    var document: ProblemDocument
    switch cause.extendedCode {
    case notNull: document = ProblemDocument(422, "\(columns) cannot be null")
    case unique, primaryKey, rowID:
      document = ProblemDocument(409, "another feature has that value of \(columns)")
    case foreignKey:
      document = ProblemDocument(409, "a relation of the collection forbids this")
    default: document = ProblemDocument(422, "a rule of the collection forbids this")
    }
    document.code = error.code.name
    if let position = error.position, position.file == nil {
      document.detail = "\(position): \(document.detail)"
    }
    return document
  }

  // https://www.sqlite.org/rescode.html
  private static let notNull: Int32 = 1299
  private static let unique: Int32 = 2067
  private static let primaryKey: Int32 = 1555
  private static let rowID: Int32 = 2579
  private static let foreignKey: Int32 = 787

  /// The columns that a message of SQLite names, such as `UNIQUE constraint failed: wells.name`.
  private static func columns(in message: String, of layer: ServedLayer) -> String {
    guard let colon = message.firstRange(of: "failed: ") else { return "a column" }
    let known = layer.schema.columns.map(\.name)
    let names = message[colon.upperBound...].split(separator: ", ").compactMap { part in
      known.first { part.hasSuffix(".\($0)") }
    }
    guard !names.isEmpty else { return "a column" }
    return "property " + names.map { "'\($0)'" }.joined(separator: ", ")
  }
}
