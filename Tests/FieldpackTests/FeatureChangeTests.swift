import FieldpackCore
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

@Suite struct FeatureChangeTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func point(_ depth: Int) -> String {
    #"{"type":"Feature","properties":{"depth":\#(depth)},"#
      + #""geometry":{"type":"Point","coordinates":[1,2]}}"# + "\n"
  }

  private func workspace() async throws -> Workspace {
    let file = try folder.write(point(5), to: "wells.geojsonl")
    let target = folder.file("survey.gpkg")
    _ = try await FileImport().run([file.path], into: target.path)
    return try await Workspace.open(file: target.path)
  }

  private func lines(
    _ changes: some AsyncSequence<FeatureChange, FieldpackError> & Sendable
  ) async throws -> [String] {
    var lines: [String] = []
    for try await change in changes {
      let name = change.key?.feature ?? FeatureID.text(change.layer?.rawValue ?? "")
      lines.append("\(change.kind) \(name) \(change.missed)")
    }
    return lines
  }

  @Test func `gives each subscriber what was committed`() async throws {
    let workspace = try await workspace()
    let all = workspace.changes()
    let deep = workspace.changes(matching: Query("wells", where: Column<Int64>("depth") > 100))
    let others = workspace.changes(matching: Query("roads"))
    let key = try await workspace.create(
      Feature(attributes: ["depth": 200]), in: "wells", of: "survey")
    try await workspace.update([
      FeatureUpdate(KeyTuple(store: "survey", layer: "wells", feature: 1), set: ["depth": 7])
    ])
    let unknown = KeyTuple(store: "survey", layer: "wells", feature: 99)
    await #expect(throws: FieldpackError.self) { try await workspace.delete([key, unknown]) }
    let more = try folder.write(point(300) + point(1), to: "more.geojsonl")
    _ = try await workspace.importFeatures(from: more.path, into: "wells", of: "survey")
    try await workspace.delete(KeyTuple(store: "survey", layer: "wells", feature: 1))
    let deepLines = try await lines(deep.prefix(3))
    await workspace.close()
    #expect(
      try await lines(all)
        == ["created 2 0", "updated 1 0", "created 3 0", "created 4 0", "deleted 1 0"])
    #expect(deepLines == ["created 2 0", "created 3 0", "deleted 1 0"])
    #expect(try await lines(others) == [])
    #expect(try await lines(workspace.changes()) == [])
  }

  @Test func `tells every committed write, whatever makes it`() async throws {
    let workspace = try await workspace()
    let changes = workspace.changes()
    let others = workspace.changes(matching: Query("roads"))
    let store = try workspace.writableStore("survey")
    try await store.write { (writer) throws(FieldpackError) in
      try writer.create(Feature(attributes: ["depth": 1]), in: "Wells")
      try writer.update(1, in: "wells", set: ["depth": 2])
      try writer.upsert(Feature(id: 1, attributes: ["depth": 3]), in: "wells")
      try writer.upsert(Feature(id: 9), in: "wells")
      try writer.delete(9, in: "wells")
    }
    await #expect(throws: FieldpackError.self) {
      try await store.write { (writer) throws(FieldpackError) in
        try writer.delete(1, in: "wells")
        try writer.delete(99, in: "wells")
      }
    }
    let file = try #require(store.geoPackage)
    _ = try await file.run(sql: "UPDATE wells SET depth = 4")
    try await file.write { (writer) throws(FieldpackError) in
      try writer.createLayer(Schema(layer: "roads", geometry: nil, columns: []))
      try writer.create(Feature(), in: "roads")
      try writer.renameLayer("roads", to: "paths")
      try writer.removeLayer("paths")
    }
    await workspace.close()
    #expect(
      try await lines(changes) == [
        "created 2 0", "updated 1 0", "updated 1 0", "created 9 0", "deleted 9 0", "layer wells 0",
        "layer roads 0", "created 1 0", "layer roads 0", "layer paths 0",
      ])
    #expect(try await lines(others) == ["layer roads 0", "created 1 0", "layer roads 0"])
  }

  private struct Refusal: Error {}

  @Test func `write makes one transaction, and gives the error of its body on`() async throws {
    let workspace = try await workspace()
    let changes = workspace.changes()
    let id = try await workspace.write(store: "survey") { writer in
      try writer.update(1, in: "wells", set: ["depth": 6])
      return try writer.create(Feature(attributes: ["depth": 7]), in: "wells")
    }
    #expect(id == 2)
    await #expect(throws: Refusal.self) {
      try await workspace.write(store: "survey") { writer in
        try writer.delete(1, in: "wells")
        throw Refusal()
      }
    }
    let error = await #expect(throws: FieldpackError.self) {
      try await workspace.write(store: "survey") { writer in
        try writer.delete(1, in: "wells")
        try writer.delete(3, in: "wells")
      }
    }
    #expect(error?.code == .notFound)
    let count = try await workspace.store("survey").count(Query("wells"))
    #expect(count == 2)
    await workspace.close()
    #expect(try await lines(changes) == ["updated 1 0", "created 2 0"])
  }

  @Test func `counts the changes that a slow subscriber lost`() async throws {
    let workspace = try await workspace()
    let changes = workspace.changes()
    let many = try folder.write(
      String(repeating: point(1), count: 6000), to: "many.geojsonl")
    _ = try await workspace.importFeatures(from: many.path, into: "wells", of: "survey")
    _ = try await workspace.create(Feature(), in: "wells", of: "survey")
    await workspace.close()
    let lines = try await lines(changes)
    #expect(lines.count == 4096)
    #expect(lines.first == "created 1907 1905")
    #expect(lines.last == "created 6002 0")
  }
}
