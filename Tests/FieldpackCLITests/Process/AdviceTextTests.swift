import FieldpackCore
import FieldpackTestSupport
import Testing

@testable import FieldpackCLI

@Suite(.programs) struct AdviceTextTests {
  private static let anew =
    "fieldpack export --sql 'SELECT …' --output NEW.gpkg, which makes the layer anew"
  static let words: [(FieldpackError.Advice, String)] = [
    (.overwrite, "--overwrite, or another name"),
    (.writeElsewhere, "another --output"),
    (.writeToFile, "--output FILE"),
    (.allowFolder, "--allow-path with the folder it lies in"),
    (.fetchStores(config: "my survey.scfg"), "fieldpack fetch 'my survey.scfg'"),
    (
      .fetchAgain(config: "a.scfg", store: "my wells"),
      "fieldpack fetch a.scfg --store 'my wells' --again to give up the changes"
    ),
    (
      .nameFormat(of: .file),
      "--format geojson, geojsonl, gpx, kml, kmz, csv, shp, fgb, nmea, igc or tcx"
    ),
    (
      .nameFormat(of: .source),
      "--input-format geojson, geojsonl, gpx, kml, kmz, csv, shp, fgb, nmea, igc or tcx"
    ),
    (.checkFile, "fieldpack check"),
    (.rebuildIndex, "fieldpack optimize --index"),
    (.skipErrors, "--skip-errors"),
    (.skipLines, "--skip-errors to pass over such lines"),
    (.skipErrorsOrNameStores, "--skip-errors, or --store for the others"),
    (.makeValid, "--make-valid"),
    (.nameLayer, "--layer NAME to put them into one layer"),
    (.appendReplaceOrRename, "--mode append, --mode replace, or another --layer"),
    (.otherLayerOrOmitIDs, "another --layer, or features without an id"),
    (
      .exportFirst(file: "a.gpkg"),
      "fieldpack export a.gpkg LAYER --output layer.geojson, then import that"
    ),
    (.importIntoGeoPackage, "fieldpack import its file into a GeoPackage"),
    (.omitIDColumn, "without --id"),
    (.nameSourceSRS, "--source-srs"),
    (.nameOtherSourceSRS, "--source-srs EPSG:n"),
    (.nameGeometryColumns, "--wkt COLUMN, or --x COLUMN --y COLUMN"),
    (.nameCoordinates(x: "start lon", y: "lat"), "--x 'start lon' --y lat"),
    (.nameWKTColumn("it's"), #"--wkt 'it'\''s'"#), (.nameIDColumn("fid"), "--id fid"),
    (.nameEncoding, "--encoding NAME, if it is another"), (.nameDelimiter("|"), "--delimiter '|'"),
    (.nameDecimalSign(","), "--decimal ,"),
    (.nameStore(nil), "--store"),
    (.nameStore("field"), "--store 'field'"),
    (.nameSourceLayer(file: "a.gpkg"), "a.gpkg:LAYER"),
    (.prefixStores, "--prefix-store"),
    (.transformAll, "--srs"),
    (.transformLayer, "fieldpack transform on one of the two"),
    (.keepWGS84, "without --srs"),
    (.omitKeys, "GeoJSON or CSV, or without --keys"),
    (.omitGPXDialect, "its layer of points, or without --gpx-dialect"),
    (.useKeyTuples, "fieldpack query --keys, which writes them"),
    (
      .allowLoss,
      "fieldpack sql --write with ST_GeomFromText to keep them, or --allow-loss to give them up"
    ),
    (
      .allowTriggers, #"--allow-triggers, or a store config with "options": {"triggers": true}"#
    ),
    (.runWriting, "--write"),
    (.runWritingOrApart, "--write, or one statement at a time"),
    (.renameOrDeleteLayer, "fieldpack layer rename, or fieldpack layer delete"),
    (.renameOrDropColumn, "fieldpack layer rename-column, or fieldpack layer drop-column"),
    (.nameMatchColumn, "--match COLUMN, or --id COLUMN"),
    (.retypeLayer, "fieldpack layer retype"), (.makeLayerAnew, anew),
    (.transformFile, "fieldpack transform"),
    (.waitInSQL, "fieldpack sql, which waits for it"),
    (.signIn(config: "my survey.scfg"), "fieldpack login 'my survey.scfg'"),
    (.signIn(config: nil), "fieldpack login CONFIG"),
    (.allowUnencrypted, "https in the config, or --insecure"),
    (.recordTrack, "fieldpack track record"),
    (.setPace, "--rate 1 for a fix a second, or --speed max"),
    (.installFFmpeg(or: .omitThumbnail), "apt-get install ffmpeg, or --no-thumbnail"),
    (.storeTilesAsPNG, "tiles that are stored as PNG"), (.keepBytes, "--keep-bytes"),
    (.importCapture(folder: "c/1", into: "a.gpkg"), "fieldpack import c/1 --into a.gpkg"),
    (.listCaptures(file: "a.gpkg"), "fieldpack capture list a.gpkg"),
    (.several([.makeValid, .skipErrors]), "--make-valid. Try: --skip-errors"),
  ]

  @Test(arguments: words)
  func `advice names options and commands of the tool`(
    advice: FieldpackError.Advice, words: String
  ) {
    let error = FieldpackError(.invalidData, "so it is", advice: advice)
    #expect(ErrorReport(error).line == "fieldpack: so it is. Try: \(words)\n")
    #expect(Note("so it is", advice: advice).line == "so it is. Try: \(words)")
    let skipped = SkippedFeature(
      location: .init(layer: "a", feature: 7), reason: "so it is", advice: advice)
    #expect(skipped.line == "a/7: so it is. Try: \(words)")
    for word in ["--", "fieldpack "] { #expect(!error.description.contains(word)) }
  }

  @Test(arguments: [
    (FieldpackError.Advice.nameOneGeometry, "--wkt excludes --x and --y"),
    (.nameBothCoordinates, "--x and --y are given together"),
  ])
  func `what is wrong with options is said of the options`(
    advice: FieldpackError.Advice, text: String
  ) {
    let error = FieldpackError(.invalidArgument, "so it is", advice: advice)
    #expect(ErrorReport(error).line == "fieldpack: \(text)\n")
  }

  @Test func `the document has the advice for its hint`() {
    let error = FieldpackError(
      .invalidData, "so it is", advice: .makeValid.then(.skipErrors))
    let text = ErrorReport(error).document.text
    #expect(text.contains(#""message":"so it is. Try: --make-valid""#), "\(text)")
    #expect(text.contains(#""hint":"--skip-errors""#), "\(text)")
  }
}
