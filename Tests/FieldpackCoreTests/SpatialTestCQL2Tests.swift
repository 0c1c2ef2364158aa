import FieldpackCore
import FieldpackGeometry
import Testing

/// Distances and patterns in CQL2.
@Suite struct SpatialTestCQL2Tests {
  private static let point = Geometry.point(x: 7, y: 47)

  @Test(arguments: [
    (
      "S_DWITHIN(geometry, POINT(7 47), 100.5)",
      Filter.test(.within(100.5, .geodesic), point, srs: .wgs84)
    ),
    (
      "S_DWITHIN(geom, POINT(7 47), 2.0, 'planar')",
      .test(.within(2, .planar), point, srs: .wgs84, column: "geom")
    ),
    (
      "S_RELATE(geometry, POINT(7 47), 'T*F**F***')",
      .test(.matrix("T*F**F***"), point, srs: .wgs84)
    ),
    ("S_COVERS(geometry, POINT(7 47))", .relation(.covers, point, srs: .wgs84)),
    ("S_COVEREDBY(geometry, POINT(7 47))", .relation(.coveredBy, point, srs: .wgs84)),
  ])
  func `text and JSON say the same`(text: String, filter: Filter) throws {
    #expect(try Filter(cql2: text) == filter)
    #expect(try Filter(cql2: filter.cql2Text) == filter)
    #expect(try Filter(cql2JSON: filter.cql2JSON) == filter)
  }

  @Test func `either order of the geometries is read`() throws {
    #expect(
      try Filter(cql2: "S_RELATE(POINT(7 47), geometry, 'T01F2****')")
        == .test(.matrix("TF*02*1**"), Self.point, srs: .wgs84))
    #expect(
      try Filter(cql2: "S_DWITHIN(POINT(7 47), geometry, 3)")
        == .test(.within(3, .geodesic), Self.point, srs: .wgs84))
  }

  @Test(arguments: [
    "S_DWITHIN(geometry, POINT(7 47))", "S_DWITHIN(geometry, POINT(7 47), -1)",
    "S_DWITHIN(geometry, POINT(7 47), 1, 'miles')", "S_DWITHIN(geometry, geometry, 1)",
    "S_RELATE(geometry, POINT(7 47), 'T*')", "S_RELATE(geometry, POINT(7 47), 7)",
    "{\"op\":\"s_dwithin\",\"args\":[{\"property\":\"geometry\"}]}",
  ])
  func `what makes no sense is refused`(text: String) {
    let error = #expect(throws: FieldpackError.self) { try Filter(cql2: text) }
    #expect(error?.code == .invalidArgument)
  }
}
