import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTopology

/// `fieldpack_intersects(geometry, wkb, id, skips)` and its kin: exact relations to a constant
/// geometry, which is prepared once a statement.
///
/// A geometry that cannot be tested ends the statement; where `skips` is 1 it answers NULL. Either
/// way it is remembered until the cursor asks ``takeFailures()`` after each step.
///
/// Confined to the thread of its connection, as the GEOS context in it is.
final class RelationFunctions {
  private var context: TopologyContext?
  private var failures: [Failure] = []
  /// The R-tree and the rows of one statement are tested against the same geometry.
  private var latest: (wkb: [UInt8], geometry: PreparedGeometry)?

  /// A geometry that could not be tested.
  struct Failure {
    var feature: FeatureID
    var reason: String
  }

  func evaluate(_ relation: SpatialRelation, _ call: FunctionContext) {
    guard call.kind(0) != .null, call.kind(1) == .blob else { return }
    do {
      let prepared = try prepared(call)
      let answer = try call.withBytes(0) { blob in
        try Self.test(relation.topological, prepared, blob)
      }
      if let answer { call.set(answer) }
    } catch {
      let id: FeatureID =
        call.kind(2) == .text ? .text(call.string(2) ?? "") : .integer(call.integer(2))
      failures.append(Failure(feature: id, reason: "\(error)"))
      if call.integer(3) == 0 {
        call.setError("the geometry of feature \(id) cannot be tested: \(error)")
      }
    }
  }

  func takeFailures() -> [Failure] {
    if failures.isEmpty { return [] }
    defer { failures = [] }
    return failures
  }

  private func prepared(_ call: FunctionContext) throws -> PreparedGeometry {
    if let kept = call.auxiliary(1) as? PreparedGeometry { return kept }
    let prepared = try call.withBytes(1) { wkb in try self.prepared(wkb) }
    call.setAuxiliary(prepared, 1)
    return prepared
  }

  /// The geometry made ready, or what was made of the same one last.
  func prepared(_ wkb: RawSpan) throws(TopologyError) -> PreparedGeometry {
    let bytes = wkb.withUnsafeBytes { Array($0) }
    if let latest, latest.wkb == bytes { return latest.geometry }
    let context: TopologyContext
    if let known = self.context { context = known } else { context = try TopologyContext() }
    self.context = context
    let prepared = try PreparedGeometry(wkb: wkb, in: context)
    latest = (bytes, prepared)
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
