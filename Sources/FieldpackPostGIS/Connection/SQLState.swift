package import FieldpackCore

/// The code of five characters that PostgreSQL gives every error (its appendix A).
package struct SQLState: Hashable, Sendable, Error, CustomStringConvertible {
  package let text: String
  /// The column that broke a rule, where the server names one.
  package var column: String?

  package init(_ text: String) { self.text = text }

  package var description: String { "SQLSTATE \(text)" }

  /// The kind of failure that the code stands for.
  package var code: FieldpackError.Code {
    Self.single[text] ?? Self.classes[String(text.prefix(2))] ?? .io
  }

  private static let classes: [String: FieldpackError.Code] = [
    "08": .unavailable,  // connections
    "0A": .unsupported,
    "21": .invalidData,  // cardinality
    "22": .invalidData,
    "23": .constraint,
    "25": .unavailable,  // states of transactions
    "28": .permission,  // who signs in
    "2B": .constraint,  // dependent objects
    "3D": .notFound,  // databases
    "3F": .notFound,  // schemas
    "40": .busy,  // transactions to be repeated
    "42": .invalidArgument,  // the statement
    "44": .constraint,  // a view's condition
    "53": .unavailable,  // resources
    "54": .invalidArgument,  // limits of the program
    "55": .busy,  // an object's state
    "57": .unavailable,  // operators
    "58": .io,
    "P0": .constraint,  // what triggers raise
    "XX": .unsupported,  // internal errors, and those of PostGIS
  ]

  private static let single: [String: FieldpackError.Code] = [
    "22023": .invalidArgument,
    "25006": .readOnly,
    "40002": .constraint,
    "42501": .permission,
    "42602": .invalidArgument,
    "42622": .invalidArgument,
    "42701": .cannotCreate,
    "42710": .cannotCreate,
    "42P04": .cannotCreate,
    "42P06": .cannotCreate,
    "42P07": .cannotCreate,
    "42703": .notFound,
    "42704": .notFound,
    "42P01": .notFound,
    "42883": .unsupported,
    "53100": .full,
    "53300": .busy,
    "55000": .unsupported,
    "57P03": .unavailable,
    "XX001": .corrupt,
    "XX002": .corrupt,
  ]
}

extension FieldpackError {
  /// What PostgreSQL said of an error, when there was one.
  var sqlState: SQLState? { underlying as? SQLState }
}
