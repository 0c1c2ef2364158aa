/// A piece of SQL with the values that it binds.
///
///     let part: SQLPart = "\(column.expression) > \(bind: .integer(4))"
///
/// What is interpolated as a text is SQL; values are only bound.
struct SQLPart: Hashable, Sendable, ExpressibleByStringInterpolation {
  fileprivate enum Piece: Hashable, Sendable {
    case text(String)
    case value(PostgresValue)
  }

  private var pieces: [Piece]

  init(stringLiteral text: String) { pieces = [.text(text)] }
  init(_ sql: String) { pieces = [.text(sql)] }
  init(stringInterpolation: StringInterpolation) { pieces = stringInterpolation.pieces }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var pieces: [Piece] = []

    init(literalCapacity: Int, interpolationCount: Int) {}

    mutating func appendLiteral(_ text: String) { pieces.append(.text(text)) }
    mutating func appendInterpolation(_ sql: String) { pieces.append(.text(sql)) }
    mutating func appendInterpolation(_ number: Int) { pieces.append(.text(String(number))) }
    mutating func appendInterpolation(_ part: SQLPart) { pieces += part.pieces }
    mutating func appendInterpolation(bind value: PostgresValue) { pieces.append(.value(value)) }
  }

  static func += (part: inout SQLPart, other: SQLPart) { part.pieces += other.pieces }

  static func joined(_ parts: [SQLPart], by separator: String) -> SQLPart {
    var all = SQLPart("")
    for (index, part) in parts.enumerated() {
      if index > 0 { all.pieces.append(.text(separator)) }
      all.pieces += part.pieces
    }
    return all
  }

  /// The values in the order in which they are bound.
  var values: [PostgresValue] {
    pieces.compactMap { piece in
      if case .value(let value) = piece { value } else { nil }
    }
  }

  /// The same SQL with other values.
  func mapValues(_ change: (PostgresValue) -> PostgresValue) -> SQLPart {
    var part = self
    for index in part.pieces.indices {
      if case .value(let value) = part.pieces[index] { part.pieces[index] = .value(change(value)) }
    }
    return part
  }

  /// The statement with `$1`, `$2` … for the values.
  var statement: (sql: String, values: [PostgresValue]) {
    var sql = ""
    var values: [PostgresValue] = []
    for piece in pieces {
      switch piece {
      case .text(let text): sql += text
      case .value(let value):
        values.append(value)
        sql += "$\(values.count)"
      }
    }
    return (sql, values)
  }
}
