import FieldpackCore
import FieldpackGeometry
import FieldpackProjection
import FieldpackTestSupport
import FieldpackTopology
import Testing

@testable import FieldpackGeoPackage

/// Conditions on distances and patterns, held against every feature tested on its own.
@Suite struct SpatialTestTests {
  private static func position(_ random: inout FilterGenerator.SplitMix) -> (Double, Double) {
    // Around the antimeridian and the poles as often as anywhere else.
    let x = Double.random(in: -180...180, using: &random)
    let y = Double.random(in: -90...90, using: &random)
    switch Int.random(in: 0..<4, using: &random) {
    case 0: return (x < 0 ? -180 + x / -900 : 180 - x / 900, y / 10)
    case 1: return (x, y < 0 ? -90 - y / 90 : 90 - y / 90)
    default: return (x, y)
    }
  }

  private static func geometry(_ random: inout FilterGenerator.SplitMix) -> Geometry? {
    let (x, y) = position(&random)
    let (east, north) = (min(180, x + 0.4), min(90, y + 0.3))
    switch Int.random(in: 0..<8, using: &random) {
    case 0: return nil
    case 1: return .point(nil, .xy)
    case 2, 3: return line(x, y, east, north)
    case 4: return polygon(x, y, east, y, east, north, x, north, x, y)
    default: return .point(x: x, y: y)
    }
  }

  private static func package(
    _ geometries: [Geometry?], srs: SRS = .wgs84
  ) async throws -> TestPackage {
    let package = try TestPackage()
    try await package.withStore { (store) async throws in
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(Schema(layer: "places", geometry: GeometryColumn(srs: srs)))
        for geometry in geometries {
          try writer.create(Feature(geometry: geometry), in: "places")
        }
      }
    }
    return package
  }

  @Test func `features within metres are those that are measured one by one`() async throws {
    var random = FilterGenerator.SplitMix(state: 3)
    let geometries = (0..<1_500).map { _ in Self.geometry(&random) }
    let package = try await Self.package(geometries)
    let all = geometries.map { $0?.isEmpty == false ? $0 : nil }
    var found = 0
    try await package.withStore { (store) async throws in
      for round in 0..<60 {
        let target = Self.geometry(&random) ?? .point(x: 180, y: 0)
        let metres = [0.0, 500, 20_000, 300_000, 6_000_000][round % 5]
        let shape = try GeodesicShape(target)
        var (near, far): ([Int64], [Int64]) = ([], [])
        for (index, geometry) in all.enumerated() {
          let isNear = try geometry.flatMap { try GeodesicShape($0).isWithin(metres, of: shape) }
          if isNear == true { near.append(Int64(index + 1)) }
          if isNear == false { far.append(Int64(index + 1)) }
        }
        let filter = Filter.isWithin(metres, of: target, srs: .wgs84)
        #expect(try await store.ids(Query("places", where: filter)) == near)
        #expect(try await store.count(Query("places", where: filter)) == near.count)
        #expect(try await store.ids(Query("places", where: !filter)) == far)
        found += near.count
      }
    }
    #expect(found > 500)
  }

  @Test func `metres in a projected layer, and its own units`() async throws {
    var random = FilterGenerator.SplitMix(state: 8)
    let srs = SRS("EPSG", 25833)
    let positions = (0..<400).map { _ in
      Geometry.point(
        x: Double.random(in: 300_000...700_000, using: &random),
        y: Double.random(in: 5_600_000...6_000_000, using: &random))
    }
    let package = try await Self.package(positions, srs: srs)
    let centre = Position(x: 15, y: 52)
    let system = try GeodesicSystem(SRSReference(srs))
    let shape = try GeodesicShape(.point(centre, .xy))
    let own = try CoordinateTransformation(from: .wgs84, to: srs).transform(.point(centre, .xy))
    try await package.withStore { (store) async throws in
      for metres in [1_000.0, 20_000, 90_000, 150_000] {
        let near = try positions.enumerated().filter {
          try system.shape(of: WKB.bytes(of: $0.element).span.bytes).isWithin(metres, of: shape)
            == true
        }.map { Int64($0.offset + 1) }
        let filter = Filter.isWithin(metres, of: .point(centre, .xy), srs: .wgs84)
        #expect(try await store.ids(Query("places", where: filter)) == near)
        let flat = try positions.enumerated().filter {
          try $0.element.isWithin(metres, of: own) == true
        }.map { Int64($0.offset + 1) }
        let planar = Filter.isWithin(metres, of: own, metric: .planar)
        #expect(try await store.ids(Query("places", where: planar)) == flat)
        #expect(flat.count > 0 || metres < 30_000)
      }
    }
  }

  @Test(arguments: [
    "T*F**F***", "FF*FF****", "T********", "****T****", "T*T***T**", "FF*******", "0FFFFF212",
  ])
  func `patterns fit as GEOS says, with and without an index`(pattern: String) async throws {
    var random = FilterGenerator.SplitMix(state: 6)
    let geometries = (0..<300).map { _ -> Geometry in
      let x = Double(Int.random(in: 0..<8, using: &random))
      let y = Double(Int.random(in: 0..<8, using: &random))
      switch Int.random(in: 0..<3, using: &random) {
      case 0: return .point(x: x, y: y)
      case 1: return line(x, y, x + 2, y + 1)
      default: return polygon(x, y, x + 2, y, x + 2, y + 2, x, y + 2, x, y)
      }
    }
    let package = try await Self.package(geometries)
    let target = polygon(2, 2, 6, 2, 6, 6, 2, 6, 2, 2)
    let expected = try geometries.enumerated().filter {
      try $0.element.relates(to: target, pattern: pattern)
    }.map { Int64($0.offset + 1) }
    let filter = Filter.relates(to: target, pattern: pattern)
    try await package.withStore { (store) async throws in
      #expect(try await store.ids(Query("places", where: filter)) == expected)
      #expect(
        try await store.ids(Query("places", where: !filter)).count == 300 - expected.count)
    }
    try package.dropIndex("places")
    try await package.withStore { (store) async throws in
      #expect(try await store.ids(Query("places", where: filter)) == expected)
    }
  }

  @Test func `covers and coveredBy are told apart from contains and within`() async throws {
    let package = try await Self.package([
      .point(x: 2, y: 1), .point(x: 0, y: 1), .point(x: 9, y: 9),
      polygon(0, 0, 4, 0, 4, 4, 0, 4, 0, 0),
    ])
    let square = polygon(0, 0, 4, 0, 4, 4, 0, 4, 0, 0)
    try await package.withStore { (store) async throws in
      func ids(_ relation: SpatialRelation, _ geometry: Geometry) async throws -> [Int64] {
        try await store.ids(Query("places", where: .relation(relation, geometry)))
      }
      #expect(try await ids(.coveredBy, square) == [1, 2, 4])
      #expect(try await ids(.within, square) == [1, 4])
      #expect(try await ids(.covers, .point(x: 0, y: 1)) == [2, 4])
      #expect(try await ids(.contains, .point(x: 0, y: 1)) == [2])
    }
  }

  @Test func `what cannot be measured is an error, and an undefined system has no metres`()
    async throws
  {
    let package = try await Self.package([.point(x: 1, y: 1)], srs: .undefinedCartesian)
    await #expect(throws: FieldpackError.self) {
      try await package.withStore { (store) async throws in
        _ = try await store.ids(
          Query("places", where: .isWithin(10, of: .point(x: 1, y: 1))))
      }
    }
    try await package.withStore { (store) async throws in
      let planar = Filter.isWithin(10, of: .point(x: 1, y: 1), metric: .planar)
      #expect(try await store.ids(Query("places", where: planar)) == [1])
      let nothing = Filter.isWithin(-1, of: .point(x: 1, y: 1), metric: .planar)
      let error = await thrown { _ = try await store.ids(Query("places", where: nothing)) }
      #expect(error?.message == "a distance of -1.0 holds nothing")
    }
  }
}
