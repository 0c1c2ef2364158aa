import FieldpackTestSupport
import Foundation
import Testing

/// A command line that writes `field.gpkg` in a ``FieldFolder``.
struct WritingCommand: CustomTestStringConvertible, Sendable {
  var name: String
  var arguments: [String]
  /// The GeoPackage that it writes.
  var file = "field.gpkg"
  /// Whether it makes the file, which is not there before.
  var isNew = false
  /// Whether the file is another one afterwards, with a journal mode of its own.
  var replacesFile = false
  /// Whether it leaves the rows as they were.
  var keepsRows = false
  /// Whether it stores and acknowledges bit by bit.
  var isRecording = false
  /// Whether rows are different each time, so that only their number tells.
  var isCounted = false
  /// The layer whose rows are compared, where others tell of the run itself.
  var layer: String?
  /// SQL that breaks the file first, for a repair.
  var breaks: String?
  /// What it writes beside `field.gpkg`.
  var writes: [String] = []
  var testDescription: String { name }

  private static let demo = Checkout.file("TestData/demo").path

  private static let record = [
    "track", "record", "walk.gpx", "--into", "field.gpkg", "--sampling", "all", "--name", "w",
    "--follow",
  ]

  /// Those whose files are recorded for power cuts.
  static let recorded = [
    WritingCommand(
      name: "import, new file", arguments: ["import", "wells.geojson", "--into", "field.gpkg"],
      isNew: true),
    WritingCommand(
      name: "import, append",
      arguments: [
        "import", "more.geojson", "--into", "field.gpkg", "--layer", "wells", "--mode", "append",
      ], isCounted: true),
    WritingCommand(
      name: "import, replace",
      arguments: [
        "import", "more.geojson", "--into", "field.gpkg", "--layer", "wells", "--mode", "replace",
      ]),
    WritingCommand(
      name: "export, overwrite",
      arguments: ["export", "more.geojson", "--output", "field.gpkg", "--overwrite"],
      replacesFile: true),
    WritingCommand(
      name: "create", arguments: ["create", "field.gpkg", "wells", "new.geojson"], isCounted: true),
    WritingCommand(name: "update", arguments: ["update", "field.gpkg", "changed.geojson"]),
    WritingCommand(name: "delete", arguments: ["delete", "field.gpkg", "ZmllbGQ=.d2VsbHM=.Nw=="]),
    WritingCommand(
      name: "optimize", arguments: ["optimize", "field.gpkg", "--index"], keepsRows: true),
    WritingCommand(
      name: "track record", arguments: record, isRecording: true, layer: "track_point"),
    WritingCommand(
      name: "track record, new file", arguments: record, isNew: true, isRecording: true,
      layer: "track_point"),
  ]

  /// What is done once cannot be done again.
  private static let layers = [
    ["rename", "field.gpkg:wells", "brunnen"], ["delete", "field.gpkg:wells"],
    ["add-column", "field.gpkg:wells", "owner", "TEXT"],
    ["rename-column", "field.gpkg:wells", "name", "title"],
    ["drop-column", "field.gpkg:wells", "name"],
    ["retype", "field.gpkg:wells", "geom", "GEOMETRY"],
    ["retype", "field.gpkg:wells", "depth", "TEXT"],
  ].map { words in
    let target = words[0] == "retype" ? " " + words[2] : ""
    return WritingCommand(name: "layer \(words[0])\(target)", arguments: ["layer"] + words)
  }

  private static let geoPackages = [
    ["other.gpkg", "--mode", "upsert"], ["other.gpkg:wells", "--layer", "old_wells"],
    ["other.gpkg", "--mode", "append"], ["other.gpkg", "--mode", "replace"],
  ].map { words in
    WritingCommand(
      name: "import \(words.joined(separator: " "))",
      arguments: ["import", words[0], "--into", "field.gpkg"] + words.dropFirst())
  }

  private static let edits = [
    WritingCommand(
      name: "import, upsert by a column",
      arguments: [
        "import", "more.geojson", "--into", "field.gpkg", "--layer", "wells", "--mode", "upsert",
        "--match", "name",
      ]),
    WritingCommand(
      name: "update of a condition",
      arguments: [
        "update", "field.gpkg:wells", "--where", "depth > 50", "--set", "depth=depth+1000",
      ]),
    WritingCommand(
      name: "delete of a condition",
      arguments: ["delete", "field.gpkg:wells", "--where", "depth > 50"]),
  ]

  private static let exports = [
    WritingCommand(
      name: "export of a config",
      arguments: [
        "export", "both.scfg", "--prefix-store", "--output", "field.gpkg", "--overwrite",
      ], replacesFile: true),
    WritingCommand(
      name: "export, split",
      arguments: [
        "export", "kinds.geojson", "--split-by", "kind", "--output", ".", "--overwrite",
      ], replacesFile: true, writes: ["rest.gpkg"]),
  ]

  private static let tiles = [
    WritingCommand(
      name: "import of tiles, new file",
      arguments: ["import", "map.mbtiles", "--into", "field.gpkg"], isNew: true),
    WritingCommand(
      name: "import of tiles", arguments: ["import", "map.mbtiles", "--into", "field.gpkg"]),
  ]

  static let all =
    recorded + layers + geoPackages + edits + exports + tiles + [
      WritingCommand(
        name: "repair", arguments: ["check", "field.gpkg", "--repair"],
        breaks: "UPDATE gpkg_contents SET max_x = 14.5"),
      WritingCommand(
        name: "monitor",
        arguments: [
          "monitor", "walk.gpx", "--radius", "100", "--record", "run", "--into", "field.gpkg",
          "--follow",
        ], layer: "detection"),
      WritingCommand(
        name: "capture add",
        arguments: [
          "capture", "add", demo + "/steinkirchen.jpg", "--at", "13.9,51.9", "--no-thumbnail",
          "--keep-bytes", "--into", "field.gpkg",
        ], isCounted: true),
      WritingCommand(
        name: "motion import",
        arguments: [
          "motion", "import", demo + "/motion.jsonl", "--into", "field.gpkg", "--rate", "10",
        ]),
      WritingCommand(
        name: "form submit",
        arguments: ["form", "submit", "both.scfg", "wells", "more.geojson", "--store-folder", "."],
        file: "FORM_STORE.gpkg", isNew: true),
    ]
}
