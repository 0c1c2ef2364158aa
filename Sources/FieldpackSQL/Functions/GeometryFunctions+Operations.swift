import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTopology

/// Planar measures, and geometries that GEOS makes from one or two others.
extension GeometryFunctions {
  func registerMeasures() throws(SQLiteError) {
    let measures: [(String, @Sendable (PlanarMeasures) -> Double)] = [
      ("ST_Area", \.area), ("ST_Length", \.length), ("ST_Perimeter", \.perimeter),
    ]
    for (name, measure) in measures {
      try add(name, 1) { call in
        let value = try call.withGeometry(0) { _, wkb in measure(try PlanarMeasures(wkb: wkb)) }
        if let value { call.context.set(value) }
      }
    }
    try add("ST_IsValid", 1) { call in
      let answer = try call.withGEOS(0) { geometry, _ in try geometry.isValid() }
      if let answer { call.context.set(answer) }
    }
    try add("ST_IsSimple", 1) { call in
      let answer = try call.withGEOS(0) { geometry, _ in try geometry.isSimple() }
      if let answer { call.context.set(answer) }
    }
    try add("ST_IsValidReason", 1) { call in
      let validity = try call.withGEOS(0) { geometry, _ in try geometry.validity() }
      switch validity {
      case nil: break
      case .valid?: call.context.set("Valid Geometry")
      case .invalid(let reason, let position)?:
        call.context.set(position.map { "\(reason) at \($0.x) \($0.y)" } ?? reason)
      }
    }
  }

  func registerOperations() throws(SQLiteError) {
    try make("ST_Centroid") { try $0.centroid() }
    try make("ST_PointOnSurface") { try $0.pointOnSurface() }
    try make("ST_ConvexHull") { try $0.convexHull() }
    try make("ST_Boundary") { try $0.boundary() }
    try make("ST_MakeValid") { try $0.madeValid() }
    try make("ST_UnaryUnion") { try $0.unionOfMembers() }
    try makeWithNumber("ST_Simplify") {
      try $0.simplified(tolerance: $1, preservingTopology: false)
    }
    try makeWithNumber("ST_SimplifyPreserveTopology") { try $0.simplified(tolerance: $1) }
    try add("ST_Buffer", 2...3) { call in
      guard let distance = try call.number(1), let style = try call.bufferStyle() else { return }
      if abs(distance) > 1 { try call.noteDegrees(distance) }
      try call.make(0) { try $0.buffered(by: distance, style: style) }
    }
    try makeOfTwo("ST_Union") { try $0.union($1) }
    try makeOfTwo("ST_Intersection") { try $0.intersection($1) }
    try makeOfTwo("ST_Difference") { try $0.difference($1) }
    try makeOfTwo("ST_SymDifference") { try $0.symmetricDifference($1) }
    try add("ST_ClosestPoint", 2) { call in
      guard let (ends, srsID) = try call.nearestPositions(), let ends else { return }
      call.set(.point(x: ends.here.x, y: ends.here.y), srsID: srsID)
    }
    try add("ST_ShortestLine", 2) { call in
      guard let (ends, srsID) = try call.nearestPositions(), let ends else { return }
      let line = CoordinateSequence([ends.here, ends.there], dimensions: .xy)
      call.set(.lineString(line), srsID: srsID)
    }
  }

  private func make(
    _ name: String, _ body: @escaping @Sendable (TopologyGeometry) throws -> TopologyGeometry
  ) throws(SQLiteError) {
    try add(name, 1) { call in try call.make(0, body) }
  }

  private func makeWithNumber(
    _ name: String,
    _ body: @escaping @Sendable (TopologyGeometry, Double) throws -> TopologyGeometry
  ) throws(SQLiteError) {
    try add(name, 2) { call in
      guard let number = try call.number(1) else { return }
      try call.make(0) { try body($0, number) }
    }
  }

  private func makeOfTwo(
    _ name: String,
    _ body: @escaping @Sendable (TopologyGeometry, TopologyGeometry) throws -> TopologyGeometry
  ) throws(SQLiteError) {
    try add(name, 2) { call in
      let made = try call.withTwo { a, b, srsID in (try body(a, b).wkb(), srsID) }
      if let (wkb, srsID) = made { try call.set(wkb: wkb.span.bytes, srsID: srsID) }
    }
  }
}

extension GeometryCall {
  /// The style of the segments that the third argument tells; `nil` where it is NULL.
  func bufferStyle() throws -> BufferStyle? {
    guard count > 2 else { return BufferStyle() }
    return try integer(2, in: 1...1_000).map { BufferStyle(quadrantSegments: $0) }
  }

  /// Tells the user where a distance is one in degrees.
  fileprivate func noteDegrees(_ distance: Double) throws {
    let srsID = try withGeometry(0) { header, _ in header.srsID }
    guard let srsID, srsID > 0, tools.isInDegrees(srsID) else { return }
    tools.file.note(
      "ST_Buffer() buffers by \(distance) degrees here, the unit of srs_id \(srsID). "
        + "Try: ST_GeodesicBuffer(…) for metres")
  }

  /// Gives an argument to GEOS; `nil` where the argument is NULL.
  func withGEOS<R>(_ index: Int, _ body: (TopologyGeometry, Int32) throws -> R) throws -> R? {
    try withGeometry(index) { header, wkb in
      try body(try tools.topology().read(wkb: wkb), header.srsID)
    }
  }

  /// Gives the first two arguments to GEOS, with their common `srs_id`.
  func withTwo<R>(
    _ body: (TopologyGeometry, TopologyGeometry, Int32) throws -> R
  ) throws -> R? {
    let answer = try withGEOS(0) { a, first in
      try withGEOS(1) { b, second in
        try body(a, b, try GeometryTools.common(first, second))
      }
    }
    return answer ?? nil
  }

  func make(_ index: Int, _ body: (TopologyGeometry) throws -> TopologyGeometry) throws {
    let made = try withGEOS(index) { geometry, srsID in (try body(geometry).wkb(), srsID) }
    if let (wkb, srsID) = made { try set(wkb: wkb.span.bytes, srsID: srsID) }
  }

  fileprivate func nearestPositions() throws -> ((here: Position, there: Position)?, Int32)? {
    try withTwo { a, b, srsID in (try a.nearestPositions(to: b), srsID) }
  }
}
