import FieldpackCore
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport

@testable import FieldpackGeoPackage

/// A feature of the differential test, as it is stored.
struct RandomFeature {
  var geometry: Geometry?
  var i: Int64?
  var r: Double?
  /// NaN is written, which SQLite stores as NULL.
  var writesNaN = false
  var t: String?
  var b: Bool?
  var d: CalendarDate?
  /// The text in the file, which may have no fraction of a second.
  var m: String?
}

/// Makes features and conditions at random, the same ones for the same seed.
///
/// Half of all ordinates are whole numbers, so that borders meet borders and corners corners.
struct RandomSurvey {
  private var numbers: FilterGenerator.SplitMix

  init(seed: UInt64) { numbers = FilterGenerator.SplitMix(state: seed) }

  private mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &numbers) }
  private mutating func pick<T>(_ items: [T]) -> T { items[below(items.count)] }

  private static let words = [
    "", "Weg", "weg", "WEG", "Straße", "STRASSE", "Ångström", "ångström", "naïve", "100%", "100_",
    "a\\b", "O'Brien", "\"quoted\"", "łódź", "東京", "🌲 wood", "e\u{301}", "\u{e9}", " lead", "z",
    "Zaun", "zaun 12", "weg 12",
  ]

  // MARK: Features

  mutating func feature() -> RandomFeature {
    var feature = RandomFeature()
    feature.geometry = below(25) == 0 ? nil : geometry()
    if below(10) > 0 { feature.i = integer() }
    if below(10) > 0 {
      let number = real()
      feature.writesNaN = number.isNaN
      feature.r = number.isNaN ? nil : number
    }
    if below(10) > 0 { feature.t = pick(Self.words) }
    if below(10) > 0 { feature.b = below(2) == 0 }
    if below(10) > 0 { feature.d = date() }
    if below(10) > 0 {
      let text = instant().description
      feature.m = below(4) == 0 ? text.replacing(".000Z", with: "Z") : text
    }
    return feature
  }

  private mutating func integer() -> Int64 {
    pick([Int64(below(10)), Int64(below(1000)) - 500, .max, .min, 1 << 53 + 1, 0])
  }

  private mutating func real() -> Double {
    pick([
      Double(below(10)), Double(below(1000)) / 8, -Double(below(100)) / 3, .nan, .infinity,
      -.infinity, -0.0, 1e300, Double.leastNonzeroMagnitude,
    ])
  }

  private mutating func date() -> CalendarDate { CalendarDate(dayNumber: 18_000 + below(60)) }

  private mutating func instant() -> Instant {
    Instant(milliseconds: 1_583_000_000_000 + Int64(below(400)) * 250)
  }

  // MARK: Geometries

  private mutating func ordinate() -> Double {
    below(2) == 0 ? Double(below(21) - 10) : Double(below(20_001)) / 1000 - 10
  }

  private mutating func geometry() -> Geometry {
    switch below(40) {
    case 0:
      pick([
        .point(nil, .xy), .polygon([], .xy), .geometryCollection([], .xy), .multiPoint([], .xy),
        .lineString(CoordinateSequence()),
      ])
    case 1...14: .point(x: ordinate(), y: ordinate())
    case 15...21: .lineString(line())
    case 22...31: .polygon(polygon(), .xy)
    case 32, 33:
      .multiPoint((0..<1 + below(4)).map { _ in Position(x: ordinate(), y: ordinate()) }, .xy)
    case 34, 35: .multiLineString((0..<1 + below(3)).map { _ in line() }, .xy)
    default: .multiPolygon(apart(), .xy)
    }
  }

  /// A line of two to five positions, each another than the one before.
  private mutating func line() -> CoordinateSequence {
    var ordinates = [ordinate(), ordinate()]
    for _ in 0..<1 + below(4) {
      ordinates.append(ordinates[ordinates.count - 2] + Double(1 + below(4)) / pick([1, 2, 3]))
      ordinates.append(ordinate())
    }
    return CoordinateSequence(dimensions: .xy, ordinates: ordinates)
  }

  private func ring(_ west: Double, _ south: Double, _ width: Double, _ height: Double)
    -> CoordinateSequence
  {
    let (east, north) = (west + width, south + height)
    return CoordinateSequence(
      dimensions: .xy,
      ordinates: [west, south, east, south, east, north, west, north, west, south])
  }

  /// A rectangle with or without a hole, or a triangle.
  private mutating func polygon() -> [CoordinateSequence] {
    let (west, south) = (ordinate(), ordinate())
    let (width, height) = (Double(1 + below(6)), Double(1 + below(6)))
    switch below(12) == 0 ? 3 : below(3) {
    case 3:
      // Not valid: it crosses itself.
      return [
        CoordinateSequence(
          dimensions: .xy,
          ordinates: [
            west, south, west + width, south + height, west + width, south, west, south + height,
            west, south,
          ])
      ]
    case 0: return [ring(west, south, width, height)]
    case 1:
      let hole = ring(west + width / 4, south + height / 4, width / 2, height / 2)
      return [ring(west, south, width, height), hole]
    default:
      return [
        CoordinateSequence(
          dimensions: .xy,
          ordinates: [
            west, south, west + width, south, west + width / 2, south + height, west, south,
          ])
      ]
    }
  }

  /// Polygons side by side that share no point.
  private mutating func apart() -> [[CoordinateSequence]] {
    let (west, south) = (ordinate(), ordinate())
    return (0..<1 + below(3)).map { index in [ring(west + Double(index) * 2, south, 1, 1.5)] }
  }

  /// What relations are asked with; never empty.
  mutating func literal() -> Geometry {
    while true {
      let geometry = geometry()
      if !geometry.isEmpty { return geometry }
    }
  }

  // MARK: Conditions

  mutating func condition(literals: Int, depth: Int = 2) -> Condition {
    switch below(depth > 0 ? 18 : 12) {
    case 0...2: attribute()
    case 3: .isNull(pick(Condition.Field.allCases))
    case 4: .like(.t, pattern())
    case 5: between()
    case 6: list()
    case 7, 8: .box(pick(EnvelopeRelation.allCases), box())
    case 9...11:
      .relation(
        pick([
          .intersects, .disjoint, .within, .contains, .touches, .crosses, .overlaps, .equals,
        ]), below(literals))
    case 12...14: .and(parts(literals, depth))
    case 15, 16: .or(parts(literals, depth))
    default: .not(condition(literals: literals, depth: depth - 1))
    }
  }

  private mutating func parts(_ literals: Int, _ depth: Int) -> [Condition] {
    (0..<2 + below(2)).map { _ in condition(literals: literals, depth: depth - 1) }
  }

  private mutating func attribute() -> Condition {
    let field = pick(Condition.Field.allCases.dropLast())
    let comparison: Comparison =
      field == .b ? pick([.equal, .notEqual]) : pick(Comparison.allCases)
    return .compare(field, comparison, value(field))
  }

  private mutating func value(_ field: Condition.Field) -> Condition.Literal {
    switch field {
    case .i: return below(4) == 0 ? .real(Double(below(20)) / 2) : .integer(integer())
    case .r:
      let number = real()
      return number.isNaN ? .integer(Int64(below(10))) : .real(number)
    case .b: return .boolean(below(2) == 0)
    case .d: return .date(date())
    case .m: return .instant(instant())
    default: return .text(pick(Self.words))
    }
  }

  private mutating func between() -> Condition {
    let field: Condition.Field = pick([.i, .r, .t, .d, .m])
    return .between(field, value(field), value(field))
  }

  private mutating func list() -> Condition {
    let field: Condition.Field = pick([.i, .r, .t, .d, .m])
    return .isIn(field, (0..<1 + below(4)).map { _ in value(field) })
  }

  private mutating func pattern() -> String {
    pick([
      "%", "", "weg%", "Weg", "%12", "_eg%", "%ß%", "100\\%", "100\\_", "a\\\\b", "%'%", "__",
      "Å%", "%ö%", "stra%", "🌲%", "%e%", "Z%",
    ])
  }

  private mutating func box() -> Envelope {
    let (west, south) = (ordinate(), ordinate())
    return Envelope(
      minX: west, minY: south, maxX: west + Double(below(8)), maxY: south + Double(below(8)))
  }
}
