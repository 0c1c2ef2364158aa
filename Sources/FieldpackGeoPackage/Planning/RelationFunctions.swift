import FieldpackCore
package import FieldpackGeometry
import FieldpackProjection
import FieldpackSQLite
package import FieldpackTopology

/// `fieldpack_intersects(geometry, wkb, id, skips)` and its siblings: exact relations to a constant
/// geometry, which is prepared once per statement.
///
/// A geometry that cannot be tested ends the statement, or gives NULL where `skips` is 1. Either
/// way the failure is kept until the cursor calls ``takeFailures()`` after the step.
///
/// Confined to the thread of its connection, as its GEOS context is.
package final class RelationFunctions {
  private var context: TopologyContext?
  private var failures: [Failure] = []
  let geodesics = GeodesicCache()
  /// The latest geometry, because the R-tree and the rows of one statement are tested against the
  /// same one.
  private var latest: (wkb: [UInt8], geometry: PreparedGeometry)?

  /// A geometry that could not be tested.
  package struct Failure {
    /// `nil` where rows have no ids.
    var feature: FeatureID?
    package var reason: String
  }

  func evaluate(_ relation: SpatialRelation, _ call: FunctionContext) {
    answer(call, idAt: 2) {
      let prepared = try prepared(call)
      return try call.withBytes(0) { blob in try Self.test(relation, prepared, blob) }
    }
  }

  /// Answers the result of `body` for the geometry in argument 0 and the WKB in argument 1; `nil`
  /// is NULL. The feature's id is the argument at `index`, and the next one tells whether errors
  /// are skipped.
  private func answer(
    _ call: FunctionContext, idAt index: Int, _ body: () throws -> Bool?
  ) {
    guard call.kind(0) != .null, call.kind(1) == .blob else { return }
    note(call, idAt: index, body)
  }

  private func note(_ call: FunctionContext, idAt index: Int, _ body: () throws -> Bool?) {
    do {
      if let answer = try body() { call.set(answer) }
    } catch {
      let id = featureID(call, index)
      failures.append(Failure(feature: id, reason: "\(error)"))
      if call.integer(index + 1) == 0 {
        let name = id.map { "the geometry of feature \($0)" } ?? "a geometry"
        call.setError("\(name) cannot be tested: \(error)")
      }
    }
  }

  private func featureID(_ call: FunctionContext, _ index: Int) -> FeatureID? {
    switch call.kind(index) {
    case .null: nil
    case .text: .text(call.string(index) ?? "")
    default: .integer(call.integer(index))
    }
  }

  /// `fieldpack_states_system(geometry, system, id, skips)`: 1 where the geometry states that SRS,
  /// else an error or NULL. A blob that is no geometry passes.
  func evaluateSystem(_ call: FunctionContext) {
    guard call.kind(0) == .blob else { return }
    note(call, idAt: 2) {
      let header = call.withBytes(0) { blob in try? GeoPackageBinary(blob) }
      if let header, Int64(header.srsID) != call.integer(1) {
        throw OtherSystem(stated: Int64(header.srsID), first: call.integer(1))
      }
      return true
    }
  }

  /// `fieldpack_relate(geometry, wkb, pattern, id, skips)`: whether the DE-9IM matrix fits the
  /// pattern.
  func evaluateMatrix(_ call: FunctionContext) {
    answer(call, idAt: 3) {
      let (other, pattern) = (try prepared(call).base, call.string(2) ?? "")
      return try Self.withBody(of: call) { _, wkb in
        let feature = try other.reading(wkb)
        if feature.isEmpty || other.isEmpty { return nil }
        return try feature.relates(to: other, pattern: pattern)
      }
    }
  }

  /// `fieldpack_dwithin(geometry, wkb, distance, system, id, skips)`: whether the two geometries
  /// are at most the distance apart. The distance is planar where `system` is NULL. Otherwise it is
  /// geodesic, `system` is the SRS of the geometry, and the WKB is in degrees.
  func evaluateDistance(_ call: FunctionContext) {
    answer(call, idAt: 4) {
      let (measure, limit) = (try measure(call), call.real(2))
      return try Self.withBody(of: call) { header, wkb in
        if let envelope = header.envelope, !measure.transforms,
          measure.leastDistance(to: envelope) > limit
        {
          return false
        }
        return try measure.isWithin(limit, of: wkb)
      }
    }
  }

  private static func withBody(
    of call: FunctionContext, _ body: (GeoPackageBinary, RawSpan) throws -> Bool?
  ) throws -> Bool? {
    try call.withBytes(0) { blob in
      let header = try GeoPackageBinary(blob)
      if header.isFlaggedEmpty || header.isExtended { return nil }
      return try body(header, blob.extracting(header.bodyOffset...))
    }
  }

  private func measure(_ call: FunctionContext) throws -> DistanceMeasure {
    if let kept = call.auxiliary(1) as? DistanceMeasure { return kept }
    let made = try makeMeasure(call)
    call.setAuxiliary(made, 1)
    return made
  }

  private func makeMeasure(_ call: FunctionContext) throws -> DistanceMeasure {
    guard let text = call.string(3) else {
      return DistanceMeasure(try call.withBytes(1) { wkb in try self.prepared(wkb) })
    }
    let reference = try SRS(text).map { SRSReference($0) } ?? SRSReference(wkt: text)
    let system = try geodesics.system(reference)
    let shape = try call.withBytes(1) { wkb in
      try GeodesicShape(wkb: wkb, on: system.ellipsoid)
    }
    return DistanceMeasure(shape, system)
  }

  package func takeFailures() -> [Failure] {
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

  /// The prepared geometry; the latest one is kept.
  package func prepared(_ wkb: RawSpan) throws(TopologyError) -> PreparedGeometry {
    let bytes = wkb.withUnsafeBytes { Array($0) }
    if let latest, latest.wkb == bytes { return latest.geometry }
    let context: TopologyContext
    if let known = self.context { context = known } else { context = try TopologyContext() }
    self.context = context
    let prepared = try PreparedGeometry(wkb: wkb, in: context)
    latest = (bytes, prepared)
    return prepared
  }

  /// Tests the header's envelope first, which spares most geometries the exact test.
  package static func test(
    _ relation: SpatialRelation, _ prepared: PreparedGeometry, _ blob: RawSpan
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

/// The error for a geometry in another SRS than the first one of its column.
struct OtherSystem: Error, CustomStringConvertible {
  let stated: Int64
  let first: Int64

  var description: String {
    "it is in the reference system \(stated), and the first one is in \(first), to which "
      + "ST_Transform(…, \(first)) brings it"
  }
}
