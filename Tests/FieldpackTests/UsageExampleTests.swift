import Fieldpack
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct UsageExampleTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private static let declarations = [
    ("Query", "FieldpackCore/Query/Query.swift", "public struct Query:"),
    ("Filter", "FieldpackCore/Filter/Filter.swift", "public indirect enum Filter:"),
    ("Feature", "FieldpackCore/Feature/Feature.swift", "public struct Feature:"),
    ("Store", "FieldpackCore/Store/Store.swift", "public protocol Store:"),
    (
      "GeoPackageStore", "FieldpackGeoPackage/Session/GeoPackageStore.swift",
      "public final class GeoPackageStore:"
    ),
    ("FileImport", "Fieldpack/Import/FileImport.swift", "public struct FileImport:"),
    (
      "importFeatures", "Fieldpack/Workspace/Workspace+Import.swift", "public func importFeatures("
    ),
  ]

  /// The lines of the code block in the doc comment of a declaration.
  private func documented(_ declaration: String, in file: String) throws -> [String] {
    let url = Checkout.file("Sources/\(file)")
    let lines = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
    let end = try #require(lines.firstIndex { $0.hasPrefix(declaration) })
    let comment = lines[..<end].reversed().prefix { $0.hasPrefix("///") }.reversed()
    return comment.filter { $0.hasPrefix("///     ") }.map { String($0.dropFirst(8)) }
  }

  /// The lines of an example that compiles.
  private func compiled(_ name: String) throws -> [String] {
    let url = Checkout.file("Tests/FieldpackTests/UsageExamples.swift")
    let lines = try String(contentsOf: url, encoding: .utf8).components(separatedBy: "\n")
    let start = try #require(lines.firstIndex(of: "    // Example: \(name)"))
    let end = try #require(lines[start...].firstIndex(of: "    // End"))
    return lines[(start + 1)..<end].map { String($0.dropFirst(4)) }
  }

  @Test(arguments: declarations)
  func `the doc comment shows the example that compiles`(
    name: String, file: String, declaration: String
  ) throws {
    let example = try compiled(name)
    #expect(!example.isEmpty)
    #expect(try documented(declaration, in: file) == example)
  }

  private func survey() async throws -> String {
    let path = folder.file("survey.gpkg").path
    _ = try await FileImport().run([Checkout.file("TestData/demo/wells.geojson").path], into: path)
    return path
  }

  @Test func `the examples of reading give the features of the demo`() async throws {
    let store = try await GeoPackageStore(path: try await survey(), id: "survey")
    #expect(
      try await UsageExamples.query(store) == ["Radensdorf 40", "Burglehn 15", "Alt Zauche 27"])
    let (names, count, well, byteCount) = try await UsageExamples.store(store)
    #expect(names == ["wells"])
    #expect(count == 40)
    #expect(well?[Column<String>("name")] == "Burglehn 1")
    #expect(byteCount > 0)
    await store.close()
  }

  @Test func `the example of a filter says the same in Swift and in CQL2`() throws {
    let filters = try UsageExamples.filter()
    #expect(filters[0] == filters[1])
    #expect(filters[2].columns == ["use", "depth"])
  }

  @Test func `the example of a feature has its attributes`() {
    let (well, depth) = UsageExamples.feature()
    #expect(depth == 12.5)
    #expect(well.attributes.names == ["name", "depth", "active"])
  }

  @Test func `the examples of writing and importing add features`() async throws {
    let path = try await survey()
    #expect(try await UsageExamples.geoPackageStore(path) == .integer(141))
    let file = try folder.write(
      #"{"type":"Feature","properties":{"name":"Markt 42"},"#
        + #""geometry":{"type":"Point","coordinates":[13.9,51.95]}}"#, to: "more.geojson")
    #expect(try await UsageExamples.importFeatures(URL(fileURLWithPath: path), file) == 1)
    let walk = Checkout.file("TestData/demo/walk.gpx").path
    let layers = try await UsageExamples.fileImport(file.path, walk, path)
    #expect(layers == ["more", "waypoints", "tracks", "track_points"])
  }
}
