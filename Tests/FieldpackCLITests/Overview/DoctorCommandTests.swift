import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct DoctorCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func fieldpack(_ words: String...) async throws -> RunResult {
    try await Tool.run(
      words, environment: ["XDG_CACHE_HOME": folder.file("cache").path], folder: folder.url)
  }

  @Test func `names libraries, cache and limits`() async throws {
    let result = try await fieldpack("doctor")
    #expect(result.error == "")
    #expect(result.status == 0)
    let words = result.output.split(separator: "\n").map { $0.split(separator: " ") }
    let names = words.filter { ["ok", "note", "problem"].contains($0.first) }.map { $0[1] }
    #expect(
      names == [
        "SQLite", "SpatiaLite", "PROJ", "proj.db", "GEOS", "libxml2", "cache", "write", "open",
        "file", "memory",
      ])
    #expect(result.output.contains("network off"))
    #expect(result.output.contains("not made yet"))
  }

  @Test func `the cache is as large as its files`() async throws {
    _ = try folder.write(#"{"type":"Point","coordinates":[1,2]}"#, to: "p.geojson")
    #expect(try await fieldpack("info", "p.geojson").status == 0)
    let cache = folder.file("cache/fieldpack").path
    let names = try FileManager.default.contentsOfDirectory(atPath: cache).filter {
      $0.hasSuffix(".gpkg")
    }
    let size = try Data(contentsOf: URL(fileURLWithPath: "\(cache)/\(names[0])")).count
    let result = try await fieldpack("doctor")
    #expect(result.output.contains("1 file, \(size) of at most "), "\(result)")
  }

  @Test func `the document has a finding for each`() async throws {
    let result = try await fieldpack("doctor", "--json")
    let version = try Regex(#""message":"[^"]*""#)
    #expect(
      result.output.replacing(version, with: #""message":"""#)
        == #"{"version":"0.1.0","is_well":true,"findings":["#
        + [
          ("libraries", "SQLite"), ("libraries", "SpatiaLite"), ("libraries", "PROJ"),
          ("libraries", "proj.db"), ("libraries", "GEOS"), ("libraries", "libxml2"),
          ("system", "cache"), ("system", "write test"), ("system", "open files"),
          ("system", "file size"), ("system", "memory"),
        ].map { #"{"section":"\#($0.0)","name":"\#($0.1)","state":"ok","message":""}"# }
        .joined(separator: ",") + "]}\n")
  }

  @Test func `a store that does not open is a problem`() async throws {
    _ = try folder.write(#"{"type":"Point","coordinates":[1,2]}"#, to: "p.geojson")
    let config = """
      {"stores":[{"id":"p","store_type":"geojson","uri":"p.geojson"},
      {"id":"gone","store_type":"gpkg","uri":"gone.gpkg"}]}
      """
    _ = try folder.write(config, to: "s.scfg")
    let result = try await fieldpack("doctor", "s.scfg", "--json")
    #expect(result.status == 1)
    #expect(result.output.hasPrefix(#"{"version":"0.1.0","is_well":false,"#))
    #expect(
      result.output.contains(
        #"{"section":"s.scfg","name":"store p","state":"ok","#
          + #""message":"1 layer, 1 feature, read-only"}"#))
    #expect(
      result.output.contains(#"{"section":"s.scfg","name":"store gone","state":"problem","#))
    let missing = try await fieldpack("doctor", "none.gpkg")
    #expect(missing.status == 1)
    #expect(missing.output.contains("none.gpkg does not exist"))
  }

  @Test func `a temporary folder that cannot be written is a problem`() async throws {
    let result = try await Tool.run(
      "doctor", environment: ["TMPDIR": folder.file("none").path], folder: folder.url)
    #expect(result.status == 1)
    #expect(result.output.contains("problem  write test  cannot create "))
  }
}
