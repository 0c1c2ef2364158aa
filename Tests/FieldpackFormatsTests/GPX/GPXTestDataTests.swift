import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

/// The files of `TestData/gpx` and `TestData/csv`.
@Suite struct GPXTestDataTests {
  static func url(_ path: String) -> URL {
    Checkout.file("TestData/" + path)
  }

  @Test func `the walk has five layers`() throws {
    let reading = try readGPX(Self.url("gpx/harbour-walk.gpx"))
    #expect(
      GPXRealDataTests.layers(of: reading)
        == "waypoints 2 routes 1 tracks 1 route_points 2 track_points 4")
    #expect(reading.values("track_points", "gpxtpx_hr") == [88, 101, .null, .null])
    #expect(reading.values("routes", "number") == [1])
    #expect(
      reading.features("tracks").map(\.geometry) == [
        .multiLineString(
          [
            CoordinateSequence(
              dimensions: .xyzm,
              ordinates: [
                10.1394, 54.3233, 5, 1_714_550_400, 10.1421, 54.3251, 6.5, 1_714_550_670,
              ]),
            CoordinateSequence(
              dimensions: .xyzm,
              ordinates: [
                10.1487, 54.3288, 10, 1_714_551_600, 10.1502, 54.3301, 12.5, 1_714_551_840.5,
              ]),
          ], .xyzm)
      ])
  }

  @Test func `the tables are read`() throws {
    let input = try ByteInput(path: Self.url("csv/stations.csv").path)
    let stations = try GPXReading(CSVReader(input, options: ReadOptions(layer: "stations")))
    #expect(
      stations.columns("stations") == ["id INTEGER", "name TEXT", "depth REAL", "checked DATE"])
    #expect(stations.features("stations").map(\.id) == [1, 2, 3])
    #expect(stations.values("stations", "name") == ["Pier, north", "Lookout", "The \"Buoy\""])
    let areas = try GPXReading(
      CSVReader(ByteInput(path: Self.url("csv/areas.csv").path), options: ReadOptions(layer: "a")))
    #expect(areas.values("a", "code") == ["007", "008"])
    #expect(areas.schema("a")?.geometry == GeometryColumn(type: .multiPolygon, srs: .wgs84))
  }
}
