package import FieldpackGeometry

/// The words of CQL2 Text (OGC 21-065r2) that Fieldpack knows.
package enum CQL2 {
  /// Words that name a column only in double quotes.
  static let reserved: Set<String> = [
    "AND", "OR", "NOT", "BETWEEN", "IN", "LIKE", "IS", "NULL", "TRUE", "FALSE",
  ]
  static let instants = ["DATE", "TIMESTAMP"]
  static let relations: [String: SpatialRelation] = Dictionary(
    uniqueKeysWithValues: SpatialRelation.allCases.map { ($0.functionName, $0) })
  static let temporalRelations: [String: TemporalRelation] = Dictionary(
    uniqueKeysWithValues: TemporalRelation.allCases.map { ($0.functionName, $0) })
  static let arrayRelations: [String: ArrayRelation] = Dictionary(
    uniqueKeysWithValues: ArrayRelation.allCases.map { ($0.functionName, $0) })
  /// The names of all functions.
  package static let functions: [String] =
    FilterFunction.allCases.map(\.rawValue) + instants + ["INTERVAL"]
    + arrayRelations.keys.sorted() + (relations.keys + tests).sorted()
    + temporalRelations.keys.sorted()

  /// Every layer's geometry column answers to this name.
  static let anyGeometry = "geometry"
  package static let maximumByteCount = 1 << 20
  static let maximumDepth = 64
  /// The most arithmetic operations in a condition. Operations may be nested in one another, and
  /// SQLite takes terms 500 deep.
  static let maximumOperations = 300
  /// The deepest nesting of JSON in a condition. An operation nests an object and an array; a
  /// geometry nests up to 8 levels more.
  static let maximumJSONDepth = 2 * (maximumDepth + maximumOperations) + 8

  /// The geometry column that `name` asks for; `nil` for ``anyGeometry``, which is the layer's own.
  static func geometryColumn(_ name: String) -> String? {
    name.uppercasedASCII == anyGeometry.uppercasedASCII ? nil : name
  }

  /// A relation of two geometries; where only one of them is a column, in the form that an R-tree
  /// can answer.
  static func relation(
    _ relation: SpatialRelation, _ a: SpatialOperand, _ b: SpatialOperand
  ) -> Filter {
    switch (a, b) {
    case (.column(let name), .geometry(let geometry, let srs)):
      .relation(relation, geometry, srs: srs, column: name)
    case (.geometry(let geometry, let srs), .column(let name)):
      .relation(relation.mirrored, geometry, srs: srs, column: name)
    default: .spatial(relation, a, b)
    }
  }

  /// The condition that an operand is: a column of truth values, or a truth value; `nil` for any
  /// other operand.
  static func condition(_ operand: Operand) -> Filter? {
    switch operand {
    case .literal(.boolean(true)): .all
    case .literal(.boolean(false)): .not(.all)
    case .column: .compare(operand, .equal, .literal(.boolean(true)))
    case .condition(let filter): filter
    default: nil
    }
  }

  /// Refuses an operand that CQL2 cannot express as an argument of a temporal function.
  static func checkPeriod(_ operand: Operand) throws(FieldpackError) {
    func isMoment(_ operand: Operand) -> Bool {
      switch operand {
      case .column, .literal(.date), .literal(.dateTime): true
      default: false
      }
    }
    if case .interval(let start, let end) = operand {
      guard start.map(isMoment) ?? true, end.map(isMoment) ?? true else {
        throw unsupported("an interval from or to what is no column, date or time")
      }
      if isBackward(start, end) { throw unsupported("an interval that ends before it starts") }
    } else if !isMoment(operand) {
      throw unsupported("a temporal function of what is no column, date, time or interval")
    }
  }

  /// Refuses an operand that CQL2 cannot express as an argument of an array function.
  static func checkArray(_ operand: Operand) throws(FieldpackError) {
    switch operand {
    case .column, .list: break
    default: throw unsupported("an array function of what is no column or array")
    }
  }

  /// Whether both ends are given and the interval ends before it starts.
  static func isBackward(_ start: Operand?, _ end: Operand?) -> Bool {
    guard let first = start?.constant.flatMap(Moment.init),
      let last = end?.constant.flatMap(Moment.init)
    else { return false }
    return Period(from: first, to: last) == nil
  }

  static func isGeometryName(_ word: String) -> Bool {
    GeometryType(name: word).map { $0 != .geometry && $0 != .curve && $0 != .surface } ?? false
  }

  /// Whether `token` may follow a geometry's name in WKT; a column may be called `point` too.
  static func startsGeometry(_ token: CQL2Token) -> Bool {
    token.kind == .leftParenthesis || ["EMPTY", "Z", "M", "ZM"].contains { token.isWord($0) }
  }

  /// The area of a box: two boxes where `west > east` crosses the antimeridian, a line or a point
  /// where the box has no area; `nil` where the bounds are no box.
  package static func rectangle(
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

  /// The ring of the box, counterclockwise from the south-west.
  private static func ring(
    west: Double, south: Double, east: Double, north: Double
  ) -> CoordinateSequence {
    CoordinateSequence(
      dimensions: .xy,
      ordinates: [west, south, east, south, east, north, west, north, west, south])
  }
}

extension SpatialRelation {
  /// The name as CQL2 Text writes it.
  var functionName: String { "S_" + rawValue.uppercased() }
}

extension Filter {
  /// Reads a condition in CQL2 Text, or in CQL2 JSON where it begins with `{` (OGC 21-065r2).
  ///
  /// Comparisons, `AND OR NOT`, `[NOT] BETWEEN`, `[NOT] IN`, `[NOT] LIKE`, `IS [NOT] NULL` and a
  /// boolean column alone; arithmetic with `+ - * / % DIV ^`; `CASEI` and `ACCENTI`;
  /// `DATE('2020-01-31')` and `TIMESTAMP('2020-01-31T12:00:00Z')`; temporal functions such as
  /// `T_DURING(seen, INTERVAL('2020-01-01', '..'))`; array functions such as
  /// `A_CONTAINS(tags, ('a', 'b'))`; and the exact relations `S_INTERSECTS S_DISJOINT S_WITHIN
  /// S_CONTAINS S_TOUCHES S_CROSSES S_OVERLAPS S_EQUALS` and, beyond the
  /// standard, `S_COVERS S_COVEREDBY` between the geometry column,
  /// `BBOX(west, south, east, north)` and WKT. Beyond the standard, too,
  /// `S_RELATE(geom, POINT(7 47), 'T*F**F***')` tests a DE-9IM pattern,
  /// `S_DWITHIN(geom, POINT(7 47), 100)` a geodesic distance in metres, and
  /// `S_DWITHIN(geom, POINT(7 47), 100, 'planar')` one in units of the layer's reference system.
  ///
  /// Geometries are in longitude and latitude; a box with `west > east` crosses the antimeridian.
  /// Heights in a box of six numbers are ignored. Every layer's geometry column answers to
  /// `geometry`, unless an attribute has that name; any other name must be the column's own.
  ///
  /// In a text `''` and `\'` are a quote, so a backslash before a quote is written twice. Names
  /// that are not letters, digits, `_`, `.` and `:` stand in double quotes.
  ///
  /// - Throws: `.invalidArgument` with line and column, on a text of more than 1 MiB, nested more
  ///   than 64 deep or with more than 300 arithmetic operations too.
  public init(cql2: String) throws(FieldpackError) {
    let isJSON = cql2.utf8.first { $0 > 0x20 } == UInt8(ascii: "{")
    guard !isJSON else {
      self = try Filter(cql2JSON: cql2)
      return
    }
    var parser = try CQL2Parser(cql2)
    self = try parser.filter()
  }
}
