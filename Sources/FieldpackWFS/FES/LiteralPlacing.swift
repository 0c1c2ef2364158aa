import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Brings the geometries of conditions into a layer's reference system.
struct LiteralPlacing {
  let layer: LayerID
  let srs: SRS
  let transformations: TransformationCache

  /// The boxes that together are a box in the layer's system; two where it crosses the
  /// antimeridian.
  func boxes(_ box: Envelope, _ given: SRS?) throws(FieldpackError) -> [Envelope] {
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

  func geometry(_ geometry: Geometry, _ given: SRS?) throws(FieldpackError) -> Geometry {
    guard let given, given != srs, !srs.isUndefined, !given.isUndefined else { return geometry }
    do throws(ProjectionError) {
      return try transformation(from: given).transform(geometry)
    } catch { throw failure(error) }
  }

  private func transformation(
    from given: SRS
  ) throws(ProjectionError) -> CoordinateTransformation {
    try transformations.transformation(from: SRSReference(given), to: SRSReference(srs))
  }

  private func failure(_ error: ProjectionError) -> FieldpackError {
    FieldpackError(error, location: .init(layer: layer))
  }

  /// The condition with all its geometries in the layer's system, as the evaluator for rows takes it;
  /// `nil` where that has no such form.
  func localized(_ filter: Filter) throws(FieldpackError) -> Filter? {
    switch filter {
    case .envelope(let relation, let box, let given):
      let boxes = try boxes(box, given)
      if boxes.count == 1 { return .envelope(relation, boxes[0]) }
      return relation == .intersects ? .or(boxes.map { .envelope(relation, $0) }) : nil
    case .vertex(let box, let given):
      let boxes = try boxes(box, given)
      return boxes.count == 1 ? .vertex(in: boxes[0]) : .or(boxes.map { .vertex(in: $0) })
    case .relation(let relation, let geometry, let given, let column):
      return .relation(relation, try self.geometry(geometry, given), column: column)
    case .test(let test, let geometry, let given, let column):
      return .test(test, try self.geometry(geometry, given), column: column)
    case .spatial(let relation, let a, let b): return try localized(relation, a, b)
    case .and(let parts): return try localized(parts).map { .and($0) }
    case .or(let parts): return try localized(parts).map { .or($0) }
    case .not(let part): return try localized(part).map { .not($0) }
    default: return filter.operands.contains(where: \.holdsCondition) ? nil : filter
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

  private func localized(_ parts: [Filter]) throws(FieldpackError) -> [Filter]? {
    var found: [Filter] = []
    for part in parts {
      guard let part = try localized(part) else { return nil }
      found.append(part)
    }
    return found
  }
}

extension Operand {
  /// Whether the operand is a condition, or holds one, in which geometries may be.
  fileprivate var holdsCondition: Bool {
    switch self {
    case .condition: true
    case .column, .literal: false
    case .arithmetic(let a, _, let b): a.holdsCondition || b.holdsCondition
    case .call(_, let operands), .list(let operands): operands.contains(where: \.holdsCondition)
    case .interval(let a, let b): (a?.holdsCondition ?? false) || (b?.holdsCondition ?? false)
    }
  }
}

func cosine(ofDegrees degrees: Double) -> Double { cos(degrees * .pi / 180) }
