import FieldpackGeometry
import FieldpackProjection
import Testing

@Suite struct OperationReportTests {
  @Test func `names the grid that a better operation lacks`() throws {
    let report = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", 27700)).report
    #expect(
      report
        == TransformationReport(
          source: "EPSG:4326", target: "EPSG:27700",
          operation: "Inverse of OSGB36 to WGS 84 (6) + British National Grid", accuracy: 2,
          missingGrids: ["uk_os_OSTN15_NTv2_OSGBtoETRS.tif"]))
  }

  @Test(arguments: [
    (Int32(32633), "UTM zone 33N", 0.0),
    (3857, "Popular Visualisation Pseudo-Mercator", 0),
    (25833, "Inverse of ETRS89 to WGS 84 (1) + UTM zone 33N", 1),
    (28992, "Inverse of Amersfoort to WGS 84 (4) + RD New", 1),
    (31370, "Inverse of BD72 to WGS 84 (3) + Belgian Lambert 72", 1),
    (4258, "Inverse of ETRS89 to WGS 84 (1)", 1),
  ])
  func `names the operation and its accuracy`(
    code: Int32, operation: String, accuracy: Double
  ) throws {
    let report = try CoordinateTransformation(from: .wgs84, to: SRS("EPSG", code)).report
    #expect(
      report
        == TransformationReport(
          source: "EPSG:4326", target: "EPSG:\(code)", operation: operation, accuracy: accuracy,
          missingGrids: []))
  }

  @Test func `an area of interest chooses the operation`() throws {
    let box = Envelope(minX: -3, minY: 56, maxX: -2.5, maxY: 56.5)
    let wide = try CoordinateTransformation(from: SRS("EPSG", 4267), to: .wgs84).report
    let cuba = try CoordinateTransformation(
      from: SRS("EPSG", 4267), to: .wgs84,
      areaOfInterest: Envelope(minX: -82, minY: 21, maxX: -78, maxY: 23)
    ).report
    let none = try CoordinateTransformation(
      from: SRS("EPSG", 4267), to: .wgs84, areaOfInterest: box
    ).report
    #expect(cuba.operation == "NAD27 to WGS 84 (88)")
    #expect(wide.operation != cuba.operation)
    #expect(none.operation == "Ballpark geographic offset from NAD27 to WGS 84")
    #expect(none.accuracy == nil)
  }
}
