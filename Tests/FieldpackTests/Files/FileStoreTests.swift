import FieldpackCore
import FieldpackGeoPackage
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

@Suite struct FileStoreTests {
  private let folder: TemporaryFolder
  private let file: URL
  private var cache: String { folder.file("cache").path }

  init() throws {
    folder = try TemporaryFolder()
    file = try folder.write(
      """
      {"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[1,2]}}
      {"type":"Feature","properties":{"a":2},"geometry":{"type":"Point","coordinates":["x",2]}}
      """, to: "points.geojsonl")
  }

  private func whole() throws {
    _ = try folder.write(
      #"{"type":"Feature","properties":{"a":7},"geometry":null}"#, to: "points.geojsonl")
  }

  private func store(_ options: FileStore.Options) async throws -> FileStore {
    try await FileStore(path: file.path, id: "points", options: options)
  }

  private var options: FileStore.Options {
    var options = FileStore.Options()
    options.cache = .folder(cache)
    return options
  }

  private func entries() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: cache).filter { $0.hasSuffix(".gpkg") }
  }

  @Test func `tells with each query what an import would have told`() async throws {
    _ = try folder.write(
      #"{"type":"Feature","properties":{},"geometry":{"type":"Point","coordinates":[500,2]}}"#,
      to: "points.geojsonl")
    for _ in 0..<2 {
      let store = try await store(options)
      let batches = try await store.query(Query())
      #expect(
        batches.report.current.notes == [
          Note(
            "layer 'points' is in WGS 84, but feature 1 lies beyond 180° of longitude or 90° of "
              + "latitude", advice: .nameOtherSourceSRS)
        ])
      await store.close()
    }
  }

  @Test func `tells with each query what could not be read`() async throws {
    var options = options
    options.importing.skipsErrors = true
    let store = try await store(options)
    let batches = try await store.query(Query())
    var count = 0
    for try await batch in batches { count += batch.count }
    let report = batches.report.current
    #expect(count == 1)
    #expect(report.skipped.count == 1)
    #expect(report.skipped.listed.map(\.position?.feature) == [2])
    await store.close()
  }

  @Test func `the one layer has the file's name, in GeoJSON stores of configs another`()
    async throws
  {
    try whole()
    let store = try await store(options)
    #expect(try await store.schemas().map(\.layer) == ["points"])
    for name: LayerID in ["points", "default", "POINTS"] {
      #expect(try await store.count(Query(name)) == 1)
    }
    await store.close()
    var other = options
    other.layer = FileStore.defaultLayer
    let configured = try await self.store(other)
    #expect(try await configured.schemas().map(\.layer) == ["default"])
    #expect(try await configured.count(Query("points")) == 1)
    await configured.close()
  }

  @Test func `errors name the file, not its copy`() async throws {
    try whole()
    let opened = try await store(options)
    #expect(try await opened.whole().store.shownPath == file.path)
    await opened.close()
    _ = try folder.write(
      #"{"type":"Feature","id":1,"properties":{"a":7},"geometry":null}"# + "\n"
        + #"{"type":"Feature","id":1,"properties":{"a":7},"geometry":null}"#, to: "points.geojsonl")
    var same = options
    same.importing.idColumn = "a"
    let error = await #expect(throws: FieldpackError.self) { try await store(same) }
    #expect(error?.position?.file == file.path)
    #expect(error?.description.contains(cache) == false)
  }

  @Test func `makes a damaged entry anew`() async throws {
    try whole()
    await (try await store(options)).close()
    let entry = "\(cache)/\(try #require(entries().first))"
    try Data("no database".utf8).write(to: URL(fileURLWithPath: entry))
    let store = try await store(options)
    #expect(try await store.count(Query()) == 1)
    await store.close()
    #expect(try entries().count == 1)
  }

  @Test func `keeps the entry of a file that changed as long as it is in use`() async throws {
    try whole()
    let old = try await store(options)
    _ = try folder.write(
      #"{"type":"Feature","properties":{"a":8,"b":9},"geometry":null}"#, to: "points.geojsonl")
    let new = try await store(options)
    #expect(try entries().count == 2)
    #expect(try await old.schemas().first?.columns.map(\.name).contains("b") == false)
    await old.close()
    await new.close()
    _ = try folder.write(
      #"{"type":"Feature","properties":{"c":8,"d":10},"geometry":null}"#, to: "points.geojsonl")
    await (try await store(options)).close()
    #expect(try entries().count == 1)
  }

  @Test func `leaves no temporary file behind`() async throws {
    try whole()
    var options = options
    options.cache = .private
    let store = try await store(options)
    let prefix = ".fieldpack.gpkg.fieldpack-"
    let temporary = FileManager.default.temporaryDirectory.path
    func left() throws -> Set<String> {
      Set(
        try FileManager.default.contentsOfDirectory(atPath: temporary).filter {
          $0.hasPrefix(prefix)
        })
    }
    let before = try left()
    await store.close()
    #expect(try before.subtracting(left()).count >= 1)
    _ = store
  }
}
