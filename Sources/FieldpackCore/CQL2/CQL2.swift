import FieldpackGeometry

/// The words of CQL2 Text (OGC 21-065r2) that Fieldpack knows.
enum CQL2 {
  /// Words that are never a column unless in double quotes.
  static let reserved: Set<String> = [
    "AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "IS", "NULL", "TRUE", "FALSE",
  ]
  static let temporalFunctions = ["DATE", "TIMESTAMP"]
  static let relations: [String: SpatialRelation] = Dictionary(
    uniqueKeysWithValues: SpatialRelation.allCases.map { ("S_" + $0.rawValue.uppercased(), $0) })

  static func isGeometryName(_ word: String) -> Bool {
    GeometryType(name: word).map { $0 != .geometry && $0 != .curve && $0 != .surface } ?? false
  }

  /// Whether `token` may follow a geometry's name in WKT; a column may be called `point` too.
  static func startsGeometry(_ token: CQL2Token) -> Bool {
    token.kind == .leftParenthesis || ["EMPTY", "Z", "M", "ZM"].contains { token.isWord($0) }
  }

  /// The area of a box: two boxes where `west > east` crosses the antimeridian, a line or a point
  /// where it has no area; `nil` where the bounds do not go together.
  static func rectangle(
    west: Double, south: Double, east: Double, north: Double
  ) -> Geometry? {
    guard south <= north else { return nil }
    if west <= east {
      return box(west: west, south: south, east: east, north: north)
    }
    guard west <= 180, east >= -180 else { return nil }
    if east == -180 { return box(west: west, south: south, east: 180, north: north) }
    if west == 180 { return box(west: -180, south: south, east: east, north: north) }
    guard south < north else {
      let lines = [(west, 180), (-180, east)].map { line(($0.0, south), ($0.1, south)) }
      return .multiLineString(lines, .xy)
    }
    return .multiPolygon(
      [
        [ring(west: west, south: south, east: 180, north: north)],
        [ring(west: -180, south: south, east: east, north: north)],
      ], .xy)
  }

  private static func box(
    west: Double, south: Double, east: Double, north: Double
  ) -> Geometry {
    if west < east, south < north {
      return .polygon([ring(west: west, south: south, east: east, north: north)], .xy)
    }
    return west == east && south == north
      ? .point(x: west, y: south) : .lineString(line((west, south), (east, north)))
  }

  private static func line(
    _ start: (Double, Double), _ end: (Double, Double)
  ) -> CoordinateSequence {
    CoordinateSequence(dimensions: .xy, ordinates: [start.0, start.1, end.0, end.1])
  }

  /// Counterclockwise from the south-west.
  private static func ring(
    west: Double, south: Double, east: Double, north: Double
  ) -> CoordinateSequence {
    CoordinateSequence(
      dimensions: .xy,
      ordinates: [west, south, east, south, east, north, west, north, west, south])
  }
}

extension SpatialRelation {
  /// The relation of the other geometry to this one.
  public var mirrored: SpatialRelation {
    switch self {
    case .within: .contains
    case .contains: .within
    default: self
    }
  }
}

extension Filter {
  /// Reads a condition in CQL2 Text (OGC 21-065r2).
  ///
  /// Comparisons, `AND OR NOT`, `[NOT] BETWEEN`, `[NOT] IN`, `[NOT] LIKE`, `IS [NOT] NULL`, a
  /// boolean column alone, `DATE('2020-01-31')`, `TIMESTAMP('2020-01-31T12:00:00Z')`, and the exact
  /// relations `S_INTERSECTS S_DISJOINT S_WITHIN S_CONTAINS S_TOUCHES S_CROSSES S_OVERLAPS S_EQUALS`
  /// between the geometry column and a `BBOX(west, south, east, north)` or WKT, in either order.
  /// Geometries are in longitude and latitude; a box with `west > east` crosses the antimeridian.
  /// The name of the geometry column is read and not kept: a layer has one.
  ///
  /// In a text `''` and `\'` are a quote, so a backslash before a quote is written twice. Names
  /// that are not letters, digits, `_`, `.` and `:` stand in double quotes.
  ///
  /// - Throws: `.invalidArgument` with line and column, on a text of more than 1 MiB or nested more
  ///   than 64 deep too.
  public init(cql2: String) throws(FieldpackError) {
    var parser = try CQL2Parser(cql2)
    self = try parser.filter()
  }
}
