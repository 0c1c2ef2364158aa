import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

func readFlatGeobuf(
  _ path: String, _ change: (inout ReadOptions) -> Void = { _ in }
) throws -> GPXReading {
  var options = ReadOptions(layer: "test")
  change(&options)
  return try GPXReading(FlatGeobufReader(ByteInput(path: path), options: options))
}

/// Every file of `real/fgb`: the geometry column, features and envelope, as GDAL reads them
/// (`expected/formats-ogr.json`) but where a comment says otherwise.
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct FlatGeobufRealDataTests {
  private static let files: [(String, String)] = [
    ("flatgeobuf_alldatatypes", "GEOMETRY NONE:-1 1 0 0 0 0"),
    ("flatgeobuf_binary_wkb", "GEOMETRY EPSG:4326 1"),
    ("flatgeobuf_countries", "MULTIPOLYGON EPSG:4326 179 -180 -85.609038 180 83.64513"),
    // GDAL takes a layer without geometries for one of any geometries.
    ("flatgeobuf_countries_nogeo", "none 179"),
    ("flatgeobuf_empty", "POLYGON EPSG:4326 0"),
    ("flatgeobuf_go_poly_landmarks", "POLYGON NONE:-1 85 -74.047185 40.679648 -73.90782 40.882078"),
    ("flatgeobuf_heterogeneous", "GEOMETRY NONE:-1 3 1.2 -4.8 45 40"),
    (
      "flatgeobuf_mp_overlapping",
      "MULTIPOLYGON EPSG:4326 2 14.6989901 54.9773256 15.2401836 55.3051375"
    ),
    ("flatgeobuf_no_properties", "POINT NONE:-1 1 -123.1874 48.7902 -123.1874 48.7902"),
    ("flatgeobuf_poly00", "POLYGON EPSG:27700 10 478315.53125 4762880.5 481645.3125 4765610.5"),
    ("flatgeobuf_poly01", "POLYGON EPSG:27700 10 478315.53125 4762880.5 481645.3125 4765610.5"),
    // pyogrio knows no TRIANGLE; a GeoPackage has none, either.
    ("flatgeobuf_triangle", "POLYGON NONE:-1 1 0 0 9 9"),
    (
      "flatgeobuf_unknown_feature_count",
      "POLYGON EPSG:4326 1 -69.911499 18.4587681 -69.9060059 18.4639786"
    ),
    ("mapserver_africa", "MULTIPOLYGON EPSG:4326 51 -17.6250427 -34.8191664 51.13387 37.3499944"),
    ("mapserver_ne_110m_land", "MULTIPOLYGON EPSG:4326 127 -180 -90 180 83.64513"),
    ("tippecanoe_numeric_properties", "POINT NONE:-1 1 0 0 0 0"),
  ]

  private func path(_ name: String) -> String { SharedData.url("real/fgb/\(name).fgb").path }

  @Test func `every file is looked at`() {
    let known = Set(Self.files.map(\.0) + ["mapserver_invalid"])
    let found = SharedData.files(in: "real/fgb", extensions: ["fgb"])
    #expect(Set(found.map { $0.deletingPathExtension().lastPathComponent }) == known)
  }

  @Test(arguments: files)
  func `reads what GDAL reads`(name: String, expected: String) throws {
    let reading = try readFlatGeobuf(path(name))
    let column = reading.schema("test")?.geometry
    var words = column.map { [$0.type.name, $0.srs.description] } ?? ["none"]
    words.append("\(reading.result.counts["test"] ?? -1)")
    if let box = reading.collector.envelopes["test"] {
      words += [box.minX, box.minY, box.maxX, box.maxY].map { value in
        let rounded = (value * 1e7).rounded() / 1e7
        return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
      }
    }
    #expect(words.joined(separator: " ") == expected)
    #expect(reading.features("test").count == reading.result.counts["test"])
  }

  @Test func `reads a value of each type`() throws {
    let reading = try readFlatGeobuf(path("flatgeobuf_alldatatypes"))
    #expect(
      reading.columns("test") == [
        "byte TINYINT", "ubyte SMALLINT", "bool BOOLEAN", "short SMALLINT", "ushort MEDIUMINT",
        "int MEDIUMINT", "uint INTEGER", "long INTEGER", "ulong REAL", "float FLOAT", "double REAL",
        "string TEXT", "json TEXT", "datetime DATETIME", "binary BLOB",
      ])
    #expect(
      reading.features("test") == [
        Feature(
          id: 1, geometry: .point(x: 0, y: 0),
          attributes: [
            "byte": -1, "ubyte": 255, "bool": true, "short": -1, "ushort": 65535, "int": -1,
            "uint": 4_294_967_295, "long": -1, "ulong": .real(18_446_744_073_709_551_616),
            "float": 0.0, "double": 0.0, "string": "X", "json": "X",
            "datetime": .dateTime(try #require(Instant("2020-02-29T12:34:56Z"))),
            "binary": .blob([0x58]),
          ])
      ])
    #expect(reading.passes == 1)
  }

  @Test func `names the feature that is damaged, or passes over it`() throws {
    let path = path("mapserver_invalid")
    let error = #expect(throws: FieldpackError.self) { try readFlatGeobuf(path) }
    #expect(error?.code == .invalidData)
    #expect(error?.position == FilePosition(file: path, feature: 1))
    let reading = try readFlatGeobuf(path) { $0.skipsErrors = true }
    #expect(reading.result.skipped.count == 1)
  }

  @Test func `a column fid gives the ids`() throws {
    let reading = try readFlatGeobuf(path("mapserver_ne_110m_land"))
    #expect(reading.columns("test") == ["featurecla TEXT", "scalerank MEDIUMINT", "min_zoom REAL"])
    #expect(reading.features("test").first?.id != nil)
    #expect(reading.result.layers.map(\.ids) == [.file])
  }
}
