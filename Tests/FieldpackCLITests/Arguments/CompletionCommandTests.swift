import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCLI

/// Completions from files, through the tool and through the shells.
@Suite(.programs) struct CompletionCommandTests {
  private let folder: TemporaryFolder

  init() async throws {
    folder = try TemporaryFolder()
    let wells = """
      {"type":"Feature","properties":{"name":"Mitte","well depth":12},\
      "geometry":{"type":"Point","coordinates":[13.5,52.5]}}
      """
    _ = try folder.write(wells, to: "wells.geojson")
    for (layer, srs) in [("wells", "EPSG:31467"), ("old wells", "EPSG:4326")] {
      let result = try await Tool.run(
        "import", "wells.geojson", "--into", "f.gpkg", "--layer", layer, "--srs", srs, "-q",
        folder: folder.url)
      #expect(result.error == "")
    }
    let config = """
      {"stores":[{"id":"one","store_type":"gpkg","uri":"f.gpkg"},
      {"id":"gone","store_type":"gpkg","uri":"gone.gpkg"}]}
      """
    _ = try folder.write(config, to: "s.scfg")
  }

  private static let answers: [([String], String)] = [
    (["query", "f.gpkg", ""], "words\nwells\tPOINT, EPSG:31467\nold wells\tPOINT, EPSG:4326\n"),
    (["query", "f.gpkg", "o"], "words\nold wells\tPOINT, EPSG:4326\n"),
    (["query", "s.scfg", "w"], "words\nwells\tPOINT, EPSG:31467\n"),
    (
      ["query", "f.gpkg", "wells", "--select", "n"], "words nospace\nname\tTEXT\n"
    ),
    (
      ["query", "f.gpkg", "--sort", "name,-w"],
      "words nospace\nname,-well depth\tINTEGER\n"
    ),
    (["query", "s.scfg", "--store", ""], "words\none\tgpkg.1\ngone\tgpkg.1\n"),
    (["query", "f.gpkg", "--store", ""], "words\nf\n"),
    (["query", "f.gpkg", "--srs", "EPSG:314"], "words\nEPSG:31467\n"),
    (["import", "x", "--into", "f.gpkg", "--layer", "w"], "words\nwells\tPOINT, EPSG:31467\n"),
    (["create", "f.gpkg", "o"], "words\nold wells\tPOINT, EPSG:4326\n"),
    (["query", "--srs", "EPSG:43"], "words\nEPSG:4326\tWGS 84, degrees\n"),
    (["query", "none.gpkg", ""], "words\n"), (["query", "/", ""], "words\n"),
    (
      ["import", "--format", ""],
      "words\ngeojson\ngeojsonl\ngpx\nkml\nkmz\ncsv\nshp\nfgb\ngpkg\nnmea\nigc\ntcx\n"
    ),
  ]

  @Test(arguments: answers)
  func `files give layers, columns, stores and systems`(words: [String], answer: String)
    async throws
  {
    let result = try await Tool.run(["--complete", "fish"] + words, folder: folder.url)
    #expect(result.output == answer)
    #expect(result.error == "")
    #expect(result.status == 0)
  }

  @Test func `a file that was read before answers from the cache`() async throws {
    let environment = ["XDG_CACHE_HOME": folder.file("cache").path]
    let read = try await Tool.run(
      "query", "wells.geojson", environment: environment, folder: folder.url)
    #expect(read.status == 0)
    let result = try await Tool.run(
      "--complete", "fish", "query", "wells.geojson", "", environment: environment,
      folder: folder.url)
    #expect(result.output == "words\nwells\tPOINT, EPSG:4326\n")
  }

  @Test func `bash offers quoted names`() async throws {
    let script = """
      eval "$(fieldpack completions bash)"
      COMP_LINE='fieldpack query f.gpkg o' COMP_WORDS=(fieldpack query f.gpkg o) COMP_CWORD=3
      _fieldpack
      printf '%s\\n' "${COMPREPLY[@]}"
      """
    let result = try await run(script)
    #expect(result.output == "old\\ wells\n")
    #expect(result.error == "")
  }

  @Test func `a source that takes too long is left out`() async {
    let lookup = CompletionLookup("endless.geojson") { _ in
      while !Task.isCancelled { try? await Task.sleep(for: .seconds(3600)) }
      throw CancellationError()
    }
    #expect(await lookup.layers().isEmpty)
  }

  @Test func `a pipe is not waited for`() async throws {
    // The shell keeps the pipe open, and nothing ever comes through it.
    let script = """
      mkfifo endless.geojsonl && exec 3<>endless.geojsonl
      fieldpack --complete fish query endless.geojsonl ''
      """
    let result = try await run(script)
    #expect(result.output == "words\n")
    #expect(result.error == "")
  }

  /// Runs a script of bash that has the tool in its path.
  private func run(_ script: String) async throws -> RunResult {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let tool = URL(fileURLWithPath: Tool.path).deletingLastPathComponent().path
    return try await Program.run(
      "bash", ["-c", script], environment: ["PATH": "\(tool):\(path)"], folder: folder.url)
  }
}
