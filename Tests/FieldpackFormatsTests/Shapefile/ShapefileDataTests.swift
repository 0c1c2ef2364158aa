import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

/// Files of other programs, against what GDAL 3.12 reads in them.
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct ShapefileDataTests {
  struct Expected: Decodable {
    struct Layer: Decodable {
      struct Field: Decodable {
        var name: String
        var type: String
      }
      var features: Int
      var envelope: [Double]?
      var fields: [Field]
      var geometries: [String: Int]?

      private enum CodingKeys: String, CodingKey {
        case features, envelope, fields
        case geometries = "geometries_read"
      }
    }
    var layers: [Layer]?
    var error: String?
  }

  private struct Expectations: Decodable {
    var files: [String: Expected]
  }

  /// Where we differ from GDAL, and why.
  static let differences = [
    // A missing or damaged table is an error that names it; GDAL reads the shapes alone.
    "julia_shapelib_test13": "test", "julia_shapelib_test5": "test", "shprs_polygon_hole": "test",
    "ntsesri_empty": "test",
  ]

  static let names: [String] = SharedData.files(in: "real/shp", extensions: ["shp"])
    .map { $0.deletingPathExtension().lastPathComponent }

  private static func expected() throws -> [String: Expected] {
    let data = try Data(contentsOf: SharedData.url("real/expected/formats-ogr.json"))
    return try JSONDecoder().decode(Expectations.self, from: data).files
  }

  /// A number of GDAL's names for how a column is typed here.
  private static func type(_ name: String) -> String {
    switch name {
    case "int32", "int64": "INTEGER"
    case "float64": "REAL"
    case "bool": "BOOLEAN"
    case "datetime64[D]": "DATE"
    default: "TEXT"
    }
  }

  @Test func `real files are read as GDAL reads them`() throws {
    let expected = try Self.expected()
    var (read, refused) = (0, 0)
    for name in Self.names {
      let path = SharedData.url("real/shp/\(name).shp").path
      guard let known = expected["shp/\(name).shp"] else { continue }
      guard let layer = known.layers?.first, Self.differences[name] == nil else {
        // GDAL wants the missing .shx as well, and opens nothing else that is damaged.
        #expect(throws: FieldpackError.self, "\(name)") { try ShapefileBytes.read(path) }
        refused += 1
        continue
      }
      let reading = try ShapefileBytes.read(path)
      #expect(reading.features("test").count == layer.features, "\(name)")
      check(reading, layer.fields, name)
      let kinds = (layer.geometries ?? [:]).filter { $0.key != "null" }.values.reduce(0, +)
      // ArcGIS marked one of these points as empty, and GDAL takes the mark for a place.
      let marked = name == "ntsesri_fields_utf8" ? 1 : 0
      #expect(reading.features("test").count { $0.geometry != nil } == kinds - marked, "\(name)")
      if marked == 0, let box = layer.envelope, let own = reading.collector.envelopes["test"] {
        let ours = [own.minX, own.minY, own.maxX, own.maxY]
        #expect(zip(box, ours).allSatisfy { abs($0 - $1) < 1e-6 }, "\(name): \(box) \(ours)")
      }
      read += 1
    }
    #expect(read > 35 && refused > 15)
  }

  /// A column `fid` of ids is no column; integers of 19 digits and more are INTEGER here, where they
  /// fit, and reals in GDAL.
  private func check(_ reading: GPXReading, _ fields: [Expected.Layer.Field], _ name: String) {
    let columns = reading.schema("test")?.columns ?? []
    for field in fields where reading.result.layers.first?.ids != .file || field.name != "FID" {
      let own = field.name == "FID" ? "FID_2" : field.name
      let column = columns.first { $0.name == own }
      let type = Self.type(field.type)
      let isWide = type == "REAL" && column?.type == .integer
      #expect(column?.type.sql == type || isWide, "\(name) \(field.name)")
    }
  }

  @Test func `files without an index are read in order where errors are skipped`() throws {
    let counts = [
      "mbostock_polygonm": 1, "ntsesri_afvalbakken": 26, "ntsesri_allnulls": 1,
      "ntsesri_null_in_middle": 3, "pyshp_latin1": 1, "shprs_multi_polygon": 1,
      "ntsesri_pointzm": 3, "shprs_linem": 1,
    ]
    for (name, count) in counts {
      let reading = try ShapefileBytes.read(SharedData.url("real/shp/\(name).shp").path) {
        $0.skipsErrors = true
      }
      #expect(reading.features("test").count == count, "\(name)")
      #expect(reading.result.notes.contains { $0.text.contains(".shx") }, "\(name)")
    }
    let latin = try ShapefileBytes.read(SharedData.url("real/shp/pyshp_latin1.shp").path) {
      $0.skipsErrors = true
    }
    #expect(latin.values("test", "Name") == ["Ñandú"])
  }

  @Test func `texts are in their encoding`() throws {
    func names(_ file: String, _ column: String) throws -> [Value] {
      try ShapefileBytes.read(SharedData.url("real/shp/\(file).shp").path).values("test", column)
    }
    // GDAL does not know the code page "ANSI 1250".
    #expect(try names("shpjs_codepage", "field").contains("Hněvošický háj"))
    #expect(try names("shpjs_utf", "field").contains("Hněvošický háj"))
    #expect(try names("mbostock_latin1_property", "name") == ["México"])
  }
}
