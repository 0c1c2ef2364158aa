import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTopology

/// Relations and distances of two geometries. A geometry that is constant in the statement, or
/// stays the same from row to row, is prepared once.
extension GeometryFunctions {
  func registerRelations() throws(SQLiteError) {
    for relation in SpatialRelation.allCases {
      // SpatiaLite's functions of these names answer -1, which is true, where a geometry is NULL.
      for name in ["ST_\(relation.functionName)", relation.functionName] {
        try add(name, 2) { call in
          if let answer = try call.test(relation) { call.context.set(answer) }
        }
      }
    }
    try add("ST_Relate", 2) { call in
      let matrix = try call.withTwo { a, b, _ in try a.relate(to: b) }
      if let matrix { call.context.set(matrix) }
    }
    try add("ST_Relate", 3) { call in
      guard let pattern = try call.text(2) else { return }
      let answer = try call.withTwo { a, b, _ in try a.relates(to: b, pattern: pattern) }
      if let answer { call.context.set(answer) }
    }
    try add("ST_Distance", 2) { call in
      if let distance = try call.distance() { call.context.set(distance) }
    }
    try add("ST_DWithin", 3) { call in
      guard let limit = try call.number(2) else { return }
      if let answer = try call.isWithin(limit) { call.context.set(answer) }
    }
  }
}

extension SpatialRelation {
  /// The name without `ST_`: `intersects` gives `Intersects`.
  var functionName: String { rawValue.prefix(1).uppercased() + rawValue.dropFirst() }
}

extension GeometryCall {

  /// NULL where one geometry is empty, as in filters.
  fileprivate func test(_ relation: SpatialRelation) throws -> Bool? {
    try withPair(
      prepared: { prepared, isSecond, header, wkb in
        let asked = isSecond ? relation : relation.mirrored
        if header.isFlaggedEmpty { return nil }
        if let envelope = header.envelope,
          let decided = prepared.decision(on: asked, of: envelope)
        {
          return decided
        }
        return try prepared.test(asked, of: wkb)
      },
      plain: { a, b in try a.has(relation, to: b) },
      apart: { relation == .disjoint })
  }

  fileprivate func distance() throws -> Double? {
    try withPair(
      prepared: { prepared, _, _, wkb in try prepared.distance(to: wkb) },
      plain: { a, b in try a.distance(to: b) }, apart: nil)
  }

  fileprivate func isWithin(_ limit: Double) throws -> Bool? {
    try withPair(
      prepared: { prepared, _, header, wkb in
        if let box = header.envelope, let other = prepared.envelope,
          !header.isFlaggedEmpty, box.gap(to: other) > limit
        {
          return false
        }
        return try prepared.isWithin(limit, of: wkb)
      },
      plain: { a, b in try a.isWithin(limit, of: b) }, apart: nil)
  }

  /// - Parameters:
  ///   - prepared: the answer from a prepared geometry, whether that is the second argument, and
  ///     the other geometry.
  ///   - apart: the answer where the envelopes share no point.
  private func withPair<R>(
    prepared: (PreparedGeometry, Bool, GeoPackageBinary, RawSpan) throws -> R?,
    plain: (TopologyGeometry, TopologyGeometry) throws -> R?, apart: (() -> R)?
  ) throws -> R? {
    let answer = try withGeometry(0) { first, firstWKB in
      try withGeometry(1) { second, secondWKB -> R? in
        _ = try GeometryTools.common(first.srsID, second.srsID)
        if let apart, let a = first.envelope, let b = second.envelope, !first.isFlaggedEmpty,
          !second.isFlaggedEmpty, !a.intersects(b)
        {
          return apart()
        }
        if let ready = try ready(1, secondWKB) { return try prepared(ready, true, first, firstWKB) }
        if let ready = try ready(0, firstWKB) {
          return try prepared(ready, false, second, secondWKB)
        }
        let topology = try tools.topology()
        return try plain(try topology.read(wkb: firstWKB), try topology.read(wkb: secondWKB))
      }
    }
    return (answer ?? nil) ?? nil
  }

  private func ready(_ index: Int, _ wkb: RawSpan) throws -> PreparedGeometry? {
    try context.withBytes(index) { blob in
      try tools.prepared(index, of: self, blob, wkb)
    }
  }
}
