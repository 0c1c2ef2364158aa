import FieldpackTestSupport
import Foundation

/// A folder with small inputs, made anew for each test.
struct SurveyFolder {
  let folder: TemporaryFolder

  static let wells = """
    {"type":"FeatureCollection","features":[
    {"type":"Feature","id":11,"properties":{"name":"Mitte","depth":12.5,"open":true},
     "geometry":{"type":"Point","coordinates":[13.4,52.5]}},
    {"type":"Feature","id":12,"properties":{"name":"Nord","depth":8,"open":null},
     "geometry":{"type":"Point","coordinates":[13.5,52.6]}}]}
    """
  static let sights = """
    {"type":"Feature","id":"dom","properties":{"name":"Dom","depth":3.5},
     "geometry":{"type":"Point","coordinates":[13.401,52.519]}}
    """
  static let walk = """
    <?xml version="1.0"?>
    <gpx version="1.1" creator="test" xmlns="http://www.topografix.com/GPX/1/1">
    <wpt lat="52.5" lon="13.4"><ele>34</ele><name>Start</name></wpt>
    <trk><name>Round</name><trkseg>
    <trkpt lat="52.5" lon="13.4"><ele>34</ele><time>2024-05-01T10:00:00Z</time></trkpt>
    <trkpt lat="52.51" lon="13.41"><ele>35.5</ele><time>2024-05-01T10:01:00Z</time></trkpt>
    </trkseg></trk></gpx>
    """
  static let config = """
    {"stores":[
      {"id":"wells","store_type":"geojson","version":"1","uri":"wells.geojson"},
      {"id":"sights","store_type":"geojson","version":1,"uri":"sights.geojson","colour":"red"},
      {"id":"gone","store_type":"gpkg","version":"1","uri":"gone.gpkg"}]}
    """

  init() throws {
    folder = try TemporaryFolder()
    for (text, name) in [
      (Self.wells, "wells.geojson"), (Self.sights, "sights.geojson"), (Self.walk, "walk.gpx"),
      (Self.config, "survey.scfg"),
    ] {
      _ = try folder.write(text, to: name)
    }
  }

  /// Runs the tool in the folder, with a cache in it.
  func run(
    _ arguments: String..., input: String? = nil, environment: [String: String] = [:]
  ) async throws -> RunResult {
    try await run(arguments, input: input, environment: environment)
  }

  func run(
    _ arguments: [String], input: String? = nil, environment: [String: String] = [:]
  ) async throws -> RunResult {
    let cache = ["XDG_CACHE_HOME": folder.file("cache").path]
    return try await Tool.run(
      arguments, input: input.map { Data($0.utf8) },
      environment: cache.merging(environment) { $1 }, folder: folder.url)
  }

  func text(_ name: String) throws -> String {
    try String(contentsOf: folder.file(name), encoding: .utf8)
  }

  /// A path in the folder as the system knows it, links resolved.
  func real(_ name: String) -> String {
    folder.url.resolvingSymlinksInPath().appendingPathComponent(name).path
  }

  func exists(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: folder.file(name).path)
  }

  /// The names in the folder, hidden ones included.
  var names: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
  }
}
