import FieldpackCore
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

/// Media that come with the features of another GeoPackage, which is imported again and again.
@Suite struct ImportedMediaTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func path(_ name: String) -> String { folder.file(name).path }

  /// A well with pictures.
  private struct Well {
    var id: Int64
    var number: Int64
    var pictures: [[UInt8]]
  }

  /// Makes a file of wells with pictures, or adds to it.
  private func write(_ name: String, _ wells: Well...) async throws {
    let isNew = !FileManager.default.fileExists(atPath: path(name))
    if isNew { _ = try GeoPackageBulkWriter(creating: path(name), store: "made").commit() }
    let store = try await GeoPackageStore(path: path(name), id: "made", usesWAL: false)
    try await store.write { (writer) throws(FieldpackError) in
      if isNew {
        try writer.createLayer(
          Schema(layer: "wells", columns: [ColumnDefinition("number", .integer)]))
        try writer.createMediaLayer("photos", columns: [ColumnDefinition("title", .text())])
        try writer.createRelation(from: "wells", to: "photos", as: .media)
      }
      let relation = try writer.relations()[0]
      for well in wells {
        try writer.create(
          Feature(id: .integer(well.id), attributes: ["number": .integer(well.number)]),
          in: "wells")
        for picture in well.pictures {
          try writer.addMedia(
            picture, as: "image/jpeg", to: "photos", relatedTo: .integer(well.id), by: relation)
        }
      }
    }
    await store.close()
  }

  private func change(_ name: String, _ sql: String) throws {
    try Connection(path: path(name), mode: .readWrite).execute(sql)
  }

  /// The rows of a statement, a text each.
  private func rows(_ sql: String) throws -> [String] {
    let connection = try Connection(path: path("out.gpkg"), mode: .readOnly)
    let statement = try connection.prepare(sql)
    var rows: [String] = []
    while try statement.step() {
      rows.append(
        (0..<statement.columnCount).map { statement.string($0) ?? "-" }.joined(separator: "|"))
    }
    return rows
  }

  private func pictures() throws -> [String] {
    try rows("SELECT id, hex(data), content_type, title FROM photos ORDER BY 1")
  }

  /// The links as `number of the well|bytes of the picture`, where one link is one line.
  private func links() throws -> [String] {
    try rows(
      "SELECT number, hex(data) FROM wells_photos JOIN wells ON base_id = fid "
        + "JOIN photos ON related_id = photos.id ORDER BY 1, 2, related_id")
  }

  private func upsert(
    _ names: String..., layer: LayerID? = "wells", match: String?
  ) async throws -> ImportReport {
    var options = ImportOptions(mode: .upsert)
    options.matchColumn = match
    return try await FileImport(options).run(
      sources: names.map { ImportSource(path($0), layer: layer) }, into: path("out.gpkg"))
  }

  private func isSound() async throws -> Bool {
    let report = try await FileCheck().run(path("out.gpkg"))
    for finding in report.findings { Issue.record("\(finding.requirement): \(finding.reason)") }
    return report.findings.isEmpty
  }

  @Test(arguments: ["number", nil], ["wells", nil] as [LayerID?])
  func `the same upsert leaves the same pictures and links`(
    match: String?, layer: LayerID?
  ) async throws {
    // Picture 1 is another one here, and 2 is there under the id 3.
    try await write("out.gpkg", Well(id: 5, number: 50, pictures: [[9], [8], [2, 2]]))
    try await write(
      "other.gpkg", Well(id: 5, number: 50, pictures: [[1], [2, 2]]),
      Well(id: 6, number: 60, pictures: [[3, 3, 3]]))
    try change("other.gpkg", "UPDATE photos SET title = 'new'")
    let first = try await upsert("other.gpkg", layer: layer, match: match)
    #expect(first.layers.map(\.count) == [2, 2])
    #expect(first.layers.map(\.updatedCount) == [1, 0])
    let expected = [
      "1|09|image/jpeg|-", "2|08|image/jpeg|-", "3|0202|image/jpeg|-", "4|01|image/jpeg|new",
      "5|030303|image/jpeg|new",
    ]
    #expect(try pictures() == expected)
    let linked = ["50|01", "50|0202", "50|08", "50|09", "60|030303"]
    #expect(try links() == linked)
    for _ in 0..<2 {
      let again = try await upsert("other.gpkg", layer: layer, match: match)
      #expect(again.layers.map(\.count) == [2, 0])
      #expect(again.layers.map(\.updatedCount) == [2, 0])
      #expect(again.notes == [])
      #expect(try pictures() == expected)
      #expect(try links() == linked)
    }
    #expect(try await isSound())
  }

  @Test(arguments: ["number", nil])
  func `a picture that has changed comes as a new one with a link`(match: String?) async throws {
    try await write("other.gpkg", Well(id: 5, number: 50, pictures: [[1], [2]]))
    _ = try await upsert("other.gpkg", match: match)
    #expect(try pictures() == ["1|01|image/jpeg|-", "2|02|image/jpeg|-"])
    try change("other.gpkg", "UPDATE photos SET data = x'07' WHERE id = 1")
    try change("other.gpkg", "UPDATE photos SET content_type = 'image/png' WHERE id = 2")
    for _ in 0..<2 {
      _ = try await upsert("other.gpkg", match: match)
      #expect(
        try pictures() == [
          "1|01|image/jpeg|-", "2|02|image/jpeg|-", "3|07|image/jpeg|-", "4|02|image/png|-",
        ])
      #expect(try links() == ["50|01", "50|02", "50|02", "50|07"])
    }
    #expect(try await isSound())
  }

  @Test func `a missing link to an equal picture is made, and no second one`() async throws {
    try await write(
      "out.gpkg", Well(id: 1, number: 1, pictures: [[4]]),
      Well(id: 2, number: 2, pictures: [[4]]), Well(id: 3, number: 3, pictures: []))
    try await write(
      "other.gpkg", Well(id: 2, number: 2, pictures: [[4]]),
      Well(id: 3, number: 3, pictures: [[4]]))
    for _ in 0..<2 {
      _ = try await upsert("other.gpkg", match: nil)
      let ids = try rows("SELECT base_id, related_id FROM wells_photos ORDER BY 1")
      #expect(ids == ["1|1", "2|2", "3|2"])
      #expect(try pictures() == ["1|04|image/jpeg|-", "2|04|image/jpeg|-"])
    }
    #expect(try await isSound())
  }

  @Test func `files with one picture bring it once`() async throws {
    try await write("a.gpkg", Well(id: 1, number: 10, pictures: [[1], [6]]))
    try await write("b.gpkg", Well(id: 2, number: 20, pictures: [[6]]))
    for _ in 0..<2 {
      _ = try await upsert("a.gpkg", "b.gpkg", match: "number")
      #expect(try pictures() == ["1|01|image/jpeg|-", "2|06|image/jpeg|-"])
      #expect(try links() == ["10|01", "10|06", "20|06"])
    }
    #expect(try await isSound())
  }

  @Test func `media that are named are changed by their ids`() async throws {
    try await write("out.gpkg", Well(id: 5, number: 50, pictures: [[9]]))
    try await write("other.gpkg", Well(id: 5, number: 50, pictures: [[1]]))
    let report = try await upsert("other.gpkg", layer: "photos", match: nil)
    #expect(report.updatedCount == 1)
    #expect(try pictures() == ["1|01|image/jpeg|-"])
  }
}
