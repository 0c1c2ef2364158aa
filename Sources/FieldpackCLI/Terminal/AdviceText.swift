import Fieldpack
import FieldpackCore

/// What the libraries advise, in the words of the tool: the one place that knows which option does
/// what an error asks for.
enum AdviceText {
  /// What happened, and what to do about it.
  static func text(_ message: String, _ advice: FieldpackError.Advice?) -> String {
    guard let advice else { return message }
    return whole(advice) ?? "\(message). Try: \(words(advice))"
  }

  /// Where the options say all there is to say.
  private static func whole(_ advice: FieldpackError.Advice) -> String? {
    switch advice {
    case .nameOneGeometry: "--wkt excludes --x and --y"
    case .nameBothCoordinates: "--x and --y are given together"
    default: nil
    }
  }

  /// What to do, without what happened.
  static func words(_ advice: FieldpackError.Advice) -> String {
    switch advice {
    case .several(let list): list.map(words).joined(separator: ". Try: ")
    case .overwrite: "--overwrite, or another name"
    case .writeElsewhere: "another --output"
    case .writeToFile: "--output FILE"
    case .allowFolder: "--allow-path with the folder it lies in"
    case .fetchStores(let config): "fieldpack fetch \(path(config))"
    case .fetchAgain(let config, let store):
      "fieldpack fetch \(path(config)) --store \(shell("\(store)")) --again to give up the changes"
    case .nameFormat(of: .file): "--format \(formats)"
    case .nameFormat(of: .source): "--input-format \(formats)"
    case .checkFile: "fieldpack check"
    case .rebuildIndex: "fieldpack optimize --index"
    case .skipErrors: "--skip-errors"
    case .skipLines: "--skip-errors to pass over such lines"
    case .skipErrorsOrNameStores: "--skip-errors, or --store for the others"
    case .makeValid: "--make-valid"
    case .nameLayer: "--layer NAME to put them into one layer"
    case .appendReplaceOrRename: "--mode append, --mode replace, or another --layer"
    case .otherLayerOrOmitIDs: "another --layer, or features without an id"
    case .exportFirst(let file): exportFirst(file)
    case .importIntoGeoPackage: "fieldpack import its file into a GeoPackage"
    case .nameMatchColumn: "--match COLUMN, or --id COLUMN"
    case .omitIDColumn: "without --id"
    case .nameSourceSRS: "--source-srs"
    case .nameOtherSourceSRS: "--source-srs EPSG:n"
    case .nameGeometryColumns, .nameOneGeometry: "--wkt COLUMN, or --x COLUMN --y COLUMN"
    case .nameBothCoordinates: "--x COLUMN --y COLUMN"
    case .nameCoordinates(let x, let y): "--x \(shell(x)) --y \(shell(y))"
    case .nameWKTColumn(let column): "--wkt \(shell(column))"
    case .nameIDColumn(let column): "--id \(shell(column))"
    case .nameEncoding: "--encoding NAME, if it is another"
    case .nameDelimiter(let sign): "--delimiter \(shell(sign))"
    case .nameDecimalSign(let sign): "--decimal \(sign)"
    case .nameStore(let store): "--store" + (store.map { " '\($0)'" } ?? "")
    case .nameSourceLayer(let file): "\(file):LAYER"
    case .prefixStores: "--prefix-store"
    case .transformAll: "--srs"
    case .transformLayer: "fieldpack transform on one of the two"
    case .keepWGS84: "without --srs"
    case .omitKeys: "GeoJSON or CSV, or without --keys"
    case .omitGPXDialect: "its layer of points, or without --gpx-dialect"
    case .useKeyTuples: "fieldpack query --keys, which writes them"
    case .allowLoss: keepOrLose
    case .allowTriggers: triggers
    case .logEdits(let file, let layer):
      "fieldpack log enable \(path("\(file):\(layer)"))"
    case .runWriting: "--write"
    case .runWritingOrApart: "--write, or one statement at a time"
    case .renameOrDeleteLayer: "fieldpack layer rename, or fieldpack layer delete"
    case .renameOrDropColumn: "fieldpack layer rename-column, or fieldpack layer drop-column"
    case .retypeLayer: "fieldpack layer retype"
    case .makeLayerAnew:
      "fieldpack export --sql 'SELECT …' --output NEW.gpkg, which makes the layer anew"
    case .transformFile: "fieldpack transform"
    case .waitInSQL: "fieldpack sql, which waits for it"
    case .signIn(let config): "fieldpack login \(config.map(path) ?? "CONFIG")"
    case .allowUnencrypted: "https in the config, or --insecure"
    case .recordTrack: "fieldpack track record"
    case .setPace: "--rate 1 for a fix a second, or --speed max"
    case .installFFmpeg(let other): "apt-get install ffmpeg, or \(words(other))"
    case .omitThumbnail: "--no-thumbnail"
    case .storeTilesAsPNG: "tiles that are stored as PNG"
    case .keepBytes: "--keep-bytes"
    case .importCapture(let folder, let file): "fieldpack import \(folder) --into \(file)"
    case .listCaptures(let file): "fieldpack capture list \(file)"
    }
  }

  private static let formats =
    "geojson, geojsonl, gpx, kml, kmz, csv, shp, fgb, nmea, igc or tcx"
  private static let keepOrLose =
    "fieldpack sql --write with ST_GeomFromText to keep them, or --allow-loss to give them up"
  private static let triggers =
    #"--allow-triggers, or a store config with "options": {"triggers": true}"#

  /// The text as one word of a shell.
  private static func shell(_ text: String) -> String {
    let isPlain = text.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" }
    return isPlain ? text : "'\(text.replacing("'", with: #"'\''"#))'"
  }

  /// The path as one word of a shell.
  private static func path(_ text: String) -> String {
    shell(text.filter { $0 != "/" && $0 != "." && $0 != ":" }).hasPrefix("'") ? shell(text) : text
  }

  private static func exportFirst(_ file: String) -> String {
    "fieldpack export \(file) LAYER --output layer.geojson, then import that"
  }
}

extension FieldpackError {
  /// The message with the advice in the tool's words.
  var text: String { AdviceText.text(message, advice) }
}

extension SkippedFeature {
  /// The reason with the advice in the tool's words.
  var text: String { AdviceText.text(reason, advice) }
}

extension Note {
  /// The note with the advice in the tool's words.
  var line: String { AdviceText.text(text, advice) }
}

extension DoctorFinding {
  /// The details with advice in the tool's words.
  var text: String { details.map(\.line).joined(separator: "; ") }
}

extension JSONValue {
  /// The notes, each with the advice in the tool's words.
  init(_ notes: [Note]) { self.init(notes.map(\.line)) }
}

extension Console {
  /// A remark of a report, unless notes are silenced.
  func note(_ note: Note) { self.note(note.line) }
}
