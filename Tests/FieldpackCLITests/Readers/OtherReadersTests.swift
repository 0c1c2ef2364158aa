import Fieldpack
import FieldpackTestSupport
import Foundation
import Testing

/// GDAL reads what each command leaves as Fieldpack does: the same layers, columns with their rules, and
/// rows. Its validator and our check find nothing.
@Suite(.programs) struct OtherReadersTests {
  private struct Case: Sendable {
    /// The words of the commands; a blank within a word is written `~`.
    var commands: [[String]]
    /// The file that is read afterwards.
    var file: String
    /// Its layers with the number of their features.
    var layers: String

    init(_ line: String, in file: String = "f.gpkg", leaves layers: String) {
      commands = line.split(separator: "; ").map { command in
        command.split(separator: " ").map { String($0.replacing("~", with: " ")) }
      }
      self.file = file
      self.layers = layers
    }
  }

  private static let asBefore = "wells 2, paths 1, photos 1, layer_styles 1"

  private static let changesOfLayers = [
    Case(
      "layer rename f.gpkg:wells springs",
      leaves: "springs 2, paths 1, photos 1, layer_styles 1"),
    Case("layer delete f.gpkg:wells", leaves: "paths 1, photos 1, layer_styles 0"),
    Case("layer add-column f.gpkg:wells owner TEXT(9) --default x --not-null", leaves: asBefore),
    Case("layer add-column f.gpkg:photos taken DATE", leaves: asBefore),
    Case(
      "layer rename-column f.gpkg:wells depth level; layer rename-column f.gpkg:wells geom shape; "
        + "layer rename-column f.gpkg:wells fid id", leaves: asBefore),
    Case(
      "layer drop-column f.gpkg:wells quality; layer drop-column f.gpkg:wells depth",
      leaves: asBefore),
    Case(
      "layer retype f.gpkg:wells depth TEXT(9); layer retype f.gpkg:wells number SMALLINT; "
        + "layer retype f.gpkg:wells seen TEXT", leaves: asBefore),
    Case(
      "layer retype f.gpkg:wells geom GEOMETRY~Z; layer retype f.gpkg:paths geom GEOMETRY~ZM",
      leaves: asBefore),
  ]

  private static let imports = [
    Case(
      "import other.gpkg --into f.gpkg --mode append",
      leaves: "wells 4, paths 2, photos 2, layer_styles 1"),
    Case(
      "import other.gpkg --into f.gpkg --mode replace",
      leaves: "layer_styles 1, wells 2, paths 1, photos 1"),
    Case(
      "import other.gpkg --into f.gpkg --mode upsert",
      leaves: "wells 3, paths 1, photos 1, layer_styles 1"),
    Case(
      "import other.gpkg:wells --into f.gpkg --layer old --mode append",
      leaves: "wells 2, paths 1, photos 2, layer_styles 2, old 2"),
    Case(
      "import other.gpkg --into new.gpkg", in: "new.gpkg",
      leaves: "wells 2, paths 1, photos 1, layer_styles 1"),
    Case(
      "import news.geojson --into f.gpkg --layer wells --mode upsert --match name",
      leaves: "wells 3, paths 1, photos 1, layer_styles 1"),
  ]

  private static let edits = [
    Case("update f.gpkg edit.geojson; update f.gpkg:wells 5 --set depth=2", leaves: asBefore),
    Case("update f.gpkg:wells --where number>60 --set isOpen=false", leaves: asBefore),
    Case("delete f.gpkg:wells 9", leaves: "wells 1, paths 1, photos 1, layer_styles 1"),
    Case(
      "delete f.gpkg:wells --where number<60",
      leaves: "wells 1, paths 1, photos 1, layer_styles 1"),
  ]

  private static let exports = [
    Case(
      "export both.scfg --prefix-store -o merged.gpkg", in: "merged.gpkg",
      leaves: "old_wells 2, old_paths 1, old_photos 1, old_layer_styles 1, "
        + "new_wells 2, new_paths 1, new_photos 1, new_layer_styles 1"),
    Case("export f.gpkg wells --split-by quality -o by", in: "by/good.gpkg", leaves: "wells 2"),
    Case("layer export f.gpkg:paths -o paths.gpkg", in: "paths.gpkg", leaves: "paths 1"),
  ]

  /// One that has both GDAL's reader and its validator.
  private static let python =
    Programs.validators.map(\.python).first { $0 == Programs.arrowPython }

  @Test(.enabled(if: python != nil, "no Python with pyarrow, pyogrio and osgeo_utils"))
  func `GDAL reads what each command leaves as we do`() async throws {
    let survey = try await WholeSurvey()
    let cases = Self.changesOfLayers + Self.imports + Self.edits + Self.exports
    var stores: [String] = []
    for (number, one) in cases.enumerated() {
      let folder = survey.folder.file("\(number)")
      try FileManager.default.copyItem(at: survey.files, to: folder)
      for command in one.commands {
        let result = try await Tool.run(command, folder: folder)
        #expect(result.status == 0, "\(command): \(result)")
      }
      let file = folder.appendingPathComponent(one.file)
      #expect(try await FileCheck().run(file.path).findings == [], "\(one.commands)")
      stores.append(
        #"{"id":"s\#(number)","store_type":"gpkg","version":"1","uri":"\#(number)/\#(one.file)"}"#)
    }
    let config = try survey.folder.write(
      #"{"stores":[\#(stores.joined(separator: ","))]}"#, to: "all.scfg")
    let info = try await Tool.run("info", config.path, "--json")
    let found = try await readByGDAL(info.outputBytes, in: survey.folder)
    try #require(found.count == cases.count)
    for (one, layers) in zip(cases, found) { #expect(layers == one.layers, "\(one.commands)") }
  }

  /// What GDAL finds in each store.
  private func readByGDAL(
    _ document: Data, in folder: TemporaryFolder
  ) async throws -> [String] {
    let script = try folder.write(GDALComparison.script, to: "compare.py")
    #if canImport(Darwin)
      let library = Tool.built("libFieldpackArrow.dylib")
    #else
      let library = Tool.built("libFieldpackArrow.so")
    #endif
    let result = try await Program.run(
      Self.python ?? "", [script.path, library, folder.url.path], input: document)
    #expect(result.error == "")
    return result.output.split(separator: "\n").map(String.init)
  }
}
