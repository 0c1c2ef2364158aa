import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

/// A folder with small inputs and, where a test makes it, `field.gpkg` with a layer `wells` of 200 points.
struct FieldFolder {
  private let folder: TemporaryFolder
  /// With every link resolved, as a record of files has it.
  let url: URL

  init() throws {
    folder = try TemporaryFolder()
    let real = try #require(realpath(folder.url.path, nil))
    defer { free(real) }
    url = URL(fileURLWithPath: String(cString: real))
    let changed = Self.point(5, 1_000).replacing(
      #""id":5"#, with: #""id":"ZmllbGQ=.d2VsbHM=.NQ==""#)
    let inputs = [
      "wells.geojson": Self.collection((1...200).map { Self.point($0, $0) }),
      "more.geojson": Self.collection((201...300).map { Self.point($0, 1) }),
      "new.geojson": Self.newPoint, "changed.geojson": changed,
      "walk.gpx": Self.walk, "both.scfg": Self.config,
      "kinds.geojson": Self.collection(
        (1...200).map {
          Self.point($0, 1).replacing(
            #"{"name""#, with: #"{"kind":"\#($0 % 2 == 0 ? "field" : "rest")","name""#)
        }),
    ]
    for (name, text) in inputs { _ = try folder.write(text, to: name) }
    try makeTiles()
  }

  /// Makes `map.mbtiles` with the 341 tiles of five zoom levels.
  private func makeTiles() throws {
    let connection = try Connection(path: file("map.mbtiles").path, mode: .create)
    try connection.execute("CREATE TABLE metadata (name text, value text)")
    try connection.execute(
      "CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer, tile_data blob)"
    )
    try connection.execute(
      "WITH RECURSIVE z(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM z WHERE n < 4), "
        + "i(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM i WHERE n < 15) "
        + "INSERT INTO tiles SELECT z.n, x.n, y.n, ? FROM z, i x, i y "
        + "WHERE x.n < 1 << z.n AND y.n < 1 << z.n",
      .blob(TestPicture.png(width: 64, height: 64, color: (1, 2, 3))))
  }

  private static func point(_ id: Int, _ depth: Int) -> String {
    #"{"type":"Feature","id":\#(id),"properties":{"name":"well \#(id)","depth":\#(depth)},"#
      + #""geometry":{"type":"Point","coordinates":[\#(13 + Double(id) / 1000),52]}}"#
  }

  /// A point that gets its id from the layer.
  private static let newPoint = point(901, 4).replacing(#""id":901,"#, with: "")

  private static func collection(_ features: [String]) -> String {
    #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
  }

  /// Two stores with a layer of the same name each, and a form for wells.
  private static let config = #"""
    {"stores": [
      {"id": "old", "store_type": "geojson", "version": "1", "uri": "wells.geojson"},
      {"id": "new", "store_type": "geojson", "version": "1", "uri": "more.geojson"}
    ], "forms": [
      {"id": 1, "form_key": "wells", "form_label": "Wells", "version": 1, "fields": [
        {"field_key": "name", "field_label": "Name", "type": "string"},
        {"field_key": "depth", "field_label": "Depth", "type": "number"}]}
    ]}
    """#

  /// A walk of 60 positions, a minute and some 68 m apart.
  private static var walk: String {
    let points = (10..<70).map { number in
      #"<trkpt lat="52" lon="13.0\#(number)"><time>2024-05-06T07:\#(number - 10 < 10 ? "0" : "")"#
        + #"\#(number - 10):00Z</time></trkpt>"#
    }
    return #"<gpx version="1.1" creator="test" xmlns="http://www.topografix.com/GPX/1/1">"#
      + "<trk><trkseg>\(points.joined())</trkseg></trk></gpx>"
  }

  // MARK: Files

  func file(_ name: String) -> URL { url.appendingPathComponent(name) }

  /// A word of a command line, as an absolute path where it names a file of the folder.
  func absolute(_ word: String) -> String {
    [".gpkg", ".geojson", ".gpx"].contains { word.hasSuffix($0) } ? file(word).path : word
  }

  func makeGeoPackage() async throws {
    let made = try await Tool.run(
      "import", "wells.geojson", "--into", "field.gpkg", folder: url)
    try #require(made.status == 0, "\(made)")
  }

  /// Makes `other.gpkg` with a layer `wells` of 100 other points.
  func makeOtherGeoPackage() async throws {
    let made = try await Tool.run(
      "import", "more.geojson", "--into", "other.gpkg", "--layer", "wells", folder: url)
    try #require(made.status == 0, "\(made)")
  }

  func copyGeoPackage(of other: FieldFolder, isWAL: Bool) throws {
    if FileManager.default.fileExists(atPath: other.file("other.gpkg").path) {
      try FileManager.default.copyItem(at: other.file("other.gpkg"), to: file("other.gpkg"))
    }
    try FileManager.default.copyItem(at: other.file("field.gpkg"), to: file("field.gpkg"))
    guard isWAL else { return }
    try Connection(path: file("field.gpkg").path, mode: .readWrite).setJournalMode(.wal)
  }

  /// The GeoPackage with all that is beside it.
  func databaseFiles() throws -> [String: [UInt8]] {
    try names().reduce(into: [:]) { files, name in
      guard name.contains("field.gpkg") else { return }
      files[name] = [UInt8](try Data(contentsOf: file(name)))
    }
  }

  func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
  }

  // MARK: Contents

  func contents() throws -> [String]? { try Self.contents(of: file("field.gpkg")) }

  /// The rows of all layers as text, but for times of change; `nil` where there is no file.
  ///
  /// Opens the file as the next command does, which takes back what was not finished, and checks it
  /// with its R-trees.
  static func contents(of url: URL) throws -> [String]? {
    guard FileManager.default.fileExists(atPath: url.path) else { return nil }
    let connection = try Connection(path: url.path, mode: .readWrite)
    #expect(try connection.scalar("PRAGMA integrity_check") == .text("ok"))
    let layers = try column(
      "SELECT table_name FROM gpkg_contents WHERE table_name NOT LIKE 'fieldpack%' ORDER BY 1",
      connection)
    var rows: [String] = []
    for layer in layers {
      let columns = try column(
        "SELECT name FROM pragma_table_info('\(layer)') WHERE name NOT LIKE '%updated%'",
        connection)
      let values = columns.map { #"quote("\#($0)")"# }.joined(separator: " || ',' || ")
      rows += try column(
        #"SELECT '\#(layer)|' || \#(values) FROM "\#(layer)" ORDER BY rowid"#, connection)
    }
    let indexes = try column(
      "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%rtree%'", connection)
    for index in indexes {
      #expect(try connection.scalar("SELECT rtreecheck('\(index)')") == .text("ok"))
    }
    return rows
  }

  private static func column(_ sql: String, _ connection: Connection) throws -> [String] {
    let statement = try connection.prepare(sql)
    var values: [String] = []
    while try statement.step() { values.append(statement.string(0) ?? "") }
    return values
  }
}
