import Fieldpack
import FieldpackTestSupport
import Foundation
import Testing

@Suite struct UsageExampleTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The examples, by name, with the beginning of the declaration whose doc comment shows each.
  private static let declarations = [
    ("Query", "public struct Query:"),
    ("Filter", "public indirect enum Filter:"),
    ("Attributes", "public struct Attributes:"),
    ("Feature", "public struct Feature:"),
    ("Store", "public protocol Store:"),
    ("GeoPackageStore", "public final class GeoPackageStore:"),
    ("FileImport", "public struct FileImport:"),
    ("importFeatures", "public func importFeatures("),
    ("Workspace", "public actor Workspace {"),
    ("Column", "public struct Column<"),
    ("KeyTuple", "public struct KeyTuple:"),
    ("Geometry", "public indirect enum Geometry:"),
    ("SRS", "public struct SRS:"),
    ("Schema", "public struct Schema:"),
    ("FieldpackError", "public struct FieldpackError:"),
    ("exportFeatures", "public nonisolated func exportFeatures("),
    ("write", "public nonisolated func write<R: Sendable>("),
    ("changes", "public nonisolated func changes("),
    ("GeofenceMonitor", "public struct GeofenceMonitor:"),
    ("TrackRecorder", "public final class TrackRecorder:"),
  ]

  /// The lines of all sources of libraries, without their indentation.
  private static let sources: [String] = {
    let folder = Checkout.file("Sources")
    let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
    return paths.filter { $0.hasSuffix(".swift") }.sorted().flatMap { path in
      let text = try? String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
      return (text ?? "").components(separatedBy: "\n").map {
        $0.trimmingCharacters(in: .whitespaces)
      }
    }
  }()

  /// The lines of the code block in the doc comment of a declaration.
  private func documented(_ declaration: String) throws -> [String] {
    let lines = Self.sources
    let end = try #require(lines.firstIndex { $0.hasPrefix(declaration) })
    let comment = lines[..<end].reversed().drop { $0.hasPrefix("@") }
      .prefix { $0.hasPrefix("///") }.reversed()
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
    name: String, declaration: String
  ) throws {
    let example = try compiled(name)
    #expect(!example.isEmpty)
    #expect(try documented(declaration) == example)
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
    #expect(depth == 14)
    #expect(well.attributes == ["name": "Markt 41", "depth": 14.0, "active": true])
    #expect(
      UsageExamples.attributes(41, 2.5) == ["name": "Markt 41", "depth": 15.0, "use": nil])
  }

  @Test func `the examples of writing and importing add features`() async throws {
    let path = try await survey()
    #expect(try await UsageExamples.geoPackageStore(path) == .integer(141))
    let workspace = try await Workspace.open(file: path)
    #expect(try await UsageExamples.write(workspace, UsageExamples.feature().0) == [142])
    await workspace.close()
    let file = try folder.write(
      #"{"type":"Feature","properties":{"name":"Markt 42"},"#
        + #""geometry":{"type":"Point","coordinates":[13.9,51.95]}}"#, to: "more.geojson")
    #expect(try await UsageExamples.importFeatures(path, file.path) == 1)
    let walk = Checkout.file("TestData/demo/walk.gpx").path
    let layers = try await UsageExamples.fileImport(file.path, walk, path)
    #expect(layers == ["more", "waypoints", "tracks", "track_points"])
  }

  @Test func `the example of a workspace reads the store that its config names`() async throws {
    _ = try await survey()
    let config = try folder.write(
      #"{"stores": [{"id": "survey", "type": "gpkg", "version": 1, "uri": "survey.gpkg"}]}"#,
      to: "survey.scfg")
    #expect(
      try await UsageExamples.workspace(config.path) == [
        "Burglehn 1", "Steinkirchen 2", "Burglehn 3",
      ])
  }

  @Test func `the examples of values say what they make`() throws {
    let (well, _) = UsageExamples.feature()
    let (query, depth) = UsageExamples.column(well)
    #expect(query.filter.columns == ["depth", "name"])
    #expect(depth == 14)
    let (text, key) = UsageExamples.keyTuple()
    #expect(text == "c3VydmV5.d2VsbHM=.MTI3")
    #expect(key == KeyTuple(store: "survey", layer: "wells", feature: 127))
    let (line, box, point) = try UsageExamples.geometry()
    #expect(line.envelope == box)
    #expect(box == Envelope(minX: 13, minY: 51, maxX: 14, maxY: 52))
    #expect(point == "POINT (13.9 51.95)")
    let (srs, transformed) = UsageExamples.srs()
    #expect(srs == SRS("EPSG", 25833))
    #expect(transformed.srs == srs)
  }

  @Test func `the examples of a schema and of an error work on the demo`() async throws {
    let store = try await GeoPackageStore(path: try await survey(), id: "survey")
    try await UsageExamples.schema(store)
    #expect(try await store.layers().map(\.id) == ["wells", "visits"])
    var shown: [String] = []
    #expect(await UsageExamples.error(store) { shown.append($0) } == 0)
    #expect(
      shown == [
        "layer 'well' is not in store 'survey', did you mean 'wells'? (it has: wells, visits)"
      ])
    await store.close()
  }

  @Test func `the examples of export and of changes work on the demo`() async throws {
    let path = try await survey()
    let workspace = try await Workspace.open(file: path)
    let file = folder.file("deep.geojson")
    #expect(try await UsageExamples.exportFeatures(workspace, file.path) == 1)
    let writing = Task {
      while !Task.isCancelled {
        _ = try await workspace.create(Feature(attributes: ["depth": 1]), in: "wells", of: "survey")
      }
    }
    var seen: [KeyTuple] = []
    try await UsageExamples.changes(
      workspace,
      { key in
        seen.append(key)
        writing.cancel()
        await workspace.close()
      }, {})
    #expect(seen.first?.layer == "wells")
  }

  @Test func `the examples of monitoring and recording work on the walk`() async throws {
    let path = folder.file("field.gpkg").path
    let files = ["zones.geojson", "walk.gpx"].map { Checkout.file("TestData/demo/\($0)").path }
    _ = try await FileImport().run(files, into: path)
    let store = try await GeoPackageStore(path: path, id: "field")
    let source = ReplaySource(store, layer: "track_points")
    var seen: [Detection] = []
    try await UsageExamples.geofenceMonitor(store, source) { seen.append($0) }
    #expect(seen.map(\.region) == [1])
    #expect(seen.map(\.fix) == [4])
    #expect(try await UsageExamples.trackRecorder(store, source) == 48)
    await store.close()
  }
}
