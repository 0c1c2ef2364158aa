import FieldpackCore
import Testing

@testable import Fieldpack

@Suite struct FormatTests {
  @Test func `formats are in one list, with what they do`() {
    let table = Format.all.map { format in
      let uses = [
        Format.read.contains(format) ? "read" : nil,
        Format.imported.contains(format) ? "imported" : nil,
        Format.written.contains(format) ? "written" : nil,
      ].compactMap { $0 }.joined(separator: " ")
      return "\(format.title): \(format) \(format.extensions) \(format.holdsLayers) \(uses)"
    }
    #expect(
      table == [
        #"GeoJSON: geojson ["geojson", "json"] false read imported written"#,
        #"GeoJSONL: geojsonl ["geojsonl", "geojsons", "ndjson", "ndgeojson"] false "#
          + "read imported written",
        #"GPX: gpx ["gpx"] true read imported written"#,
        #"KML: kml ["kml"] true read imported written"#,
        #"KMZ: kmz ["kmz"] true read imported written"#,
        #"CSV: csv ["csv", "tsv"] false read imported written"#,
        #"Shapefile: shp ["shp", "dbf", "zip"] false read imported written"#,
        #"FlatGeobuf: fgb ["fgb"] false read imported written"#,
        #"a GeoPackage: gpkg ["gpkg"] true read imported written"#,
        #"NMEA: nmea ["nmea", "nma"] true read imported"#,
        #"IGC: igc ["igc"] true read imported"#,
        #"TCX: tcx ["tcx"] true read imported"#,
        #"SVG: svg ["svg"] true written"#,
        #"HTML: html ["html", "htm"] true written"#,
      ])
    #expect(Format.named("GPX") == .gpx)
    #expect(Format.byExtension("a.b/Map.HTM") == .html)
    #expect(Format.byExtension("gpx") == nil)
  }

  @Test(arguments: [
    ("a.txt", "SQLite format 3\0", "gpkg"), ("a.gpx", "SQLite format 3\0", "gpkg"),
    ("a.shp", "SQLite format 3\0", "gpkg"),
    ("a.csv", "\u{FEFF} {", "geojson"), ("a.json", "[", "geojson"), ("a.ndjson", "{", "geojsonl"),
    ("a.txt", "\u{1E}{", "geojsonl"), ("a.geojson", " \u{1E}{", "geojsonl"),
    ("a.ndjson", #"{"name":"<kml"}"#, "geojsonl"), ("a.geojson", #"{"name":"<kml"}"#, "geojson"),
    ("a.txt", "<gpx>", "gpx"), ("a.tcx", "<gpx>", "gpx"), ("a.svg", "<svg/>", "gpx"),
    ("a.gpx", "<?xml?>\n<kml>", "kml"), ("a.kml", "<Folder>", "kml"), ("a.kmz", "PK", "kmz"),
    ("a.bin", "PK\u{3}\u{4}doc.kml", "kmz"),
    ("a.gpx", "<?xml?><TrainingCenterDatabase>", "tcx"),
    ("a.txt", "$GPGGA,1", "nmea"), ("a.csv", "$PRICE,1", "csv"),
    ("a.txt", "$PGRME,15.0,M*1C\r\n", "nmea"), ("a.csv", "$price,1", "csv"),
    ("a.csv", "$GPGG,1", "csv"),
    ("a.txt", "AXCT\nHFDTE01", "igc"), ("a.csv", "AXCT,1\n", "csv"), ("a.csv", "Ax\nHFDTE", "csv"),
    ("a.geojson", "\0\0\u{27}\n", "shp"), ("a.SHP", "", "shp"), ("a.dbf", "\u{3}", "shp"),
    ("a.zip", "PK\u{3}\u{4}", "shp"), ("a.csv", "fgb\u{3}fgb\u{1}", "fgb"),
    ("a.igc", "", "igc"), ("a.tsv", "lon\tlat", "csv"),
  ])
  func `contents tell a format before the extension does`(
    path: String, head: String, name: String
  ) throws {
    #expect(try Format.detect(path: path, head: Array(head.utf8)).name == name)
  }

  @Test(arguments: [("a.txt", "gpx"), ("a.csv", "csv")])
  func `UTF-16 is XML where the extension says nothing else`(path: String, name: String) throws {
    for mark: [UInt8] in [[0xFF, 0xFE], [0xFE, 0xFF]] {
      #expect(try Format.detect(path: path, head: mark + [0x3C, 0]).name == name)
    }
  }

  @Test(arguments: [
    ("a.txt", Array("lon,lat".utf8), "the format of a.txt is not known"),
    ("a.svg", [], "the format of a.svg is not known"),
    ("a.parquet", Array("PAR1".utf8), "a.parquet is a Parquet file, which is not read"),
    (
      "a.json", Array(#"{"_type":"location","lon":10,"lat":54}"#.utf8),
      "a.json holds messages of OwnTracks, which are positions and no features"
    ),
  ])
  func `what is not read is refused`(path: String, head: [UInt8], message: String) {
    let error = #expect(throws: FieldpackError.self) {
      try Format.detect(path: path, head: head)
    }
    #expect(error?.code == .unsupported)
    #expect(error?.message.hasPrefix(message) == true, "\(String(describing: error))")
  }
}
