import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackFormats

/// The small files of the repository.
@Suite struct GeoJSONSamplesTests {
  private func read(
    _ name: String, _ change: (inout ReadOptions) -> Void = { _ in }
  ) throws(FieldpackError) -> GeoJSONReading {
    var options = ReadOptions(layer: "x")
    change(&options)
    let path = Checkout.file("TestData/geojson/\(name)").path
    return try GeoJSONReading(try ByteInput(path: path), options)
  }

  @Test func `SpatialConnect's features keep their ids and metadata`() throws {
    let reading = try read("spatialconnect.geojson")
    #expect(reading.columns == ["id TEXT", "name TEXT", "checked BOOLEAN", "metadata JSON"])
    #expect(reading.geometryType == "POINT Z")
    #expect(reading.recorder.column("id") == ["a-1", "a-2"])
    #expect(
      reading.recorder.column("metadata").first
        == .text(
          #"{"created_at":"2017-03-15 10:00:00 GMT","client":"3F2504E0","storeId":"FORM_STORE","#
            + #""layerId":"hydrants"}"#))
    #expect(
      reading.envelope == Envelope(minX: -90.05, minY: 29.97, maxX: -90.05, maxY: 29.97, z: 0...0))
    #expect(reading.result.notes == [])
  }

  @Test func `a text sequence is read over line breaks`() throws {
    let reading = try read("stations.geojsons")
    #expect(reading.columns == ["station TEXT", "seen DATETIME"])
    #expect(reading.rows.map(\.id) == [30, 10, 20])
    #expect(reading.recorder.column("station") == ["Nord", "Süd", "West"])
    #expect(
      reading.recorder.column("seen")
        == ["2024-05-01T04:00:00.000Z", "2024-05-01T06:30:00.250Z", nil])
  }

  @Test func `broken lines are passed over and listed`() throws {
    let reading = try read("broken-lines.geojsonl") { $0.skipsErrors = true }
    #expect(reading.recorder.column("n") == [1, 4])
    #expect(reading.result.skipped.listed.map(\.position?.feature) == [2, 3])
    #expect(
      reading.result.skipped.listed.map(\.reason) == [
        "',' or ']' expected, not '{'", "a coordinate is not a number (RFC 7946 section 3.1.1)",
      ])
    #expect(throws: FieldpackError.self) { try read("broken-lines.geojsonl") }
  }

  @Test func `every member may come late`() throws {
    let reading = try read("parcels-25833.geojson")
    #expect(
      reading.columns == [
        "FID_2 INTEGER", "owner JSON", "area REAL", "Area_2 TEXT", "valid BOOLEAN",
      ])
    #expect(reading.geometryType == "MULTIPOLYGON")
    #expect(reading.schema.geometry?.srs == SRS("EPSG", 25833))
    #expect(
      reading.rows.map(\.values) == [
        [7, #"{"name":"Stadt","since":1998}"#, 10_000.0, nil, nil],
        [nil, nil, 9999.5, "n/a", 1],
      ])
    #expect(
      reading.result.notes == [
        "property 'FID' is column 'FID_2'", "property 'Area' is column 'Area_2'",
        "rings that were open and are closed (RFC 7946 section 3.1.6): 1",
      ])
  }
}
