public import FieldpackGeometry

/// A filter bound to a schema, which answers for one row after another.
///
/// The rules, which every other evaluator of a ``Filter`` follows:
/// - Numbers compare by value, an integer with a real exactly; a boolean is 0 or 1. NaN is NULL, as
///   SQLite stores it.
/// - Texts compare by code point, blobs by byte.
/// - A comparison is temporal when one side is a date or an instant, or a column declared DATE or
///   DATETIME. In it every text that reads as a date (its midnight in UTC) or as a date with time
///   (UTC where it has no zone) counts as the moment it names, to the millisecond.
/// - Values of different classes (number, text, blob, moment) answer NULL: neither smaller, equal
///   nor greater.
/// - `IN` answers NULL where no value is equal and one comparison is NULL; an empty list is false.
/// - `LIKE` reads texts as they are stored; everything else answers NULL.
/// - `IS NULL` is the one test that a NULL answers; it may name the geometry column.
public struct FilterEvaluator: Sendable {
  let root: Condition
  let relate: Relate

  /// Whether the geometry in WKB, which is not empty, has the relation to the other.
  ///
  /// Core has no library that knows; the caller brings one.
  public typealias Relate =
    @Sendable (SpatialRelation, Geometry, RawSpan) throws(FieldpackError) -> Bool?

  /// Refuses to answer: for filters without exact relations.
  public static let noRelations: Relate = { relation, _, _ throws(FieldpackError) in
    throw FieldpackError(.unsupported, "no library is at hand that tests '\(relation.rawValue)'")
  }

  /// - Throws: `.notFound` for a column that the schema lacks, `.unsupported` for a geometry in
  ///   another SRS than the layer's, `.invalidArgument` for an empty box.
  public init(
    _ filter: Filter, schema: Schema, relate: @escaping Relate = Self.noRelations
  ) throws(FieldpackError) {
    root = try FilterBinder(schema: schema).condition(filter)
    self.relate = relate
  }

  /// Whether the row meets the condition; `nil` is NULL.
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
      return compare(scalar(left, row), comparison, scalar(right, row))
    case .between(let value, let low, let high):
      return conjunction(
        compare(scalar(value, row), .greaterOrEqual, scalar(low, row)),
        compare(scalar(value, row), .lessOrEqual, scalar(high, row)))
    case .isIn(let value, let list): return isIn(scalar(value, row), list, row)
    case .isNull(let term): return isNull(term, row)
    case .like(let term, let pattern):
      guard case .text(let text) = scalar(term, row).scalar else { return nil }
      return pattern.matches(text)
    case .envelope(let relation, let box): return try envelope(relation, box, row)
    case .relation(let relation, let geometry): return try relate(relation, geometry, row)
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
  ) -> Bool? {
    var answer: Bool? = false
    for term in list {
      switch compare(value, .equal, scalar(term, row)) {
      case true?: return true
      case false?: break
      case nil: answer = nil
      }
    }
    return answer
  }

  private func isNull(_ term: Term, _ row: borrowing some FeatureRow & ~Copyable) -> Bool {
    guard case .geometry = term else { return scalar(term, row).scalar.isNull }
    return row.withGeometry { _ in true } == nil
  }

  private func scalar(
    _ term: Term, _ row: borrowing some FeatureRow & ~Copyable
  ) -> Comparand {
    switch term {
    case .literal(let scalar, let isTemporal):
      return Comparand(scalar: scalar, isTemporal: isTemporal)
    case .geometry: return Comparand(scalar: .null, isTemporal: false)
    case .id: return Comparand(scalar: Scalar(row.id), isTemporal: false)
    case .column(let column, let isTemporal):
      return Comparand(scalar: Scalar(row.stored(at: column)), isTemporal: isTemporal)
    }
  }

  private func compare(_ a: Comparand, _ comparison: Comparison, _ b: Comparand) -> Bool? {
    let isTemporal = a.isTemporal || b.isTemporal
    let left = isTemporal ? a.scalar.asMoment : a.scalar
    let right = isTemporal ? b.scalar.asMoment : b.scalar
    return left.order(to: right).map { comparison.holds($0) }
  }

  private func envelope(
    _ relation: EnvelopeRelation, _ box: Envelope,
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Bool? {
    guard let envelope = try envelope(of: row) else { return nil }
    return switch relation {
    case .intersects: envelope.intersects(box)
    case .within: box.contains(envelope)
    case .contains: envelope.contains(box)
    case .disjoint: !envelope.intersects(box)
    }
  }

  private func envelope(
    of row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Envelope? {
    if let envelope = row.envelope { return envelope.isEmpty ? nil : envelope }
    let computed = try row.withGeometry { span throws(FieldpackError) in
      try reading(row.id) { () throws(GeometryError) in try WKB.envelope(of: span) }
    }
    return computed ?? nil
  }

  private func relate(
    _ relation: SpatialRelation, _ geometry: Geometry,
    _ row: borrowing some FeatureRow & ~Copyable
  ) throws(FieldpackError) -> Bool? {
    if let envelope = row.envelope, envelope.isEmpty { return nil }
    let answer = try row.withGeometry { span throws(FieldpackError) in
      let isEmpty = try reading(row.id) { () throws(GeometryError) in try WKB.isEmpty(span) }
      return isEmpty ? nil : try relate(relation, geometry, span)
    }
    return answer ?? nil
  }

  private func reading<R>(
    _ id: FeatureID, _ body: () throws(GeometryError) -> R
  ) throws(FieldpackError) -> R {
    do {
      return try body()
    } catch {
      throw FieldpackError(
        .invalidData, "the geometry of feature \(id): \(error)", location: .init(feature: id),
        underlying: error)
    }
  }
}

extension Filter {
  /// Whether the row meets the condition; `nil` is NULL. See ``FilterEvaluator`` for the rules, and
  /// use that for more than one row.
  public func evaluate(
    _ row: borrowing some FeatureRow & ~Copyable, schema: Schema,
    relate: @escaping FilterEvaluator.Relate = FilterEvaluator.noRelations
  ) throws(FieldpackError) -> Bool? {
    try FilterEvaluator(self, schema: schema, relate: relate).evaluate(row)
  }
}
