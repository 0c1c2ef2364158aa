import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackProjection

extension FilterLowering {
  // MARK: Envelopes

  /// The relation of envelopes in double precision. The operator `&&`, which the index answers, rounds
  /// envelopes outwards to single precision, so it only finds the candidates.
  func envelopeTest(
    _ relation: EnvelopeRelation, _ box: Envelope, _ srs: SRS?, negated: Bool
  ) throws(FieldpackError) -> Lowered {
    let boxes = try placing.boxes(box, srs)
    guard let geometry = layer.geometry, !geometry.isGeography else { return .unknown }
    let negated = (relation == .disjoint) != negated
    // A feature contains a box of two parts when it contains both; for every other relation one part is
    // enough.
    let tests = boxes.map { test(relation, $0, geometry, negated: negated) }
    return (relation == .contains) != negated ? .all(tests) : .any(tests)
  }

  private func test(
    _ relation: EnvelopeRelation, _ box: Envelope, _ geometry: PostGISLayer.GeometrySource,
    negated: Bool
  ) -> Lowered {
    // The envelope of a curve is not that of its positions.
    guard geometry.isSimple else { return negated ? .unknown : candidates([box]) }
    let sides = Sides(geometry)
    var tests: [(String, Comparison, Double)]
    switch relation {
    case .intersects, .disjoint:
      tests = [
        (sides.minX, .lessOrEqual, box.maxX), (sides.maxX, .greaterOrEqual, box.minX),
        (sides.minY, .lessOrEqual, box.maxY), (sides.maxY, .greaterOrEqual, box.minY),
      ]
    case .within:
      tests = [
        (sides.minX, .greaterOrEqual, box.minX), (sides.maxX, .lessOrEqual, box.maxX),
        (sides.minY, .greaterOrEqual, box.minY), (sides.maxY, .lessOrEqual, box.maxY),
      ]
    case .contains:
      tests = [
        (sides.minX, .lessOrEqual, box.minX), (sides.maxX, .greaterOrEqual, box.maxX),
        (sides.minY, .lessOrEqual, box.minY), (sides.maxY, .greaterOrEqual, box.maxY),
      ]
    }
    if negated { tests = tests.map { ($0.0, $0.1.negated, $0.2) } }
    let lowered = tests.map { test -> Lowered in
      Lowered("\(test.0) \(test.1.rawValue) \(bind: .real(test.2))")
    }
    if negated { return .any(lowered) }
    return .all([candidates([box])] + lowered).exact
  }

  /// The sides of a feature's envelope in SQL; NULL for an empty geometry.
  private struct Sides {
    let minX, maxX, minY, maxY: String

    init(_ geometry: PostGISLayer.GeometrySource) {
      let column = geometry.quoted
      if geometry.isPoint {
        (minX, maxX) = ("ST_X(\(column))", "ST_X(\(column))")
        (minY, maxY) = ("ST_Y(\(column))", "ST_Y(\(column))")
      } else {
        (minX, maxX) = ("ST_XMin(\(column))", "ST_XMax(\(column))")
        (minY, maxY) = ("ST_YMin(\(column))", "ST_YMax(\(column))")
      }
    }
  }

  /// The features whose envelope may touch one of the boxes, by the index.
  func candidates(_ boxes: [Envelope]) -> Lowered {
    guard let geometry = layer.geometry, !geometry.isGeography, boxes.count <= 16,
      boxes.allSatisfy(\.isFinite)
    else { return .unknown }
    let tests = boxes.map { box -> Lowered in
      let sides: [SQLPart] = [box.minX, box.minY, box.maxX, box.maxY].map { "\(bind: .real($0))" }
      let sql: SQLPart = """
        \(geometry.quoted) && ST_MakeEnvelope(\(.joined(sides, by: ", ")), \(Int(geometry.srid)))
        """
      return Lowered(sql, isExact: false)
    }
    guard let shards = layer.shards else { return Lowered.any(tests).asCandidate }
    let places = Lowered(SQLPart(shards.condition(touching: boxes)))
    return Lowered.all([.any(tests), places]).asCandidate
  }

  // MARK: Relations

  func relationTest(
    _ relation: SpatialRelation, _ geometry: Geometry, _ srs: SRS?, negated: Bool
  ) throws(FieldpackError) -> Lowered {
    let literal = try placing.geometry(geometry, srs)
    guard !literal.isEmpty, let envelope = literal.envelope else { return .never }
    guard let source = layer.geometry, !source.isGeography else { return .unknown }
    let isNear = (relation == .disjoint) == negated
    let near: [Lowered] = isNear ? [candidates([envelope])] : []
    guard source.isSimple, source.statesSRID || source.srid == 0, literal.isSimple, !skipsErrors
    else { return .all(near + [.unknown]) }
    if relation.castsRays, Self.castsRays(layer.schema.geometry?.type, literal.type) {
      return .all(near + [.unknown])
    }
    let wkb = WKB.bytes(of: literal)
    // Rows of a column that states no SRID may have any.
    let column = source.statesSRID ? source.quoted : "ST_SetSRID(\(source.quoted), 0)"
    let call: SQLPart = """
      \(relation.function)(\(column), \
      ST_GeomFromWKB(\(bind: .bytes(wkb)), \(Int(source.srid))))
      """
    // An empty geometry answers NULL here, and false in PostGIS.
    let test: SQLPart =
      negated || relation == .disjoint
      ? "CASE WHEN ST_IsEmpty(\(source.quoted)) THEN NULL ELSE \(negated ? "NOT " : "")\(call) END"
      : call
    return .all(near + [Lowered(test)]).exact
  }

  /// Whether PostGIS relates geometries of two types by casting rays, which near an edge answers otherwise
  /// than GEOS.
  private static func castsRays(_ a: GeometryType?, _ b: GeometryType) -> Bool {
    guard let a else { return true }
    return a.isPointal && b.isPolygonal || a.isPolygonal && b.isPointal
  }

  func spatialTest(
    _ relation: SpatialRelation, _ a: SpatialOperand, _ b: SpatialOperand, negated: Bool
  ) throws(FieldpackError) -> Lowered {
    switch (a, b) {
    case (.column, .geometry(let geometry, let srs)):
      return try relationTest(relation, geometry, srs, negated: negated)
    case (.geometry(let geometry, let srs), .column):
      return try relationTest(relation.mirrored, geometry, srs, negated: negated)
    default: return .unknown
    }
  }

  // MARK: Patterns and distances

  /// The features that a pattern or a distance may hold for.
  func candidates(
    _ test: SpatialTest, _ geometry: Geometry, _ srs: SRS?
  ) throws(FieldpackError) -> Lowered {
    if geometry.isEmpty { return .never }
    switch test {
    case .matrix(let pattern):
      guard RelationPattern.asksForSharedPoint(pattern) else { return .unknown }
      let envelope = try placing.geometry(geometry, srs).envelope
      return envelope.map { candidates([$0]) } ?? .unknown
    case .within(let distance, let metric):
      guard let boxes = try boxes(within: distance, metric, of: geometry, srs) else {
        return .unknown
      }
      return boxes.isEmpty ? .never : candidates(boxes)
    }
  }

  /// Boxes in the layer's system that hold everything within a distance of a geometry; `nil` where there
  /// are no such boxes.
  func boxes(
    within distance: Double, _ metric: DistanceMetric, of geometry: Geometry, _ srs: SRS?
  ) throws(FieldpackError) -> [Envelope]? {
    guard distance.isFinite else { return nil }
    let literal = try placing.geometry(geometry, srs)
    switch metric {
    case .planar:
      guard var box = literal.envelope else { return nil }
      box.minX = (box.minX - distance).nextDown
      box.minY = (box.minY - distance).nextDown
      box.maxX = (box.maxX + distance).nextUp
      box.maxY = (box.maxY + distance).nextUp
      return [box]
    case .geodesic:
      guard let system = try? GeodesicSystem(placing.reference),
        let shape = try? system.shape(of: WKB.bytes(of: literal).span.bytes)
      else { return nil }
      let boxes = shape.boxes(within: distance)
      guard boxes.allSatisfy(\.isFinite) else { return nil }
      return system.transformation == nil ? boxes : projected(boxes)
    }
  }

  /// Boxes of degrees in the layer's system, enlarged by 1 % of the longer side because transforming a
  /// box samples its sides only.
  private func projected(_ boxes: [Envelope]) -> [Envelope]? {
    var found: [Envelope] = []
    for box in boxes where box.maxX >= -180 && box.minX <= 180 {
      let part = Envelope(
        minX: max(-180, box.minX), minY: box.minY, maxX: min(180, box.maxX), maxY: box.maxY)
      guard let moved = try? placing.boxes(part, .wgs84) else { return nil }
      found += moved.map { box in
        let room = 0.01 * max(box.width, box.height)
        return Envelope(
          minX: box.minX - room, minY: box.minY - room, maxX: box.maxX + room,
          maxY: box.maxY + room)
      }
    }
    return found.isEmpty ? nil : found
  }
}

extension Lowered {
  /// The same test, which as a whole is exact although a part of it finds candidates only.
  fileprivate var exact: Lowered { Lowered(sql) }
}

extension Envelope {
  fileprivate var isFinite: Bool {
    minX.isFinite && minY.isFinite && maxX.isFinite && maxY.isFinite
  }
}

extension Geometry {
  /// Whether the geometry has neither curves nor members of different kinds.
  fileprivate var isSimple: Bool {
    switch type {
    case .point, .lineString, .polygon, .multiPoint, .multiLineString, .multiPolygon: true
    default: false
    }
  }
}

extension GeometryType {
  fileprivate var isPointal: Bool { self == .point || self == .multiPoint }
  fileprivate var isPolygonal: Bool { self == .polygon || self == .multiPolygon }
}

extension SpatialRelation {
  /// Whether PostGIS has code of its own for points and polygons, beside that of GEOS.
  fileprivate var castsRays: Bool {
    switch self {
    case .intersects, .disjoint, .within, .contains, .covers, .coveredBy: true
    case .touches, .crosses, .overlaps, .equals: false
    }
  }

  /// PostGIS's function.
  fileprivate var function: String {
    switch self {
    case .intersects: "ST_Intersects"
    case .disjoint: "ST_Disjoint"
    case .within: "ST_Within"
    case .contains: "ST_Contains"
    case .touches: "ST_Touches"
    case .crosses: "ST_Crosses"
    case .overlaps: "ST_Overlaps"
    case .equals: "ST_Equals"
    case .covers: "ST_Covers"
    case .coveredBy: "ST_CoveredBy"
    }
  }
}
