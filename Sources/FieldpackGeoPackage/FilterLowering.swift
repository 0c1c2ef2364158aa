import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite

/// Turns a filter into one SQL condition on a layer's table.
///
/// Negation is pushed down to the leaves, so that NULL and false need no telling apart above them:
/// a leaf is true, or the feature is left out. Comparisons between values of different classes
/// (number and text, say) are NULL whatever SQLite's affinities would make of them; `typeof`
/// guards see to that where the declared type cannot.
struct FilterLowering {
  let table: LayerTable
  /// Takes a literal from its SRS to the layer's.
  let project: any LiteralProjecting

  /// The condition; a column that the layer lacks is an error of code `.notFound`.
  func condition(_ filter: Filter) throws(FieldpackError) -> SQLFragment {
    try lower(filter, negated: false)
  }

  func lower(_ filter: Filter, negated: Bool) throws(FieldpackError) -> SQLFragment {
    switch filter {
    case .all: return negated ? .isFalse : .isTrue
    case .and(let parts):
      let lowered = try lower(parts, negated: negated)
      return negated ? .or(lowered) : .and(lowered)
    case .or(let parts):
      let lowered = try lower(parts, negated: negated)
      return negated ? .and(lowered) : .or(lowered)
    case .not(let part): return try lower(part, negated: !negated)
    case .compare(let a, let comparison, let b):
      return try compare(a, negated ? comparison.negated : comparison, b)
    case .between(let value, let low, let high):
      let above = try compare(value, negated ? .less : .greaterOrEqual, low)
      let below = try compare(value, negated ? .greater : .lessOrEqual, high)
      return negated ? .or([above, below]) : .and([above, below])
    case .isIn(let value, let list): return try membership(value, list, negated: negated)
    case .isNull(let value): return try nullTest(value, negated: negated)
    case .like(let value, let pattern): return try like(value, pattern, negated: negated)
    case .envelope(let relation, let box, let srs):
      return try envelopeTest(relation, box, srs: srs, negated: negated)
    case .relation(let relation, let geometry, let srs):
      return try relationTest(relation, geometry, srs: srs, negated: negated)
    }
  }

  private func lower(
    _ parts: [Filter], negated: Bool
  ) throws(FieldpackError) -> [SQLFragment] {
    var lowered: [SQLFragment] = []
    for part in parts { lowered.append(try lower(part, negated: negated)) }
    return lowered
  }

  // MARK: Operands

  enum Class: Hashable {
    case number, text, blob, date, dateTime, unknown
  }

  struct Side {
    var sql: String
    var parameters: [SQLiteValue] = []
    var valueClass: Class
    var isColumn: Bool
    /// Whether the declared type makes SQLite store every number as a number, or every value that
    /// is not a blob as text.
    var hasAffinity = false
    var literal: Value?
  }

  func side(_ operand: Operand) throws(FieldpackError) -> Side {
    switch operand {
    case .literal(let value): return literalSide(value)
    case .column(let name):
      if let index = table.schema.columnIndex(name) {
        let column = table.schema.columns[index]
        return Self.columnSide(quoted(column.name), column.type)
      }
      if let id = table.schema.idColumn, id.lowercased() == name.lowercased() {
        return Side(
          sql: table.publicID, valueClass: table.textID == nil ? .number : .text, isColumn: true,
          hasAffinity: true)
      }
      throw missingColumn(name)
    }
  }

  private func missingColumn(_ name: String) -> FieldpackError {
    let known = table.schema.columns.map(\.name).joined(separator: ", ")
    return FieldpackError(
      .notFound, "layer '\(table.layer.id)' has no column '\(name)' (it has: \(known))",
      location: .init(layer: table.layer.id))
  }

  private static func columnSide(_ sql: String, _ type: ColumnType) -> Side {
    switch type {
    case .tinyInt, .smallInt, .mediumInt, .integer, .float, .double:
      Side(sql: sql, valueClass: .number, isColumn: true, hasAffinity: true)
    case .boolean: Side(sql: sql, valueClass: .number, isColumn: true, hasAffinity: true)
    case .text, .json: Side(sql: sql, valueClass: .text, isColumn: true, hasAffinity: true)
    case .date: Side(sql: sql, valueClass: .date, isColumn: true)
    case .dateTime: Side(sql: sql, valueClass: .dateTime, isColumn: true)
    case .blob: Side(sql: sql, valueClass: .blob, isColumn: true)
    case .other: Side(sql: sql, valueClass: .unknown, isColumn: true)
    }
  }

  private func literalSide(_ value: Value) -> Side {
    var side = Side(sql: "?", valueClass: .unknown, isColumn: false)
    side.literal = value
    switch value {
    case .null: side.parameters = [.null]
    case .boolean(let flag):
      (side.parameters, side.valueClass) = ([.integer(flag ? 1 : 0)], .number)
    case .integer(let number): (side.parameters, side.valueClass) = ([.integer(number)], .number)
    case .real(let number): (side.parameters, side.valueClass) = ([.real(number)], .number)
    case .text(let text): (side.parameters, side.valueClass) = ([.text(text)], .text)
    case .blob(let bytes): (side.parameters, side.valueClass) = ([.blob(bytes)], .blob)
    case .date(let day): (side.parameters, side.valueClass) = ([.text(day.description)], .date)
    case .dateTime(let instant):
      (side.parameters, side.valueClass) = ([.integer(instant.milliseconds)], .dateTime)
    }
    return side
  }
}

extension Comparison {
  var negated: Comparison {
    switch self {
    case .equal: .notEqual
    case .notEqual: .equal
    case .less: .greaterOrEqual
    case .lessOrEqual: .greater
    case .greater: .lessOrEqual
    case .greaterOrEqual: .less
    }
  }

  /// The comparison with its sides exchanged.
  var mirrored: Comparison {
    switch self {
    case .equal, .notEqual: self
    case .less: .greater
    case .lessOrEqual: .greaterOrEqual
    case .greater: .less
    case .greaterOrEqual: .lessOrEqual
    }
  }
}

/// Takes the literals of spatial conditions to a layer's SRS.
protocol LiteralProjecting {
  /// One box, or two where the box crosses the antimeridian.
  func boxes(_ box: Envelope, from srs: SRS?, to table: LayerTable) throws(FieldpackError)
    -> [Envelope]
  func geometry(_ geometry: Geometry, from srs: SRS?, to table: LayerTable) throws(FieldpackError)
    -> Geometry
}
