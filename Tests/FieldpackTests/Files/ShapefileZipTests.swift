import FieldpackArchive
import FieldpackCore
import FieldpackFormats
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

/// Shapefiles in ZIP archives, as sources.
@Suite struct ShapefileZipTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A shapefile of one point.
  private static func sample() throws -> [String: [UInt8]] {
    let (shapes, index, table) = (ByteOutput(), ByteOutput(), ByteOutput())
    var writer = ShapefileWriter(.init(shapes: shapes, index: index, table: table))
    try writer.begin(
      Schema(
        layer: "roads", geometry: GeometryColumn(type: .point),
        columns: [ColumnDefinition("name", .text())]))
    try writer.feature(
      ValueRow(id: 4, ["Weg"], wkb: WKB.bytes(of: .point(x: 1, y: 2))))
    try writer.finish()
    return ["shp": shapes.buffer, "shx": index.buffer, "dbf": table.buffer]
  }

  private func pack(_ entries: [(String, [UInt8])]) throws -> [UInt8] {
    let output = ByteOutput()
    let writer = try ZipWriter()
    for (name, bytes) in entries {
      try writer.begin(name)
      try bytes.withUnsafeBytes { try writer.write($0) }
    }
    try writer.finish(into: output)
    return output.buffer
  }

  private func read(_ archive: [UInt8]) async throws -> ImportReport {
    try Data(archive).write(to: folder.file("roads.zip"))
    let target = folder.file("out.gpkg")
    try? FileManager.default.removeItem(at: target)
    return try await FileImport().run([folder.file("roads.zip").path], into: target.path)
  }

  @Test func `the one shapefile of an archive is read`() async throws {
    var entries = try Self.sample().map { ("data/Roads.\($0.uppercased())", $1) }
    entries += [("__MACOSX/data/._Roads.shp", [1, 2, 3]), ("data/readme.txt", [65])]
    let report = try await read(try pack(entries))
    #expect(report.imported.map(\.layer) == ["roads"])
    #expect(report.count == 1)
    var options = FileStore.Options()
    options.cache = .private
    let workspace = try await Workspace.open(file: folder.file("roads.zip"), options: options)
    #expect(try await workspace.count(Query("roads")) == 1)
    await workspace.close()
  }

  @Test func `an archive without a shapefile, or with several, is refused`() async throws {
    let sample = try Self.sample()
    let cases: [([(String, [UInt8])], String)] = [
      ([("a.txt", [65])], "the archive has no .shp"),
      (
        [("a.shp", sample["shp"] ?? []), ("b/c.shp", sample["shp"] ?? [])],
        "the archive has 2 shapefiles (a.shp, b/c.shp), and one is read. "
          + "Try: unpack it, and name them"
      ),
      ([("a.shp", sample["shp"] ?? [])], "the file is missing: it tells where the shapes are"),
    ]
    for (entries, message) in cases {
      let archive = try pack(entries)
      let error = await #expect(throws: FieldpackError.self) { try await read(archive) }
      #expect(error?.message == message)
    }
  }

  @Test func `a damaged archive is an error or a result`() async throws {
    let archive = try pack(try Self.sample().sorted { $0.key < $1.key }.map { ("a.\($0)", $1) })
    for place in stride(from: 0, to: archive.count, by: 13) {
      var damaged = archive
      damaged[place] ^= 0xFF
      for bytes in [damaged, Array(archive.prefix(place))] {
        do { _ = try await read(bytes) } catch is FieldpackError {}
      }
    }
  }

  @Test(.enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absent)))
  func `archives of other programs are read`() async throws {
    let counts = [
      "goshapefile_luftfahrthindernisse": 1097, "ntsesri_wallace_monument": 1, "shpjs_codepage": 2,
      "shpjs_noshp": 14, "shpjs_qgis": 2, "shpjs_utf": 2, "shpjs_zero_len_line": 3,
    ]
    for (name, count) in counts {
      let path = SharedData.url("real/shp/\(name).zip").path
      let target = folder.file("\(name).gpkg").path
      #expect(try await FileImport().run([path], into: target).count == count, "\(name)")
    }
  }
}
