/// The type affinity of a column: how SQLite converts a value that is stored in the column or compared
/// with it.
package enum TypeAffinity: Sendable {
  case integer, real, numeric, text, none

  /// The affinity of a declared type (https://www.sqlite.org/datatype3.html, section 3.1).
  package init(declared type: String) {
    let upper = type.uppercased()
    if upper.contains("INT") {
      self = .integer
    } else if ["CHAR", "CLOB", "TEXT"].contains(where: upper.contains) {
      self = .text
    } else if upper.isEmpty || upper.contains("BLOB") {
      self = .none
    } else if ["REAL", "FLOA", "DOUB"].contains(where: upper.contains) {
      self = .real
    } else {
      self = .numeric
    }
  }

  package var isNumeric: Bool { self == .integer || self == .real || self == .numeric }

  /// A declared type that has this affinity.
  package var sql: String {
    switch self {
    case .integer: "INTEGER"
    case .real: "REAL"
    case .numeric: "NUMERIC"
    case .text: "TEXT"
    case .none: "BLOB"
    }
  }
}
