import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTopology

/// `fieldpack_intersects(geometry, wkb)` and its kin: exact relations to a constant geometry, which
/// is prepared once a statement.
///
/// Confined to the thread of its connection, as the GEOS context in it is.
final class RelationFunctions {
  private var context: TopologyContext?

  func evaluate(_ relation: SpatialRelation, _ call: FunctionContext) {
    guard call.kind(0) == .blob, call.kind(1) == .blob else { return }
    do {
      guard let prepared = try prepared(call) else { return }
      let answer = try call.withBytes(0) { blob in
        try Self.test(relation.topological, prepared, blob)
      }
      if let answer { call.set(answer) }
    } catch let error as GeometryError {
      call.setError("a geometry cannot be read: \(error)")
    } catch {
      call.setError("\(error)")
    }
  }

  private func prepared(_ call: FunctionContext) throws -> PreparedGeometry? {
    if let kept = call.auxiliary(1) as? PreparedGeometry { return kept }
    let context = try self.context ?? TopologyContext()
    self.context = context
    let prepared = try call.withBytes(1) { wkb in
      try PreparedGeometry(wkb: wkb, in: context)
    }
    call.setAuxiliary(prepared, 1)
    return prepared
  }

  /// The header's envelope first, which spares most geometries the exact test.
  private static func test(
    _ relation: TopologicalRelation, _ prepared: PreparedGeometry, _ blob: RawSpan
  ) throws -> Bool? {
    let header = try GeoPackageBinary(blob)
    if header.isFlaggedEmpty || header.isExtended { return nil }
    if let envelope = header.envelope,
      let decided = prepared.decision(on: relation, of: envelope)
    {
      return decided
    }
    return try prepared.test(relation, of: blob.extracting(header.bodyOffset...))
  }
}

extension SpatialRelation {
  var topological: TopologicalRelation {
    switch self {
    case .intersects: .intersects
    case .disjoint: .disjoint
    case .within: .within
    case .contains: .contains
    case .touches: .touches
    case .crosses: .crosses
    case .overlaps: .overlaps
    case .equals: .equals
    }
  }
}
