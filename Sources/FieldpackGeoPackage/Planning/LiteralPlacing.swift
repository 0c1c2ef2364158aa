package import FieldpackCore
package import FieldpackGeometry
package import FieldpackProjection

/// Brings the geometries of conditions into a layer's reference system, for stores that are no
/// GeoPackages.
package struct LiteralPlacing {
  package let layer: LayerID
  package let srs: SRS
  /// The layer's system as PROJ knows it.
  package let reference: SRSReference
  package let transformations: TransformationCache

  /// - Parameter reference: `nil` for the system that `srs` names.
  package init(
    layer: LayerID, srs: SRS, reference: SRSReference? = nil, transformations: TransformationCache
  ) {
    self.layer = layer
    self.srs = srs
    self.reference = reference ?? SRSReference(srs)
    self.transformations = transformations
  }

  /// The boxes that together are a box in the layer's system; two where it crosses the
  /// antimeridian.
  package func boxes(_ box: Envelope, _ given: SRS?) throws(FieldpackError) -> [Envelope] {
    guard box.minY <= box.maxY, !box.minX.isNaN, !box.maxX.isNaN else {
      throw FieldpackError(
        .invalidArgument, "the box is empty: its south lies above its north, or a bound is NaN")
    }
    guard let given, given != srs, !srs.isUndefined, !given.isUndefined else {
      return (given ?? srs) == .wgs84 ? box.splitAtAntimeridian : [box]
    }
    do throws(ProjectionError) {
      return try transformation(from: given).transform(box)
    } catch { throw failure(error) }
  }

  package func geometry(_ geometry: Geometry, _ given: SRS?) throws(FieldpackError) -> Geometry {
    guard let given, given != srs, !srs.isUndefined, !given.isUndefined else { return geometry }
    do throws(ProjectionError) {
      return try transformation(from: given).transform(geometry)
    } catch { throw failure(error) }
  }

  private func transformation(
    from given: SRS
  ) throws(ProjectionError) -> CoordinateTransformation {
    try transformations.transformation(from: SRSReference(given), to: reference)
  }

  private func failure(_ error: ProjectionError) -> FieldpackError {
    FieldpackError(error, location: .init(layer: layer))
  }

  /// The condition with all its geometries in the layer's system, as the evaluator for rows takes it.
  package func localized(_ filter: Filter) throws(FieldpackError) -> Filter {
    switch filter {
    case .all: return .all
    case .envelope(let relation, let box, let given):
      return Self.envelope(relation, try boxes(box, given))
    case .vertex(let box, let given):
      let boxes = try boxes(box, given)
      return boxes.count == 1 ? .vertex(in: boxes[0]) : .or(boxes.map { .vertex(in: $0) })
    case .relation(let relation, let geometry, let given, let column):
      return .relation(relation, try self.geometry(geometry, given), column: column)
    case .test(let test, let geometry, let given, let column):
      return .test(test, try self.geometry(geometry, given), column: column)
    case .spatial(let relation, let a, let b): return try localized(relation, a, b)
    case .compare(let a, let comparison, let b):
      return .compare(try localized(a), comparison, try localized(b))
    case .between(let value, let low, let high):
      return .between(try localized(value), try localized(low), try localized(high))
    case .isIn(let value, let list): return .isIn(try localized(value), try localized(list))
    case .isNull(let value): return .isNull(try localized(value))
    case .like(let value, let pattern, let folding):
      return .like(try localized(value), pattern: pattern, folding: folding)
    case .temporal(let relation, let a, let b):
      return .temporal(relation, try localized(a), try localized(b))
    case .array(let relation, let a, let b):
      return .array(relation, try localized(a), try localized(b))
    case .and(let parts): return .and(try localized(parts))
    case .or(let parts): return .or(try localized(parts))
    case .not(let part): return .not(try localized(part))
    }
  }

  /// The relation to a box that is given in one part or two. A feature contains the box when it contains
  /// both parts; for every other relation one part is enough.
  private static func envelope(_ relation: EnvelopeRelation, _ boxes: [Envelope]) -> Filter {
    if boxes.count == 1 { return .envelope(relation, boxes[0]) }
    switch relation {
    case .contains: return .and(boxes.map { .envelope(.contains, $0) })
    case .disjoint: return .not(.or(boxes.map { .envelope(.intersects, $0) }))
    case .intersects, .within: return .or(boxes.map { .envelope(relation, $0) })
    }
  }

  /// Two geometries of the condition stay in their own system.
  private func localized(
    _ relation: SpatialRelation, _ a: SpatialOperand, _ b: SpatialOperand
  ) throws(FieldpackError) -> Filter {
    switch (a, b) {
    case (.column, .geometry(let geometry, let given)):
      return .spatial(relation, a, .geometry(try self.geometry(geometry, given)))
    case (.geometry(let geometry, let given), .column):
      return .spatial(relation, .geometry(try self.geometry(geometry, given)), b)
    default: return .spatial(relation, a, b)
    }
  }

  private func localized(_ parts: [Filter]) throws(FieldpackError) -> [Filter] {
    var found: [Filter] = []
    for part in parts { found.append(try localized(part)) }
    return found
  }

  private func localized(_ operands: [Operand]) throws(FieldpackError) -> [Operand] {
    var found: [Operand] = []
    for operand in operands { found.append(try localized(operand)) }
    return found
  }

  /// The operand, in which conditions may stand.
  private func localized(_ operand: Operand) throws(FieldpackError) -> Operand {
    switch operand {
    case .column, .literal: return operand
    case .arithmetic(let a, let operation, let b):
      return .arithmetic(try localized(a), operation, try localized(b))
    case .call(let function, let arguments): return .call(function, try localized(arguments))
    case .condition(let filter): return .condition(try localized(filter))
    case .interval(var start, var end):
      if let bound = start { start = try localized(bound) }
      if let bound = end { end = try localized(bound) }
      return .interval(start, end)
    case .list(let operands): return .list(try localized(operands))
    }
  }
}
