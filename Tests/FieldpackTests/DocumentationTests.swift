import Fieldpack
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct DocumentationTests {

  /// The code blocks of an article, in order, by language.
  private func blocks(_ language: String, in article: String) throws -> [String] {
    let url = Checkout.file("Sources/Fieldpack/Fieldpack.docc/\(article).md")
    let parts = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n```")
    // Code stands between every other pair of fences.
    return parts.enumerated().compactMap { index, part in
      guard index % 2 == 1, part.hasPrefix(language + "\n") else { return nil }
      return String(part.dropFirst(language.count + 1)) + "\n"
    }
  }

  @Test func `the article on store types shows the code that the tests run`() throws {
    let code = try blocks("swift", in: "AddAStoreType")
    let file = Checkout.file("Tests/FieldpackTests/NMEAStoreType.swift")
    #expect(try code.first == String(contentsOf: file, encoding: .utf8))
    #expect(code.last == Self.use)
  }

  /// What ``printed(_:)`` does, as the article says it.
  private static let use = """
    var registry = StoreRegistry.standard
    registry.register(NMEAStoreType.self)
    let workspace = try await Workspace.open([config], registry: registry)
    let query = Query("fixes", where: Column<Int>("satellites") >= 10).select("altitude")
    for try await feature in try await workspace.query(query).features {
      print(feature[Column<Double>("altitude")] ?? 0)
    }
    await workspace.close()

    """

  private func printed(_ config: URL) async throws -> String {
    var printed = ""
    var registry = StoreRegistry.standard
    registry.register(NMEAStoreType.self)
    let workspace = try await Workspace.open([config.path], registry: registry)
    let query = Query("fixes", where: Column<Int>("satellites") >= 10).select("altitude")
    for try await feature in try await workspace.query(query).features {
      print(feature[Column<Double>("altitude")] ?? 0, to: &printed)
    }
    await workspace.close()
    return printed
  }

  @Test func `the article on store types leads to a config that works`() async throws {
    let folder = try TemporaryFolder()
    let texts = try blocks("text", in: "AddAStoreType")
    let config = try #require(blocks("json", in: "AddAStoreType").first)
    _ = try folder.write(try #require(texts.first), to: "boat.nmea")
    let printed = try await printed(try folder.write(config, to: "boat.scfg"))
    #expect(printed == texts.last)
  }

  @Test func `a config with that type opens without it, the store being failed`() async throws {
    let folder = try TemporaryFolder()
    let text = try #require(blocks("json", in: "AddAStoreType").first)
    let workspace = try await Workspace.open([try folder.write(text, to: "boat.scfg").path])
    let member = try #require(workspace.members.first)
    guard case .failed(let error) = member.state else {
      Issue.record("the store is open")
      return
    }
    #expect(error.code == .configuration)
    #expect(
      error.message
        == "store type 'nmea.1' is not known "
        + "(known: csv.1, fgb.1, geojson.1, gpkg.1, gpx.1, kml.1, shp.1, wfs.1.1.0, wfs.2.0.0, "
        + "xyz.1)")
  }

  @Test func `the origin of every file of test data is told`() throws {
    let folder = Checkout.file("TestData")
    let text = try String(contentsOf: folder.appendingPathComponent("README.md"), encoding: .utf8)
    let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { path in
      let isFolder = folder.appendingPathComponent(path).hasDirectoryPath
      return !isFolder && path != "README.md" && !path.hasPrefix(".") && !path.contains("/.")
    }
    // A row may tell of a whole folder.
    let untold = files.filter { path in
      let steps = path.split(separator: "/")
      let folders = (1..<steps.count).map { steps[..<$0].joined(separator: "/") + "/" }
      return !([path] + folders).contains { text.contains("`\($0)`") }
    }
    #expect(untold == [])
  }
}
