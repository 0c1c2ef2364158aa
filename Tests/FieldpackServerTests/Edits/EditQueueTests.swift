import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

/// The edits of several requests in one transaction.
@Suite struct EditQueueTests {
  private static func layer() async throws -> TestLayer {
    try await TestLayer(
      """
      CREATE TABLE owners (id INTEGER PRIMARY KEY);
      CREATE TABLE wells (fid INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE,
        owner INTEGER REFERENCES owners(id) DEFERRABLE INITIALLY DEFERRED);
      INSERT INTO gpkg_contents (table_name, data_type) VALUES ('wells', 'attributes');
      """)
  }

  /// Makes edits, all but the first of which come while the first is made.
  private func edit(
    _ layer: TestLayer, _ edits: [Attributes], weight: Int = 1
  ) async throws -> (outcomes: [String], commits: [String]) {
    let queue = EditQueue(of: layer.store)
    let gate = DispatchSemaphore(value: 0)
    let hasBegun = Locked(false)
    let commits = Locked<[String]>([])
    layer.store.observe { log in
      commits.withLock { $0.append(log.runs.map { "\($0.kind) \($0.ids)" }.joined(separator: " ")) }
    }
    let outcomes = await withTaskGroup(of: (Int, String).self) { group in
      for (index, attributes) in edits.enumerated() {
        group.addTask {
          do throws(FieldpackError) {
            let id = try await queue.edit(weight: weight) { (writer) throws(FieldpackError) in
              if index == 0 {
                hasBegun.withLock { $0 = true }
                gate.wait()
              }
              let id = try writer.create(Feature(attributes: attributes), in: "wells")
              if attributes["name"] == "late" {
                throw FieldpackError(.invalidData, "no")
              }
              return id
            }
            return (index, "\(id)")
          } catch { return (index, "\(error.code)") }
        }
        // The edits come in their order.
        while queue.count < index || !hasBegun.withLock({ $0 }) {
          try? await Task.sleep(for: .milliseconds(1))
        }
      }
      gate.signal()
      var outcomes = Array(repeating: "", count: edits.count)
      for await (index, outcome) in group { outcomes[index] = outcome }
      return outcomes
    }
    return (outcomes, commits.withLock { $0 })
  }

  @Test func `edits that wait are committed together, each for itself`() async throws {
    let layer = try await Self.layer()
    let made = try await edit(
      layer, [["name": "a"], ["name": "b"], ["name": "a"], ["name": "late"], ["name": "c"]])
    #expect(made.outcomes == ["1", "2", "constraint", "invalidData", "3"])
    #expect(made.commits == ["created [1]", "created [2, 3]"])
    #expect(try await layer.names() == ["a", "b", "c"])
    await layer.store.close()
  }

  @Test func `edits of many features are committed with few others`() async throws {
    let layer = try await Self.layer()
    let edits: [Attributes] = ["a", "b", "c", "d"].map { ["name": .text($0)] }
    #expect(
      try await edit(layer, edits, weight: 500).commits
        == ["created [1]", "created [2, 3]", "created [4]"])
    let more: [Attributes] = ["e", "f", "g"].map { ["name": .text($0)] }
    #expect(
      try await edit(layer, more, weight: 5000).commits
        == ["created [5]", "created [6]", "created [7]"])
    await layer.store.close()
  }

  @Test func `an edit that breaks a rule at the commit fails alone`() async throws {
    let layer = try await Self.layer()
    let made = try await edit(
      layer, [["name": "a"], ["name": "b"], ["name": "c", "owner": 9], ["name": "d"]])
    #expect(made.outcomes == ["1", "2", "constraint", "3"])
    #expect(try await layer.names() == ["a", "b", "d"])
    await layer.store.close()
  }
}

/// A layer `wells` that a script makes.
private struct TestLayer {
  let folder: TemporaryFolder
  let store: GeoPackageStore

  init(_ script: String) async throws {
    folder = try TemporaryFolder()
    let path = folder.file("wells.gpkg").path
    _ = try GeoPackageBulkWriter(creating: path, store: "wells").commit()
    store = try await GeoPackageStore(path: path, id: "wells")
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      for statement in script.split(separator: ";\n") { try writer.execute(String(statement)) }
    }
  }

  func names() async throws -> [String] {
    try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      try snapshot.rows("SELECT name FROM wells ORDER BY name").compactMap { $0.first?.textValue }
    }
  }
}
