import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackFormats

/// Files of others, with the numbers that GDAL 3.12.4 and GEOS find in them.
///
/// Where we differ it is said beside the file.
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct GeoJSONFilesTests {
  struct File: CustomTestStringConvertible {
    var name: String
    var features: Int
    var type: String
    var srs: String
    var columns: Int
    var bounds: [Double]?
    var positions: Int
    var area: Double
    var length: Double

    init(
      _ name: String, _ features: Int, _ type: String, srs: String = "EPSG:4326",
      columns: Int = 0, _ bounds: [Double]?, positions: Int, area: Double = 0, length: Double = 0
    ) {
      self.name = name
      self.features = features
      self.type = type
      self.srs = srs
      self.columns = columns
      self.bounds = bounds
      self.positions = positions
      self.area = area
      self.length = length
    }

    var testDescription: String { name }
  }

  // GDAL calls WGS 84 with heights EPSG:4979; RFC 7946 section 4 knows one SRS, and a GeoPackage
  // keeps it as 4326 with z.
  static let good: [File] = [
    .init(
      "good-feature-with-id.geojson", 1, "POINT", columns: 1, [102, 0.5, 102, 0.5], positions: 1),
    .init("good-feature.geojson", 1, "POINT", columns: 1, [102, 0.5, 102, 0.5], positions: 1),
    .init(
      "good-featurecollection-bbox3d.geojson", 2, "POINT Z", columns: 1, [100, 0.5, 102, 2.5],
      positions: 2),
    .init(
      "good-featurecollection.geojson", 3, "GEOMETRY", columns: 2, [100, 0, 105, 1],
      positions: 10, area: 1, length: 8.242640687119286),
    .init(
      "good-linestring.geojson", 1, "LINESTRING", [100, 0, 101, 1], positions: 2,
      length: 1.4142135623730951),
    .init("good-multipoint.geojson", 1, "MULTIPOINT", [100, 0, 100, 0], positions: 1),
    .init("good-point.geojson", 1, "POINT", [100, 0, 100, 0], positions: 1),
    .init(
      "issue82.geojson", 1, "MULTIPOLYGON",
      [-263.581814304, -141.771674902, -140.618503296, -62.011689383], positions: 29,
      area: 4267.269542183762, length: 728.9974885912882),
    .init(
      "mb_geometrycollection-xyz.geojson", 1, "GEOMETRYCOLLECTION Z", [100, 0, 102, 1],
      positions: 3, length: 1.4142135623730951),
    .init(
      "mb_linestring-xyz.geojson", 1, "LINESTRING Z", [100, 0, 101, 1], positions: 2,
      length: 1.4142135623730951),
    .init(
      "mb_multilinestring-xyz.geojson", 1, "MULTILINESTRING Z", [100, 0, 103, 3], positions: 4,
      length: 2.8284271247461903),
    .init("mb_multipoint-xyz.geojson", 1, "MULTIPOINT Z", [100, 0, 101, 1], positions: 2),
    .init(
      "mb_multipolygon-xyz.geojson", 1, "MULTIPOLYGON Z", [100, 0, 103, 3], positions: 15,
      area: 1.64, length: 10.4),
    .init(
      "mb_one.geojson", 1, "POLYGON", columns: 2, [100, 0, 101, 1], positions: 5, area: 1,
      length: 4),
    .init("mb_point-xyz.geojson", 1, "POINT Z", [100, 0, 100, 0], positions: 1),
    .init(
      "mb_polygon-xyz.geojson", 1, "POLYGON Z", [100, 0, 101, 1], positions: 5, area: 1, length: 4),
    .init("nullgeometry.geojson", 1, "GEOMETRY", nil, positions: 0),
  ]

  static let real: [File] = [
    .init(
      "all.geojson", 7, "GEOMETRY Z?", columns: 3,
      [-109.456, -10.833305984, 79.453125, 54.597041516], positions: 31, area: 2372.372619131633,
      length: 484.558185769427),
    .init(
      "countries.geojson", 179, "MULTIPOLYGON", columns: 2, [-180, -85.609038, 180, 83.64513],
      positions: 10672, area: 19595.2718593749, length: 9096.7815606168),
    .init(
      "epsg-3857__in.json", 243, "POINT", srs: "EPSG:3857", columns: 92,
      [-19505464.014158, -5056688.947184, 19950305.896185, 9387963.681748], positions: 243),
    .init(
      "fixtures__countries.geojson", 180, "MULTIPOLYGON", columns: 2,
      [-180, -85.609038, 180, 83.64513], positions: 10714, area: 19596.1869086575,
      length: 9106.113404675265),
    .init(
      "geometry_collection.geojson", 1, "GEOMETRYCOLLECTION", [100, 0, 102, 1], positions: 48,
      length: 22.62741699796953),
    .init(
      "gz_2010_us_500_11_20m.json", 437, "MULTIPOLYGON", columns: 6,
      [-179.14734, 17.884813, 179.77847, 71.352561], positions: 95619, area: 1104.2546718428237,
      length: 3328.6776523263443),
    // GDAL finds 600 features of 200 columns: it wants each on a line, and ten are not.
    .init(
      "longjson__sherlock.json", 610, "POINT", columns: 201, [0, 0, 0, 0], positions: 610),
    // GDAL does not read it, because the first line is an object that is no GeoJSON. Checked by
    // counting lines.
    .init(
      "muni__muni.json", 4611, "POINT", columns: 1, [-122.53867, 37.705764, -12.24, 37.836443],
      positions: 4611),
    .init(
      "ne_10m_admin_0_boundary_lines_land.json", 462, "MULTILINESTRING", columns: 18,
      [-141.005548639, -55.120923767, 140.977626994, 70.075310364], positions: 77623,
      length: 2359.5143932174965),
    .init(
      "ne_50m_land.json", 1420, "MULTIPOLYGON", columns: 3,
      [-180, -89.998925781, 180, 83.599609375], positions: 60669, area: 21418.298486903852,
      length: 8551.22208259441),
    .init(
      "ne_50m_populated_places.json", 1249, "POINT", columns: 102,
      [-175.220564478, -89.999999814, 179.216647094, 78.216684386], positions: 1249),
    .init(
      "ne_50m_rivers_lake_centerlines_scale_rank.json", 1617, "LINESTRING", columns: 10,
      [-165.243939175, -50.240137221, 176.325806106, 73.334903876], positions: 26348,
      length: 2956.940646501119),
    .init(
      "tiger_roads.geojson", 8333, "LINESTRING", columns: 2,
      [-74.02722, 40.684221, -73.907005, 40.878178], positions: 17462, length: 10.00847574706518),
    // A line cut out of a collection, with its comma.
    .init(
      "tl_2015_us_county__somerset.json", 1, "POLYGON", columns: 17,
      [-70.552855, 44.577264, -69.266785, 46.574057], positions: 34548, area: 1.221, length: 8.236),
    .init(
      "wraparound__in.json", 1, "POLYGON", columns: 15,
      [-179.999995, 51.24841, 179.999998, 52.24849], positions: 13788, area: 199.8508205505751,
      length: 731.2643639336162),
  ]

  /// Sample data of SpatialConnect, counted in the files and with GDAL.
  static let spatialConnect: [File] = [
    .init(
      "ios-sdk/all.geojson", 7, "GEOMETRY Z?", columns: 3,
      [-109.456, -10.833305984, 79.453125, 54.597041516], positions: 31, area: 2372.372619131633,
      length: 484.558185769427),
    .init(
      "ios-sdk/feature.json", 4, "GEOMETRY", [-97.03125, -10.833305984, 46.7578125, 49.152969657],
      positions: 15, area: 1786.0703990082163, length: 268.1892868236608),
    .init(
      "ios-sdk/simple.json", 1, "GEOMETRYCOLLECTION",
      [-101.953125, -10.833305984, 46.7578125, 62.103882523], positions: 28,
      area: 3853.635118818358, length: 527.8052220820251),
    .init(
      "ios-sdk/gz_2010_us_500_11_20m.json", 437, "MULTIPOLYGON", columns: 6,
      [-179.14734, 17.884813, 179.77847, 71.352561], positions: 95619, area: 1104.2546718428237,
      length: 3328.6776523263443),
    // Eighteen of the points have latitude before longitude.
    .init(
      "android-sdk/nola_polling_places.json", 128, "POINT", columns: 7,
      [-90.134321, -89.998163, 30.066664, 30.030698], positions: 128),
    .init(
      "android-sdk/nola_polling_places-2space.json", 128, "POINT", columns: 7,
      [-90.134321, -89.998163, 30.066664, 30.030698], positions: 128),
    .init(
      "examples/all-14-features.geojson", 14, "GEOMETRY Z?", columns: 3,
      [-155.390625, -46.558860303, 120.234375, 71.965387699], positions: 38,
      area: 2372.372619131633, length: 484.558185769427),
  ]

  @Test(arguments: good) func `reads a file of the lint corpus`(file: File) throws {
    try check(file, in: "real/geojson/good")
  }

  @Test(arguments: real) func `reads a real file`(file: File) throws {
    try check(file, in: "real/geojson/real")
  }

  @Test(arguments: spatialConnect) func `reads a file of SpatialConnect`(file: File) throws {
    try check(file, in: "spatialconnect")
  }

  @Test func `the tables name every file`() {
    for (folder, table) in [("good", Self.good), ("real", Self.real)] {
      let files = SharedData.files(in: "real/geojson/\(folder)", extensions: ["geojson", "json"])
      #expect(Set(files.map(\.lastPathComponent)) == Set(table.map(\.name)))
    }
  }

  private func check(_ file: File, in folder: String) throws {
    let url = SharedData.url("\(folder)/\(file.name)")
    let reading = try GeoJSONReading(try ByteInput(path: url.path), ReadOptions(layer: "x"))
    #expect(reading.rows.count == file.features)
    #expect(reading.result.counts == ["x": file.features])
    #expect(reading.geometryType == file.type)
    #expect(reading.schema.geometry?.srs.description == file.srs)
    #expect(reading.columns.count == file.columns)
    checkEnvelopes(reading, file)
    var sums = GeometrySums()
    for row in reading.rows { row.geometry?.visit(with: &sums) }
    #expect(sums.positions == file.positions)
    let isExact = file.area != 1.221
    #expect(abs(sums.area - file.area) <= (isExact ? 1e-9 * max(1, file.area) : 1e-3))
    #expect(abs(sums.length - file.length) <= (isExact ? 1e-9 * max(1, file.length) : 1e-3))
  }

  private func checkEnvelopes(_ reading: GeoJSONReading, _ file: File) {
    let found = reading.envelope.map { [$0.minX, $0.minY, $0.maxX, $0.maxY] }
    #expect(found?.count == file.bounds?.count)
    for (a, b) in zip(found ?? [], file.bounds ?? []) { #expect(abs(a - b) < 1e-6) }
    for row in reading.rows {
      guard let geometry = row.geometry else { continue }
      #expect(row.envelope == geometry.envelope)
    }
  }
}
