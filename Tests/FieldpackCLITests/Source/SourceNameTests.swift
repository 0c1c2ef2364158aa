import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCLI

@Suite struct SourceNameTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    for name in ["f.gpkg", "a:b.gpkg", "f.gpkg:old", "plain"] {
      _ = try folder.write("", to: name)
    }
    try FileManager.default.createDirectory(
      at: folder.file("configs"), withIntermediateDirectories: false)
  }

  @Test(
    arguments: [
      ("f.gpkg", "f.gpkg", nil), ("f.gpkg:wells", "f.gpkg", "wells"),
      ("f.gpkg:a:b", "f.gpkg", "a:b"), (#"f.gpkg:a"b; DROP"#, "f.gpkg", #"a"b; DROP"#),
      ("f.gpkg:store/wells", "f.gpkg", "store/wells"), ("plain:wells", "plain", "wells"),
      ("configs:wells", "configs", "wells"), ("a:b.gpkg", "a:b.gpkg", nil),
      ("a:b.gpkg:wells", "a:b.gpkg", "wells"), ("f.gpkg:old", "f.gpkg:old", nil),
      ("f.gpkg:old:wells", "f.gpkg:old", "wells"), ("none.gpkg:a:b", "none.gpkg", "a:b"),
      ("none.GEOJSON:a", "none.GEOJSON", "a"), ("none:a", "none:a", nil),
    ] as [(String, String, String?)])
  func `a path that exists wins, and what follows it is the layer`(
    text: String, path: String, layer: String?
  ) throws {
    let base = folder.url.path + "/"
    let source = try SourceName(base + text)
    #expect(source.path == base + path)
    #expect(source.layer?.rawValue == layer)
  }

  @Test func `standard input has layers, too`() throws {
    let source = try SourceName("-:wells")
    #expect(source.path == "-" && source.layer == "wells")
    #expect(try SourceName("-") == SourceName(path: "-"))
  }

  @Test func `a layer without a name is refused`() {
    let error = #expect(throws: ValueError.self) {
      try SourceName(folder.file("f.gpkg").path + ":")
    }
    #expect(error?.reason == "names no layer after the colon")
  }
}

@Suite(.programs) struct SourceNameCommandTests {
  private let folder: TemporaryFolder
  private static let strange = #"a"b; DROP"#

  init() async throws {
    folder = try TemporaryFolder()
    for (layer, x) in [("wells", 1), (Self.strange, 2), ("c:d", 3)] {
      _ = try folder.write(
        #"{"type":"Feature","properties":{"n":\#(x)},"geometry":"#
          + #"{"type":"Point","coordinates":[\#(x),0]}}"#, to: "one.geojson")
      let result = try await run("import", "one.geojson", "--into", "f.gpkg:\(layer)")
      #expect(result.status == 0, "\(result)")
    }
    _ = try folder.write(
      #"{"stores":[{"id":"one","store_type":"gpkg","uri":"f.gpkg"}]}"#, to: "s.scfg")
  }

  private func run(_ arguments: String...) async throws -> RunResult {
    try await Tool.run(arguments, folder: folder.url)
  }

  @Test(arguments: [
    ("f.gpkg:wells", "1"), ("f.gpkg:\(strange)", "2"), ("f.gpkg:c:d", "3"), ("s.scfg:wells", "1"),
    ("s.scfg:\(strange)", "2"),
  ])
  func `queries and exports read the layer`(source: String, number: String) async throws {
    let query = try await run("query", source, "--select", "n", "--format", "csv")
    #expect(query.output.contains("\n1,\(number),"), "\(query)")
    let info = try await run("info", source, "--json")
    #expect(info.output.contains(#""count":1"#), "\(info)")
    let export = try await run("export", source, "--output", "out.geojson", "--overwrite")
    #expect(export.status == 0, "\(export)")
    let explain = try await run("explain", source)
    #expect(explain.status == 0, "\(explain)")
  }

  @Test func `a layer after the source joins those that follow`() async throws {
    let count = try await run("query", "f.gpkg:wells", "c:d", "--count")
    #expect(count.output == "2\n", "\(count)")
    let two = try await run("info", "f.gpkg:wells", "c:d")
    #expect(two.status == 64 && two.error.contains("info shows one layer"), "\(two)")
    let transform = try await run(
      "transform", "f.gpkg:wells", "--srs", "EPSG:3857", "--output", "m.gpkg")
    #expect(transform.status == 0, "\(transform)")
    let optimize = try await run("optimize", "f.gpkg:wells", "--index", "--json")
    #expect(optimize.output.contains(#""layer":"wells""#), "\(optimize)")
    #expect(!optimize.output.contains(#""layer":"c:d""#), "\(optimize)")
  }

  @Test func `features are added to the layer`() async throws {
    let created = try await run("create", "f.gpkg:wells", "one.geojson")
    #expect(created.status == 0, "\(created)")
    let word = try await run("create", "f.gpkg", "wells", "one.geojson")
    #expect(word.status == 0, "\(word)")
    let missing = try await run("create", "f.gpkg")
    #expect(missing.status == 64 && missing.error.contains("f.gpkg:LAYER"), "\(missing)")
    let count = try await run("query", "f.gpkg:wells", "--count")
    #expect(count.output == "3\n", "\(count)")
  }

  @Test(arguments: ["check", "doctor", "track list", "capture list", "motion list", "photo list"])
  func `a command that takes a whole file refuses a layer`(command: String) async throws {
    let words = command.split(separator: " ").map(String.init)
    let result = try await Tool.run(words + ["f.gpkg:wells"], folder: folder.url)
    #expect(result.status == 64, "\(result)")
    #expect(
      result.error.contains("names a layer where a whole source is taken. Try: f.gpkg"),
      "\(result)")
  }

  @Test func `layers complete after the colon`() async throws {
    for (words, answer) in [
      (["query", "f.gpkg:w"], "words\nf.gpkg:wells\tPOINT, EPSG:4326\n"),
      (["monitor", "x", "--regions", "f.gpkg:c:"], "words\nf.gpkg:c:d\tPOINT, EPSG:4326\n"),
      (["import", "x", "--into=f.gpkg:w"], "words\n--into=f.gpkg:wells\tPOINT, EPSG:4326\n"),
      (["query", "f.gpkg:wells", "--select", "n"], "words nospace\nn\tINTEGER\n"),
    ] {
      let result = try await Tool.run(["--complete", "fish"] + words, folder: folder.url)
      #expect(result.output == answer, "\(words) \(result)")
    }
  }
}
