import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackFormats

/// Real files by many writers against what GDAL 3.12 reads in them.
@Suite(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
struct KMLRealDataTests {
  private struct Expected: Decodable {
    struct File: Decodable { var layers: [Layer]? }
    struct Layer: Decodable {
      var name: String
      var features: Int
      var envelope: [Double]?
    }
    var files: [String: File]
  }

  /// Where our reading differs, and why.
  static let differences: [String: String] = [
    "libkml_kmlsamples": "GDAL's envelope counts places of views",
    "libkml_schemadata": "a name that is empty is no name",
    "libkml_unknown_attrs": "GDAL's envelope counts places of views",
    "sharpkml_bounds": "a model is a point, for GDAL nothing",
    "sharpkml_entities": "GDAL refuses the file",
    "sharpkml_update": "GDAL numbers layers that are empty, too",
    "togeojson_addresses": "blanks around a name are not the name's",
    "togeojson_gxmultitrack": "blanks around a name; GDAL's envelope is of one track",
    "togeojson_non_gx_multitrack": "Track of KML 2.3 is read as gx:Track",
  ]
  /// Files that are errors for us.
  static let errors: [String: String] = [
    "libkml_billion_laughs": "the document declares an entity, which is refused",
    "togeojson_bad": "the coordinates have 'no,no' in the place of a number",
  ]

  static let names = SharedData.files(in: "real/kml", extensions: ["kml"])
    .map { $0.deletingPathExtension().lastPathComponent }

  @Test(arguments: names) func `layers are those of GDAL`(name: String) throws {
    let input = try ByteInput(path: SharedData.url("real/kml/\(name).kml").path)
    let reader = KMLReader(input, options: ReadOptions(layer: LayerID(name)))
    if let message = Self.errors[name] {
      let error = try #require(throws: FieldpackError.self) { try GPXReading(reader) }
      #expect(error.message == message)
      return
    }
    let reading = try GPXReading(reader)
    let data = try Data(contentsOf: SharedData.url("real/expected/formats-ogr.json"))
    let expected = try JSONDecoder().decode(Expected.self, from: data).files["kml/\(name).kml"]
    let theirs = (expected?.layers ?? []).filter { $0.features > 0 }.map { layer in
      let box = layer.envelope.map { $0.map { "\(($0 * 1e5).rounded())" } }
      return "\(layer.name) \(layer.features) \(box ?? [])"
    }
    let ours = reading.result.layers.map { layer in
      let name = layer.schema.layer
      let box = reading.collector.envelopes[name].map { box in
        [box.minX, box.minY, box.maxX, box.maxY].map { "\(($0 * 1e5).rounded())" }
      }
      return "\(name) \(reading.features(name).count) \(box ?? [])"
    }
    #expect((ours == theirs) == (Self.differences[name] == nil), "\(ours)\n\(theirs)")
  }
}
