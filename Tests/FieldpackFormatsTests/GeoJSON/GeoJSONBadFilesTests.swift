import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackFormats

/// What becomes of each file of the folder of bad ones: a reading that RFC 7946 allows, or an error
/// with its position.
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct GeoJSONBadFilesTests {
  static let outcomes: [String: String] = [
    // RFC 8259 section 4 leaves duplicate names open; the last counts, here a Feature, and section
    // 7.1 does not let one have features.
    "bad-duplicate-properties.geojson":
      ":1:1, byte 0: an object with features is no FeatureCollection (RFC 7946 section 7.1)",
    "bad-json.geojson": ":3:5, feature 1, byte 31: ',' or '}' expected, not '\"'",
    // Section 3.1.6: parsers SHOULD NOT reject polygons that do not follow the right-hand rule.
    "bad-polygon-interiorring-rhr.geojson": "1 POLYGON [100.0, 0.0, 101.0, 1.0]",
    // Section 3.2 wants an object or null; an empty array is how PHP writes an empty object.
    "bad-properties-as-array.geojson":
      "1 GEOMETRY; features with an empty array for properties: 1",
    "badcoordtype.geojson":
      ":9:27, feature 1, byte 182: a position has fewer than two numbers"
      + " (RFC 7946 section 3.1.1)",
    "badfeatureid.geojson":
      ":6:13, feature 1, byte 92: an id is neither string nor number (RFC 7946 section 3.2)",
    // Section 5 wants numbers; we never use a bbox, so that a wrong one does not matter.
    "bbox-contains-string.geojson": "1 POINT [2.0, 2.0, 2.0, 2.0]",
    "d_1e400.geojson":
      ":1:101, feature 1, byte 100: a coordinate is beyond the range of numbers",
    "d_antimeridian_bbox.geojson": "1 MULTIPOLYGON [-180.0, -20.0, 180.0, -16.0] n TEXT",
    // GDAL refuses the second number; RFC 8259 section 6 allows it.
    "d_bigint.geojson":
      "1 POINT [1.0, 2.0, 1.0, 2.0] a INTEGER, b REAL; 'b' has integers of more than 64 bits,"
      + " which become REAL",
    "d_bom.geojson": "1 POINT [1.0, 2.0, 1.0, 2.0] a INTEGER",
    // Section 4 allows another SRS by prior arrangement, which the old member is.
    "d_crs84_legacy.geojson":
      "1 POINT [445277.96, 5621521.49, 445277.96, 5621521.49] a INTEGER EPSG:3857",
    "d_deep_gc.geojson":
      ":1:11009, feature 1, byte 11008: arrays and objects are nested too deeply",
    "d_dup_keys.geojson": "1 POINT [1.0, 2.0, 1.0, 2.0] a INTEGER",
    "d_empty_file.geojson": ":1:1, byte 0: the file is empty",
    // RFC 8259 section 8.2 leaves it open: the text has U+FFFD.
    "d_lone_surrogate.geojson": "1 POINT [1.0, 2.0, 1.0, 2.0] a TEXT",
    // GDAL reads POINT EMPTY; RFC 8259 section 6 has no NaN.
    "d_nan.geojson": ":1:101, feature 1, byte 100: a value expected, not 'N'",
    "d_truncated.geojson": ":1:178, feature 2, byte 177: the text ends within a string",
    "d_utf16.geojson": ":1:1, byte 0: the text is UTF-16. Try: save it as UTF-8",
    // Section 3.1.6 wants the first position repeated; it is, as SpatialConnect does.
    "different-first-last.geojson":
      "1 POLYGON [100.0, 0.0, 101.0, 1.0];"
      + " rings that were open and are closed (RFC 7946 section 3.1.6): 1",
    "excessive_precision_truncated.geojson":
      "1 LINESTRING [100.0000000001, 2.0000000001, 106.0000000001, 8.0000000001]",
    // GDAL reads an empty collection; section 3.1.8 wants geometries.
    "false.geojson":
      ":3:18, feature 1, byte 51: a geometry is not an object (RFC 7946 section 3.1)",
    "featurecollection-obj.geojson":
      ":1:44, byte 43: features are not an array (RFC 7946 section 3.3)",
    "featurecollection.geojson":
      ":1:1, byte 0: a FeatureCollection has no features (RFC 7946 section 3.3)",
    // GDAL reads the point; section 7.1: MUST NOT have a member of another type's.
    "geometry_changed_semantics.geojson":
      ":1:1, byte 0: an object with features is no FeatureCollection (RFC 7946 section 7.1)",
    // Section 3.1.8 only advises against it.
    "geometrycollection_single.geojson": "1 GEOMETRYCOLLECTION [100.0, 0.0, 100.0, 0.0]",
    "multipoint-multidimension.geojson":
      ":1:1, feature 1, byte 0: the coordinates are not nested as those of a MultiPoint are"
      + " (RFC 7946 section 3.1)",
    // GDAL reads no feature at all.
    "nofeaturetype.geojson":
      ":4:5, feature 1, byte 53: the type of a feature is 'Featre' (RFC 7946 section 3.2)",
    // GDAL reads MULTIPOLYGON EMPTY.
    "point-labeled-as-a-multipolygon.geojson":
      ":4:15, feature 1, byte 57: the coordinates are not nested as those of a MultiPolygon are"
      + " (RFC 7946 section 3.1)",
    "point-toofew.geojson":
      ":3:21, feature 1, byte 43: a position has fewer than two numbers (RFC 7946 section 3.1.1)",
    "point.geojson":
      ":1:1, feature 1, byte 0: a geometry has no coordinates (RFC 7946 section 3.1)",
    "rootstring.geojson": ":1:1, feature 1, byte 0: a GeoJSON object expected, not 'n'",
    // Open, and with the position that closes it just long enough.
    "short-linearring.geojson":
      "1 POLYGON [100.0, 0.0, 101.0, 1.0];"
      + " rings that were open and are closed (RFC 7946 section 3.1.6): 1",
    // GDAL reads the first feature without geometry.
    "stringcoord.geojson":
      ":11:11, feature 1, byte 208: a coordinate is not a number (RFC 7946 section 3.1.1)",
  ]

  @Test func `each bad file has its outcome`() throws {
    let files = SharedData.files(in: "real/geojson/bad", extensions: ["geojson"])
    #expect(Set(files.map(\.lastPathComponent)) == Set(Self.outcomes.keys))
    for file in files {
      #expect(outcome(of: file) == Self.outcomes[file.lastPathComponent])
    }
  }

  private func outcome(of file: URL) -> String {
    do throws(FieldpackError) {
      let input = try ByteInput(path: file.path)
      let reading = try GeoJSONReading(input, ReadOptions(layer: "x"))
      var parts = ["\(reading.rows.count) \(reading.geometryType)"]
      if let box = reading.envelope {
        parts.append("\([box.minX, box.minY, box.maxX, box.maxY])")
      }
      if !reading.columns.isEmpty { parts.append(reading.columns.joined(separator: ", ")) }
      if let srs = reading.schema.geometry?.srs, srs != .wgs84 { parts.append(srs.description) }
      return ([parts.joined(separator: " ")] + reading.result.notes.map(\.text))
        .joined(separator: "; ")
    } catch {
      #expect(error.code == .invalidData)
      var error = error
      error.advice = nil
      return error.description.replacing(file.path, with: "")
    }
  }

  @Test func `what is skipped is listed and the rest is read`() throws {
    let url = SharedData.url("real/geojson/bad/stringcoord.geojson")
    var options = ReadOptions(layer: "x")
    options.skipsErrors = true
    let reading = try GeoJSONReading(try ByteInput(path: url.path), options)
    #expect(reading.rows.map(\.geometry) == [.point(x: 20.390625, y: 41.508577)])
    #expect(reading.result.skipped.count == 1)
    #expect(
      reading.result.skipped.listed == [
        SkippedFeature(
          location: .init(layer: "x"),
          position: FilePosition(file: url.path, byteOffset: 208, feature: 1),
          reason: "a coordinate is not a number (RFC 7946 section 3.1.1)")
      ])
  }
}
