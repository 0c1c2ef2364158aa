import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct CSVImportTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func fieldpack(_ words: String...) async throws -> RunResult {
    try await Tool.run(words, folder: folder.url)
  }

  @Test func `columns keep names, order and rows through import and export`() async throws {
    _ = try folder.write("name;id;fid\nb;30;x\na;10;y\n", to: "t.csv")
    let result = try await fieldpack("import", "t.csv", "--into", "f.gpkg")
    #expect(result.error == "")
    _ = try await fieldpack("export", "f.gpkg", "--output", "out.csv")
    let text = try String(contentsOf: folder.file("out.csv"), encoding: .utf8)
    #expect(text == "fid_2,name,id,fid\r\n1,b,30,x\r\n2,a,10,y\r\n")
    let query = try await fieldpack("query", "t.csv", "--select", "id,name", "--format", "csv")
    #expect(query.output == "id,name\r\n30,b\r\n10,a\r\n")
  }

  @Test func `files with other columns go into one layer whose ids are named apart`() async throws {
    _ = try folder.write("a\n1\n", to: "a.csv")
    _ = try folder.write("a,fid\n2,7\n", to: "b.csv")
    _ = try await fieldpack("import", "a.csv", "b.csv", "--into", "f.gpkg", "--layer", "x")
    let rows = try await fieldpack("query", "f.gpkg", "--format", "csv")
    #expect(rows.output == "fid_2,a,fid\r\n1,1,\r\n2,2,7\r\n")
  }

  @Test func `appending says what becomes of a column named as the ids`() async throws {
    _ = try folder.write("a\n1\n", to: "a.csv")
    _ = try folder.write("fid,a\n7,2\n", to: "b.csv")
    _ = try await fieldpack("import", "a.csv", "--into", "f.gpkg", "--layer", "x")
    let append = ["import", "b.csv", "--into", "f.gpkg", "--layer", "x", "--mode", "append"]
    let noted = try await Tool.run(append, folder: folder.url)
    #expect(
      noted.error
        == "note: column 'fid' is left out: it is the feature id in layer 'x'. Try: --id fid\n")
    let given = try await Tool.run(append + ["--id", "fid"], folder: folder.url)
    #expect(given.error == "")
    let rows = try await fieldpack("query", "f.gpkg", "--format", "csv")
    #expect(rows.output == "fid,a\r\n1,1\r\n2,2\r\n7,2\r\n")
  }

  @Test func `options say what a European file does not`() async throws {
    let bytes =
      Array("Ort|Tag|H\u{F6}he\n".unicodeScalars.map { UInt8($0.value) })
      + Array("K\u{F6}ln|1.5.2024|\"1,234\"\n".unicodeScalars.map { UInt8($0.value) })
    try Data(bytes).write(to: folder.file("t.csv"))
    let result = try await fieldpack(
      "import", "t.csv", "--into", "f.gpkg", "--decimal", ",", "--encoding", "latin1",
      "--date-format", "%d.%m.%Y")
    #expect(result.error == "")
    let rows = try await fieldpack("query", "f.gpkg", "--format", "csv")
    #expect(rows.output == "fid,Ort,Tag,Höhe\r\n1,Köln,2024-05-01,1.234\r\n")
    let unknown = try await fieldpack(
      "import", "t.csv", "--into", "g.gpkg", "--encoding", "klingon")
    #expect(
      unknown.error
        == "fieldpack: t.csv: the encoding 'klingon' is not known. Try: --encoding NAME, if it is "
        + "another\n")
    #expect(unknown.status == 64)
  }

  @Test func `notes of what was found end with the option`() async throws {
    _ = try folder.write("start lat;start lng;t\n1;2;3,5\n", to: "t.csv")
    let result = try await fieldpack("import", "t.csv", "--into", "f.gpkg")
    #expect(
      result.error == """
        note: t.csv: numbers such as '3,5' were read with a decimal comma. Try: --decimal .
        note: t.csv: the layer has no geometry; columns 'start lng' and 'start lat' may be \
        coordinates. Try: --x 'start lng' --y 'start lat'

        """)
  }

  // MARK: Coordinates beyond degrees

  @Test func `coordinates that are no degrees are said once a layer`() async throws {
    _ = try folder.write("lat,lon\n1,2\n95,2\n2,181\n-90,-180\n", to: "a.csv")
    _ = try folder.write(
      #"{"type":"Point","coordinates":[2600000,1200000]}"#, to: "b.geojson")
    let result = try await fieldpack("import", "a.csv", "b.geojson", "--into", "f.gpkg")
    #expect(result.status == 0)
    #expect(
      result.error == """
        note: layer 'a' is in WGS 84, but 2 features, the first with the id 2, lie beyond 180° of \
        longitude or 90° of latitude. Try: --source-srs EPSG:n
        note: layer 'b' is in WGS 84, but feature 1 lies beyond 180° of longitude or 90° of \
        latitude. Try: --source-srs EPSG:n

        """)
    let given = try await fieldpack(
      "import", "b.geojson", "--into", "g.gpkg", "--source-srs", "2056")
    #expect(!given.error.contains("beyond"))
  }

  // MARK: Real files

  static let real: [(file: String, options: [String], layer: String, notes: [String])] = [
    (
      "es_helyx_ca12_latin1_decimal_comma", ["--date-format", "%d/%m/%y"], "4809 none",
      ["numbers such as '12,00'"]
    ),
    ("es_helyx_stations_utm_bom", ["--source-srs", "EPSG:25830"], "25 EPSG:25830", []),
    ("fr_bal_1_4_valid", [], "EPSG:4326", ["'x' and 'y' are columns"]),
    ("fr_bal_aliases_l93", [], "EPSG:4326", ["'x_l93' and 'y_l93' are columns"]),
    ("fr_bal_locales_no_coordinates", [], "none", []),
    ("fr_bal_sample_bom", [], "EPSG:4326", ["'x' and 'y' are columns"]),
    ("fr_bal_without_row", [], "EPSG:4326", ["'x' and 'y' are columns"]),
    ("fr_csvdetective_a_test_file", [], "none", []),
  ]

  @Test(
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)),
    arguments: real.indices)
  func `real files from Europe are read`(index: Int) async throws {
    let (file, options, layer, notes) = Self.real[index]
    let path = SharedData.url("real/csv-european/\(file).csv").path
    let result = try await Tool.run(
      ["import", path, "--into", "f.gpkg", "--layer", "t"] + options, folder: folder.url)
    #expect(result.status == 0)
    let line = result.output.split(separator: "\n").first { $0.hasPrefix("t ") } ?? ""
    for word in layer.split(separator: " ") { #expect(line.contains(word)) }
    for note in notes { #expect(result.error.contains(note)) }
    #expect(result.error.split(separator: "\n").count == notes.count)
  }
}
