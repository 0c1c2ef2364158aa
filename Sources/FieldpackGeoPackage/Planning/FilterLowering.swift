package import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
package import FieldpackSQLite

/// Turns a filter into one SQL condition on a layer's table.
///
/// Negation is pushed down to the leaves, so a leaf is true or the feature is left out: nothing
/// above the leaves tells NULL from false.
///
/// Comparisons between values of different classes (number and text, say) are NULL, whatever
/// SQLite's affinities would make of them. `typeof` guards ensure it where the declared type
/// cannot.
package struct FilterLowering {
  let table: LayerTable
  /// Transforms literals from their SRS to the layer's.
  let project: any LiteralProjecting
  /// Whether a geometry that cannot be tested is reported and skipped.
  var skipsErrors = false
  /// How many conditions enclose this one as an operand.
  var conditionDepth = 0

  /// The condition as SQL. Throws `.notFound` for a column that the layer lacks.
  package func condition(_ filter: Filter) throws(FieldpackError) -> SQLFragment {
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
      if !negated, let range = try literalRange(value, low, high) { return range }
      let above = try compare(value, negated ? .less : .greaterOrEqual, low)
      let below = try compare(value, negated ? .greater : .lessOrEqual, high)
      return negated ? .or([above, below]) : .and([above, below])
    case .isIn(let value, let list): return try membership(value, list, negated: negated)
    case .isNull(let value): return try nullTest(value, negated: negated)
    case .like(let value, let pattern, let folding):
      return try like(value, LikePattern(pattern, folding: folding), negated: negated)
    case .envelope(let relation, let box, let srs):
      return try envelopeTest(relation, box, srs: srs, negated: negated)
    case .relation(let relation, let geometry, let srs, let column):
      return try relationTest(relation, geometry, srs: srs, column: column, negated: negated)
    case .vertex(let box, let srs):
      return try boxTest("fieldpack_vertex_within", box, srs: srs, negated: negated)
    case .test(let test, let geometry, let srs, let column):
      return try spatialTest(test, geometry, srs: srs, column: column, negated: negated)
    case .spatial(let relation, let a, let b):
      return try spatialTest(relation, a, b, negated: negated)
    case .temporal(let relation, let a, let b):
      return try temporalTest(relation, a, b).map { negated ? $0.negated : $0 } ?? .isFalse
    case .array(let relation, let a, let b):
      return try arrayTest(relation, a, b).map { negated ? $0.negated : $0 } ?? .isFalse
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

  /// The classes of values. Values of different classes do not compare.
  enum Class: Hashable {
    case number, text, blob, unknown
  }

  /// A column as SQL reads it.
  struct ColumnTerm {
    var sql: SQLFragment
    var valueClass: Class
    /// Declared DATE or DATETIME.
    var isTemporal = false
    /// Whether the declared type makes SQLite store every number as a number, or every value except
    /// blobs as text.
    var hasAffinity = false
  }

  /// A literal as SQL takes it.
  struct Literal {
    /// The literal as a parameter; `nil` for NULL and NaN, which compare with nothing.
    var parameter: SQLiteValue?
    var valueClass = Class.unknown
    /// Whether the literal is a date or an instant. SQL gets both as text.
    var isTemporal = false
    /// The moment that a date, an instant or a text names, in milliseconds since 1970.
    var moment: Int64?
    var isReal: Bool {
      if case .real = parameter { true } else { false }
    }
  }

  /// The column that an operand names; `nil` for every other operand.
  func column(
    _ operand: Operand, allowsGeometry: Bool = false
  ) throws(FieldpackError) -> ColumnTerm? {
    guard case .column(let name) = operand else { return nil }
    switch table.schema.role(of: name) {
    case .attribute(let index)?:
      let column = table.schema.columns[index]
      return Self.side("\(quoted(column.name))", column.type)
    case .id?:
      return ColumnTerm(
        sql: "\(table.publicID)", valueClass: table.textID == nil ? .number : .text,
        hasAffinity: true)
    case .geometry? where allowsGeometry:
      let geometry = try table.schema.geometryColumn(named: nil)
      return ColumnTerm(sql: "\(quoted(geometry.name))", valueClass: .blob)
    case .geometry?: throw table.schema.geometryIsNoValue(name)
    case nil: throw table.schema.unknownColumn(name)
    }
  }

  private static func side(_ sql: SQLFragment, _ type: ColumnType) -> ColumnTerm {
    switch type {
    case .boolean, .tinyInt, .smallInt, .mediumInt, .integer, .float, .double:
      ColumnTerm(sql: sql, valueClass: .number, hasAffinity: true)
    case .text, .json: ColumnTerm(sql: sql, valueClass: .text, hasAffinity: true)
    case .date, .dateTime: ColumnTerm(sql: sql, valueClass: .unknown, isTemporal: true)
    case .blob: ColumnTerm(sql: sql, valueClass: .blob)
    case .other: ColumnTerm(sql: sql, valueClass: .unknown)
    }
  }
}

extension SQLFragment {
  fileprivate var negated: SQLFragment { SQLFragment("NOT \(self)", stack: stack + 1) }
}

extension FilterLowering.Literal {
  init(_ value: Value) {
    switch value {
    case .null: break
    case .boolean(let flag): (parameter, valueClass) = (.integer(flag ? 1 : 0), .number)
    case .integer(let number): (parameter, valueClass) = (.integer(number), .number)
    case .real(let number):
      (parameter, valueClass) = (number.isNaN ? nil : .real(number), .number)
    case .text(var text):
      (parameter, valueClass) = (.text(text), .text)
      moment = text.withUTF8 { DateTimeParser.moment($0) }?.milliseconds
    case .blob(let bytes): (parameter, valueClass) = (.blob(bytes), .blob)
    case .date(let day):
      (parameter, valueClass, isTemporal) = (.text(day.description), .text, true)
      moment = day.startOfDay.milliseconds
    case .dateTime(let instant):
      (parameter, valueClass, isTemporal) = (.text(instant.description), .text, true)
      moment = instant.milliseconds
    }
  }
}

/// Transforms the literals of spatial conditions to a layer's SRS.
protocol LiteralProjecting {
  /// The geometry in degrees as WKB, the system that measures distances between it and the layer's
  /// features, and the text that identifies the layer's SRS.
  func degrees(
    _ geometry: Geometry, from srs: SRS?, beside table: LayerTable
  ) throws(FieldpackError) -> (wkb: [UInt8], system: GeodesicSystem, text: String)
  /// One box, or two where the box crosses the antimeridian.
  func boxes(_ box: Envelope, from srs: SRS?, to table: LayerTable) throws(FieldpackError)
    -> [Envelope]
  func geometry(_ geometry: Geometry, from srs: SRS?, to table: LayerTable) throws(FieldpackError)
    -> Geometry
}

extension LiteralProjecting {
  /// The default, for conformances that measure no distances.
  func degrees(
    _ geometry: Geometry, from srs: SRS?, beside table: LayerTable
  ) throws(FieldpackError) -> (wkb: [UInt8], system: GeodesicSystem, text: String) {
    throw FieldpackError(.unsupported, "no library is at hand that measures distances")
  }

  /// The box in the layer's SRS; `nil` where it crosses the antimeridian there.
  func oneBox(
    _ box: Envelope, from srs: SRS?, to table: LayerTable
  ) throws(FieldpackError) -> Envelope? {
    let boxes = try boxes(box, from: srs, to: table)
    return boxes.count == 1 ? boxes[0] : nil
  }
}
