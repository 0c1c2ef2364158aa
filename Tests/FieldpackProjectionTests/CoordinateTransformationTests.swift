import FieldpackGeometry
import FieldpackProjection
import Foundation
import Testing

/// A position and where pyproj 3.7.2 (PROJ 9.5.1, no grids) and cs2cs 9.1.1 put it.
struct KnownPosition: Sendable {
  let source: SRS
  let target: SRS
  let from: (x: Double, y: Double)
  let to: (x: Double, y: Double)

  static func wgs84(_ code: Int32, _ x: Double, _ y: Double, _ toX: Double, _ toY: Double) -> Self {
    KnownPosition(source: .wgs84, target: SRS("EPSG", code), from: (x, y), to: (toX, toY))
  }

  static let all: [KnownPosition] = [
    .wgs84(3857, 13.4, 52.5, 1491681.1766298658, 6891041.723891586),
    .wgs84(3857, -179.99, -60, -20036395.14788131, -8399737.889818357),
    .wgs84(32633, 13.4, 52.5, 391390.73133995204, 5817855.24081733),
    .wgs84(25833, 13.4, 52.5, 391390.7313388275, 5817855.240693387),
    .wgs84(3035, 13.4, 52.5, 4551801.9732882865, 3271028.9831598373),
    .wgs84(31370, 4.35, 50.85, 148679.44737789372, 171066.81032996625),
    .wgs84(28992, 5.38763888888889, 52.15616055555555, 155029.79411510268, 463109.954143601),
    .wgs84(27700, -0.1275, 51.507222, 530050.0719421335, 180360.8326354304),
    .wgs84(4258, 13.4, 52.5, 13.4, 52.5),
    .wgs84(2193, 174.76, -36.85, 1756911.9448501726, 5920321.818190336),
    .wgs84(2263, -73.98, 40.75, 989791.457348593, 212522.5192392543),
    .wgs84(3995, 100, 80, 1072632.372322282, 189134.02762174598),
    .wgs84(21781, 7.44, 46.95, 600104.109499608, 199879.6282376594),
  ]
}

@Suite struct CoordinateTransformationTests {
  @Test(arguments: KnownPosition.all)
  func `transforms as other programs do, to a hundredth of a millimetre`(
    known: KnownPosition
  ) throws {
    let transformation = try CoordinateTransformation(from: known.source, to: known.target)
    let moved = try #require(transformation.transform(Position(x: known.from.x, y: known.from.y)))
    #expect(abs(moved.x - known.to.x) < 1e-5, "\(known.target): x \(moved.x)")
    #expect(abs(moved.y - known.to.y) < 1e-5, "\(known.target): y \(moved.y)")
  }

  @Test(arguments: KnownPosition.all)
  func `comes back to where it started`(known: KnownPosition) throws {
    let there = try CoordinateTransformation(from: known.source, to: known.target)
    let back = try CoordinateTransformation(from: known.target, to: known.source)
    let start = Position(x: known.from.x, y: known.from.y)
    let end = try #require(there.transform(start).flatMap { back.transform($0) })
    #expect(abs(end.x - start.x) < 1e-7 && abs(end.y - start.y) < 1e-7, "\(known.target): \(end)")
  }

  @Test func `axes are x before y also where the authority says northing first`() throws {
    let zealand = try CoordinateTransformation(from: SRS("EPSG", 2193), to: .wgs84)
    let moved = try #require(zealand.transform(Position(x: 1_756_911.945, y: 5_920_321.818)))
    #expect(abs(moved.x - 174.76) < 1e-7 && abs(moved.y + 36.85) < 1e-7)
  }

  @Test func `the same system changes no bit and needs no operation`() throws {
    for srs in [SRS.wgs84, .undefinedCartesian, .undefinedGeographic] {
      let identity = try CoordinateTransformation(from: srs, to: srs)
      var values = [0.1 + 0.2, -0.0, 1e300, 5e-300]
      #expect(identity.transform(&values, dimensions: .xy) == [])
      #expect(values.map(\.bitPattern) == [0.1 + 0.2, -0.0, 1e300, 5e-300].map(\.bitPattern))
      #expect(identity.isIdentity)
      #expect(identity.report.operation == "none needed")
    }
  }

  @Test(arguments: Dimensions.allCases)
  func `interleaved ordinates keep their place and m`(dimensions: Dimensions) throws {
    let transformation = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", 3857))
    var one: [Double] = [13.4, 52.5]
    if dimensions.hasZ { one.append(34) }
    if dimensions.hasM { one.append(-7) }
    var values = one + one
    #expect(transformation.transform(&values, dimensions: dimensions) == [])
    var moved: [Double] = [1491681.1766298658, 6891041.723891586] + one.dropFirst(2)
    moved += moved
    #expect(zip(values, moved).allSatisfy { abs($0 - $1) < 1e-6 })
  }

  @Test func `failed positions are named and none of the others`() throws {
    let mercator = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", 3857))
    var x: [Double] = [13.4, 0, 13.4, .infinity, 13.4, 0]
    var y: [Double] = [52.5, 95, 52.5, 0, 52.5, -1000]
    #expect(mercator.transform(x: &x, y: &y) == [1, 3, 5])
    for good in [0, 2, 4] {
      #expect(abs(x[good] - 1491681.1766298658) < 1e-6)
      #expect(abs(y[good] - 6891041.723891586) < 1e-6)
    }
    for bad in [1, 3, 5] { #expect(x[bad] == .infinity && y[bad] == .infinity) }
    #expect(mercator.transform(Position(x: 0, y: 91)) == nil)
  }

  @Test func `a position far outside the area of use fails where the formulas end`() throws {
    let utm = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", 32633))
    var x: [Double] = [15, -75, 19.5]
    var y: [Double] = [0, 0, 48]
    #expect(utm.transform(x: &x, y: &y) == [1])
    #expect(abs(x[2] - 835_979.4) < 1000, "just outside the zone is transformed: \(x[2])")
  }

  @Test func `empty points and missing heights stay NaN`() throws {
    let transformation = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", 3857))
    var values: [Double] = [.nan, .nan, .nan, 13.4, 52.5, .nan, 13.4, 52.5, 8, .nan, .nan, 1]
    #expect(transformation.transform(&values, dimensions: .xyz) == [])
    #expect(
      values.map(\.isNaN) == [
        true, true, true, false, false, true, false, false, false, true, true, false,
      ])
    #expect(abs(values[3] - 1491681.1766298658) < 1e-6 && values[8] == 8 && values[11] == 1)
  }

  @Test func `an undefined system has no way to another and says why`() throws {
    for undefined in [SRS.undefinedCartesian, .undefinedGeographic] {
      let error = #expect(throws: ProjectionError.self) {
        _ = try CoordinateTransformation(from: undefined, to: .wgs84)
      }
      #expect(error?.kind == .undefinedSRS)
      #expect(error?.message.hasPrefix("\(undefined) says that the coordinates have no") == true)
    }
  }

  @Test func `two tasks transform at once, each with its own transformation`() async throws {
    let sums = try await withThrowingTaskGroup(of: Double.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let utm = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", 25833))
          var x = (0..<20_000).map { 12 + Double($0) * 1e-4 }
          var y = (0..<20_000).map { 50 + Double($0) * 1e-4 }
          #expect(utm.transform(x: &x, y: &y) == [])
          return x.reduce(0, +) + y.reduce(0, +)
        }
      }
      var sums: Set<Double> = []
      for try await sum in group { sums.insert(sum) }
      return sums
    }
    #expect(sums.count == 1)
  }

  @Test func `the cache gives the same transformation again`() throws {
    let cache = TransformationCache()
    let (degrees, metres) = (SRSReference(.wgs84), SRSReference(SRS("EPSG", 3857)))
    let first = try cache.transformation(from: degrees, to: metres)
    let again = try cache.transformation(
      from: SRSReference(SRS("EPSG", 4326)), to: SRSReference(SRS("epsg", 3857)))
    let back = try cache.transformation(from: metres, to: degrees)
    #expect(first === again)
    #expect(first !== back)
  }
}
