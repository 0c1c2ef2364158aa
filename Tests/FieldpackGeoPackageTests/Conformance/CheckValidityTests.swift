import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import FieldpackTopology
import Testing

@testable import FieldpackCheck
@testable import FieldpackGeoPackage

/// Geometries that are not valid, found and mended.
@Suite struct CheckValidityTests {
  private static let bow = polygon(0, 0, 2, 2, 2, 0, 0, 2, 0, 0)

  /// Layers with a bow tie between many squares.
  private func package(_ type: GeometryType, count: Int = 1_500) async throws -> TestPackage {
    let package = try TestPackage()
    let store = try await package.store()
    try await store.write { (writer) throws(FieldpackError) in
      try writer.createLayer(
        Schema(layer: "areas", geometry: GeometryColumn(type: type, srs: .wgs84)))
      for index in 1...count {
        let x = Double(index % 100)
        let y = Double(index / 100)
        let square = polygon(x, y, x + 1, y, x + 1, y + 1, x, y + 1, x, y)
        let shape = index == 700 ? Self.bow : square
        try writer.create(
          Feature(geometry: type == .multiPolygon ? shape.promotedToMulti() : shape), in: "areas")
      }
    }
    await store.close()
    return package
  }

  @Test func `each is found with its row, reason and place`() async throws {
    let package = try await package(.polygon)
    #expect(try await package.check().lines == [])
    let (_, report) = try await package.check { $0.checksValidity = true }
    #expect(
      report.findings == [
        ConformanceFinding(
          .error, .validity, table: "areas", column: "geom", row: 700,
          place: Position(x: 1, y: 1), "Self-intersection at 1.0 1.0", isMendable: true)
      ])
    #expect(!report.isConformant && report.rowCount >= 1_500)
  }

  @Test(arguments: [GeometryType.polygon, .multiPolygon, .geometry])
  func `they are made valid in a type that holds them`(type: GeometryType) async throws {
    let package = try await package(type, count: 800)
    let (lines, report) = try await package.check {
      $0.checksValidity = true
      $0.repairs = true
    }
    #expect(lines == [] && report.notes == [] && report.isConformant)
    let change = type == .polygon ? ", and its type MULTIPOLYGON" : ""
    #expect(report.repairs.map(\.detail) == ["1 geometry made valid\(change)"])
    let store = try await package.store()
    let schema = try #require(try await store.schemas().first)
    #expect(schema.geometry?.type == (type == .geometry ? .geometry : .multiPolygon))
    let features = try await store.features(Query("areas"))
    #expect(features.count == 800)
    #expect(try features.allSatisfy { try $0.geometry?.validity() == .valid })
    #expect(features[699].geometry?.area() == 2)
    #expect(
      features.filter { $0.geometry?.type == .polygon }.count == (type == .geometry ? 799 : 0))
    await store.close()
  }

  @Test func `a geometry with m, or of which nothing is left, stays`() async throws {
    let package = try TestPackage()
    let store = try await package.store()
    try await store.write { (writer) throws(FieldpackError) in
      try writer.createLayer(
        Schema(layer: "areas", geometry: GeometryColumn(srs: .wgs84, m: .optional)))
      let flat = polygon(0, 0, 1, 1, 2, 2, 0, 0)
      for shape in [Self.bow.converted(to: .xym), flat] {
        try writer.create(Feature(geometry: shape), in: "areas")
      }
    }
    await store.close()
    let (_, report) = try await package.check {
      $0.checksValidity = true
      $0.repairs = true
    }
    #expect(report.repairs == [])
    #expect(report.findings.map(\.row) == [1, 2])
    #expect(report.findings.map(\.isMendable) == [false, false])
  }

  /// A circle by its three control points, turned by half of a line of 32 a quarter.
  private static func turnedCircle(_ radius: Double) -> String {
    let (x, y) = (radius * 0.999698818696204, radius * 0.024541228522912)
    return "CIRCULARSTRING(\(x) \(y), \(-x) \(-y), \(x) \(y))"
  }

  @Test func `curves are examined as lines, and stay as they are`() async throws {
    let package = try TestPackage()
    let store = try await package.store()
    let disc = "CIRCULARSTRING(1 0, -1 0, 1 0)"
    // The upper arc goes down to y = -1, across the line below.
    let crossed =
      "CURVEPOLYGON(COMPOUNDCURVE(CIRCULARSTRING(0 0, 2 -1, 4 0), (4 0, 4 -0.5, 0 -0.5, 0 0)))"
    let shapes = try [
      "CURVEPOLYGON(\(disc))", "CURVEPOLYGON(\(disc), \(Self.turnedCircle(0.9999)))",
      "CURVEPOLYGON(\(disc), \(Self.turnedCircle(1.1)))", crossed,
      "GEOMETRYCOLLECTION(\(crossed))", disc,
    ].map { try WKT.read($0) }
    try await store.write { (writer) throws(FieldpackError) in
      try writer.createLayer(Schema(layer: "areas", geometry: GeometryColumn(srs: .wgs84)))
      for shape in shapes { try writer.create(Feature(geometry: shape), in: "areas") }
    }
    let before = try await store.features(Query("areas"))
    await store.close()
    let (_, report) = try await package.check {
      $0.checksValidity = true
      $0.repairs = true
    }
    #expect(report.repairs == [] && !report.isConformant)
    let invalid = report.findings.filter { $0.requirement == .validity }
    #expect(invalid.map(\.row) == [3, 4, 5] && invalid.allSatisfy { !$0.isMendable })
    #expect(invalid.allSatisfy { $0.place != nil })
    let end = ", its arcs taken as lines; a repair leaves curves as they are"
    #expect(
      invalid.map { $0.reason.split(separator: " at ").first } == [
        "Hole lies outside shell", "Self-intersection", "Self-intersection",
      ])
    #expect(invalid.allSatisfy { $0.reason.hasSuffix(end) })
    let reopened = try await package.store()
    #expect(try await reopened.features(Query("areas")) == before)
    await reopened.close()
  }
}
