public import FieldpackCore
public import FieldpackGeometry

/// Makes conditions on the layer of ``FilterTable`` at random, the same ones for the same seed.
public struct FilterGenerator {
  private var numbers: SplitMix

  public init(seed: UInt64) { numbers = SplitMix(state: seed) }

  /// SplitMix64, by Sebastiano Vigna, in the public domain.
  public struct SplitMix: RandomNumberGenerator, Sendable {
    var state: UInt64

    public init(state: UInt64) { self.state = state }

    public mutating func next() -> UInt64 {
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &numbers) }

  private mutating func pick<T>(_ items: [T]) -> T { items[below(items.count)] }

  // MARK: Rows

  /// Values of every class, which need not fit the column that they go to.
  public static let values: [Value] = [
    .null, .integer(0), .integer(1), .integer(2), .integer(12), .integer(-5), .integer(.max),
    .integer(.min), .integer(9_007_199_254_740_993), .real(12.5), .real(3.5), .real(.nan),
    .real(.infinity), .real(-0.0), .real(1e300), .text("port"), .text("Porto"), .text("PORTÖ"),
    .text("Porto\u{308}"), .text(""), .text("12"), .text("many"), .text("100%_\\x"),
    .text("2020-03-01"), .text("2020-03-01T12:00:00Z"), .text("2020-03-01T14:00:00.000+02:00"),
    .text("1999-12-31T23:59:59.999Z"), .text("Straße"), .text("[\"port\", 12, [1]]"), .text("[]"),
    .text("[12.0, \"2020-03-01\", true]"), .text("[1"), .blob([]), .blob([0x50, 0xFF]),
  ]

  public mutating func value() -> Value { pick(Self.values) }

  static func box(_ west: Double, _ south: Double, _ east: Double, _ north: Double) -> Geometry {
    let ring = CoordinateSequence(
      dimensions: .xy,
      ordinates: [west, south, east, south, east, north, west, north, west, south])
    return .polygon([ring], .xy)
  }

  static func line(_ ordinates: Double...) -> Geometry {
    .lineString(CoordinateSequence(dimensions: .xy, ordinates: ordinates))
  }

  public static let geometries: [Geometry] = [
    .point(x: 0, y: 0), .point(x: 5, y: 5), .point(x: 10, y: 10), .point(x: -179.5, y: -17),
    line(0, 0, 10, 10), line(0, 10, 10, 0), line(5, -5, 5, 5), box(0, 0, 10, 10),
    box(5, 5, 15, 15), box(2, 2, 3, 3), box(10, 0, 20, 10), .point(nil, .xy),
    .multiPoint([Position(x: 0, y: 0), Position(x: 20, y: 20)], .xy),
    .geometryCollection([.point(nil, .xy)], .xy),
  ]

  /// A geometry, or none.
  public mutating func geometry() -> Geometry? { below(6) == 0 ? nil : pick(Self.geometries) }

  // MARK: Conditions

  /// A condition that nests `depth` deep at most.
  public mutating func filter(depth: Int = 3) -> Filter {
    switch below(depth > 0 ? 20 : 16) {
    case 0...4: return .compare(operand(depth), comparison(), operand(depth))
    case 5: return .between(operand(depth), operand(depth), operand(depth))
    case 6: return .isIn(operand(depth), (0..<1 + below(4)).map { _ in operand(depth) })
    case 7: return .isNull(below(5) == 0 ? .column("geom") : operand(depth))
    case 8: return like(depth)
    case 9 where below(3) == 0:
      return .vertex(in: Envelope(minX: 5, minY: 5, maxX: 10, maxY: 10))
    case 9:
      return .envelope(
        pick(EnvelopeRelation.allCases), Envelope(minX: 0, minY: 0, maxX: 10, maxY: 10))
    case 10, 11: return relation()
    case 12, 13: return .temporal(pick(TemporalRelation.allCases), period(), period())
    case 14, 15: return .array(pick(ArrayRelation.allCases), array(2), array(2))
    case 16: return .not(filter(depth: depth - 1))
    case 17: return .and((0..<1 + below(3)).map { _ in filter(depth: depth - 1) })
    case 18: return .or((0..<1 + below(3)).map { _ in filter(depth: depth - 1) })
    default: return pick([.all, .not(.all), .not(.not(filter(depth: depth - 1)))])
    }
  }

  private mutating func comparison() -> Comparison { pick(Comparison.allCases) }

  private mutating func column() -> Operand {
    .column(pick(["fid", "FID"] + FilterTable.columns.map(\.name)))
  }

  private mutating func literal() -> Operand {
    switch below(8) {
    case 0: .literal(.boolean(below(2) == 0))
    case 1: .literal(.date(pick([18_322, 18_321, -1].map { CalendarDate(dayNumber: $0) })))
    case 2: .literal(.dateTime(Instant(milliseconds: pick([1_583_064_000_000, -1, 0]))))
    default: .literal(value())
    }
  }

  private mutating func operand(_ depth: Int) -> Operand {
    switch below(depth > 0 ? 12 : 8) {
    case 0...4: column()
    case 5...7: literal()
    case 8, 9:
      .arithmetic(operand(depth - 1), pick(Arithmetic.allCases), operand(depth - 1))
    case 10: .call(pick(FilterFunction.allCases), [operand(depth - 1)])
    default: .condition(filter(depth: depth - 2))
    }
  }

  private mutating func like(_ depth: Int) -> Filter {
    let patterns = [
      "%", "", "port%", "Port_", "%T%", "_o%o", "100\\%\\_\\\\%", "2020%", "PORTÖ", "*[?", "%\\",
      "str%sse",
    ]
    let foldings: [[FilterFunction]] = [[], [], [.casei], [.accenti], [.casei, .accenti]]
    return .like(operand(depth), pattern: pick(patterns), folding: pick(foldings))
  }

  private mutating func relation() -> Filter {
    let relation = pick(SpatialRelation.allCases)
    let column: String? = pick([nil, "geom", "GEOM"])
    switch below(8) {
    case 0: return .spatial(relation, .column(column), .column(nil))
    case 1:
      return .spatial(
        relation, .geometry(pick(Self.geometries), srs: .wgs84),
        .geometry(pick(Self.geometries), srs: .wgs84))
    case 2:
      return .spatial(relation, .geometry(pick(Self.geometries), srs: .wgs84), .column(column))
    default: return .relation(relation, pick(Self.geometries), srs: .wgs84, column: column)
    }
  }

  private mutating func moment() -> Operand {
    below(3) == 0 ? literal() : .column(pick(["day", "seen", "note", "visits"]))
  }

  private mutating func period() -> Operand {
    guard below(2) == 0 else { return moment() }
    return .interval(below(4) == 0 ? nil : moment(), below(4) == 0 ? nil : moment())
  }

  private mutating func array(_ depth: Int) -> Operand {
    guard below(2) == 0 else { return .column(pick(["tags", "tags", "note", "visits"])) }
    return .list(
      (0..<below(4)).map { _ in
        depth > 0 && below(5) == 0 ? .list([operand(0)]) : operand(depth - 1)
      })
  }
}
