public import FieldpackCore

/// A filter bound to a schema, which answers for one row after another.
///
/// The rules, which every other evaluator of a `Filter` follows:
/// - Numbers compare by value, an integer with a real exactly; a boolean is 0 or 1. NaN is NULL, as
///   SQLite stores it.
/// - Texts compare by code point, blobs by byte.
/// - A comparison is temporal when one side is a date or an instant, or a column declared DATE or
///   DATETIME. In a temporal comparison a text that reads as a date, or as a date with time, counts
///   as the moment it names, to the millisecond: of a date its midnight in UTC, of a time without a
///   zone the time in UTC.
/// - Values of different classes (number, text, blob, moment) answer NULL: neither smaller, equal
///   nor greater.
/// - `IN` answers NULL where no value is equal and one comparison is NULL; an empty list is false.
/// - `LIKE` reads texts as they are stored; everything else answers NULL, as it does in the
///   functions of texts, see `TextFolding`.
/// - Arithmetic takes numbers, see `Arithmetic`; temporal conditions take what names a moment, see
///   `TemporalRelation`; conditions on arrays take lists and texts that are JSON arrays, see
///   `ArrayRelation`. Everything else answers NULL.
/// - Relations, patterns and planar distances are GEOS's, geodesic distances those of the layer's
///   reference system.
/// - `IS NULL` is the one test that a NULL answers; it may name the geometry column.
public struct FilterEvaluator: Sendable {
  private let root: Condition
  let topology = Locked(TopologyCache())

  /// - Throws: `.notFound` for a column that the schema lacks, `.unsupported` for a geometry in
  ///   another SRS than the layer's, `.invalidArgument` for an empty box.
  public init(_ filter: Filter, schema: Schema) throws(FieldpackError) {
    root = try FilterBinder(schema: schema).condition(filter)
  }

  /// Whether the row meets the condition; `nil` stands for NULL.
  public func evaluate(
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Bool? {
    try evaluate(root, row)
  }

  private func evaluate(
    _ condition: Condition, _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Bool? {
    switch condition {
    case .all: return true
    case .compare(let left, let comparison, let right):
      return comparison.answer(try scalar(left, row), try scalar(right, row))
    case .between(let value, let low, let high):
      let value = try scalar(value, row)
      return conjunction(
        Comparison.greaterOrEqual.answer(value, try scalar(low, row)),
        Comparison.lessOrEqual.answer(value, try scalar(high, row)))
    case .isIn(let value, let list): return try isIn(scalar(value, row), list, row)
    case .isNull(let term): return try isNull(term, row)
    case .like(let term, let pattern):
      guard case .text(let text) = try scalar(term, row).scalar else { return nil }
      return pattern.matches(text)
    case .envelope(let relation, let box): return try envelope(relation, box, row)
    case .relation(let relation, let geometry): return try relate(relation, geometry, row)
    case .vertex(let box): return try vertex(in: box, row)
    case .test(let test, let geometry, let srs): return try pass(test, geometry, srs, row)
    case .relationToItself(let relation): return try relateToItself(relation, row)
    case .relationOfLiterals(let relation, let wkb, let geometry):
      return try relate(relation, geometry, toLiteral: wkb)
    case .temporal(let relation, let a, let b):
      return relation.answer(try period(a, row), try period(b, row))
    case .array(let relation, let a, let b):
      return relation.answer(try items(a, row), try items(b, row))
    case .and(let parts): return try all(parts, row)
    case .or(let parts): return try any(parts, row)
    case .not(let part): return try evaluate(part, row).map { !$0 }
    }
  }

  private func all(
    _ parts: [Condition], _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Bool? {
    var answer: Bool? = true
    for part in parts {
      answer = conjunction(answer, try evaluate(part, row))
      if answer == false { break }
    }
    return answer
  }

  private func any(
    _ parts: [Condition], _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Bool? {
    var answer: Bool? = false
    for part in parts {
      switch try evaluate(part, row) {
      case true?: return true
      case false?: break
      case nil: answer = nil
      }
    }
    return answer
  }

  private func conjunction(_ a: Bool?, _ b: Bool?) -> Bool? {
    if a == false || b == false { return false }
    return a == nil || b == nil ? nil : true
  }
}

extension FilterEvaluator {
  private func isIn(
    _ value: Comparand, _ list: [Term], _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Bool? {
    var answer: Bool? = false
    for term in list {
      switch Comparison.equal.answer(value, try scalar(term, row)) {
      case true?: return true
      case false?: break
      case nil: answer = nil
      }
    }
    return answer
  }

  private func isNull(
    _ term: Term, _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Bool {
    guard case .geometry = term else { return try scalar(term, row).scalar.isNull }
    return row.withGeometry { _ in true } == nil
  }

  func scalar(
    _ term: Term, _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Comparand {
    switch term {
    case .literal(let comparand): return comparand
    case .geometry: return Comparand(scalar: .null)
    case .id: return Comparand(scalar: Scalar(row.id))
    case .column(let column, let isTemporal):
      return Comparand(scalar: Scalar(row.stored(at: column)), isTemporal: isTemporal)
    case .arithmetic(let a, let operation, let b):
      let result = operation.apply(try scalar(a, row).scalar, try scalar(b, row).scalar)
      return Comparand(scalar: result)
    case .call(let function, let terms):
      var arguments: [Scalar] = []
      for term in terms { arguments.append(try scalar(term, row).scalar) }
      return Comparand(scalar: function.apply(arguments))
    case .condition(let condition):
      let answer = try evaluate(condition, row)
      let scalar = answer.map { Scalar.integer($0 ? 1 : 0) } ?? .null
      return Comparand(scalar: scalar)
    }
  }
}

extension Filter {
  /// Whether the row meets the condition; `nil` stands for NULL.
  ///
  /// ``FieldpackStoreKit/FilterEvaluator`` has the rules, and is faster for more than one row.
  public func evaluate(
    _ row: borrowing some FeatureRow & ~Copyable, schema: Schema
  ) throws(FieldpackError) -> Bool? {
    try FilterEvaluator(self, schema: schema).evaluate(row)
  }
}

extension LegacyFilter {
  /// Whether `value` passes every operation; `false` for a value of another class than that of an
  /// operation.
  ///
  /// - Throws: `.invalidArgument` for an operation on features.
  public func accepts(_ value: Value) throws(FieldpackError) -> Bool {
    try condition(on: value).evaluate(ValueRow(), schema: Schema(layer: "value")) == true
  }
}
