import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry

/// Turns a filter into a condition of PostgreSQL on a layer's table.
///
/// Negation is pushed down to the leaves, so a leaf is true or the feature is left out: nothing above
/// the leaves tells NULL from false. The rules are those of `FilterEvaluator`; what PostgreSQL cannot
/// test by them is left to it.
struct FilterLowering {
  let layer: PostGISLayer
  /// Brings literals into the layer's system.
  let placing: LiteralPlacing
  /// Whether a geometry that cannot be tested is to be passed over, which the server would not do.
  var skipsErrors = false

  func condition(_ filter: Filter) throws(FieldpackError) -> Lowered {
    try lower(filter, negated: false)
  }

  private func lower(_ filter: Filter, negated: Bool) throws(FieldpackError) -> Lowered {
    switch filter {
    case .all: return negated ? .never : .always
    case .and(let parts):
      let lowered = try lower(parts, negated: negated)
      return negated ? .any(lowered) : .all(lowered)
    case .or(let parts):
      let lowered = try lower(parts, negated: negated)
      return negated ? .all(lowered) : .any(lowered)
    case .not(let part): return try lower(part, negated: !negated)
    case .compare(let a, let comparison, let b):
      return compare(a, negated ? comparison.negated : comparison, b)
    case .between(let value, let low, let high):
      let parts = [
        compare(value, negated ? .less : .greaterOrEqual, low),
        compare(value, negated ? .greater : .lessOrEqual, high),
      ]
      return negated ? .any(parts) : .all(parts)
    case .isIn(let value, let list): return try membership(value, list, negated: negated)
    case .isNull(let value): return nullTest(value, negated: negated)
    case .like(let value, let pattern, let folding):
      return like(value, LikePattern(pattern, folding: folding), negated: negated)
    case .envelope(let relation, let box, let srs):
      return try envelopeTest(relation, box, srs, negated: negated)
    case .relation(let relation, let geometry, let srs, _):
      return try relationTest(relation, geometry, srs, negated: negated)
    case .vertex(let box, let srs):
      return negated ? .unknown : candidates(try placing.boxes(box, srs))
    case .test(let test, let geometry, let srs, _):
      return negated ? .unknown : try candidates(test, geometry, srs)
    case .spatial(let relation, let a, let b):
      return try spatialTest(relation, a, b, negated: negated)
    case .temporal(let relation, let a, let b):
      return negated ? .unknown : temporalCandidates(relation, a, b)
    case .array: return .unknown
    }
  }

  private func lower(
    _ parts: [Filter], negated: Bool
  ) throws(FieldpackError) -> [Lowered] {
    var lowered: [Lowered] = []
    for part in parts { lowered.append(try lower(part, negated: negated)) }
    return lowered
  }

  // MARK: Operands

  /// The column that an operand names, with the id; `nil` for every other operand.
  func column(_ operand: Operand) -> PostGISColumn? {
    guard case .column(let name) = operand else { return nil }
    switch layer.schema.role(of: name) {
    case .attribute(let index)?: return layer.columns[index]
    case .id?:
      if case .column(let column) = layer.id { return column }
      return nil
    case .geometry?, nil: return nil
    }
  }
}

extension Comparison {
  var isUpperBound: Bool { self == .less || self == .lessOrEqual }
}
