import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

/// Files that gzip has packed, as sources.
@Suite struct PackedFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// Packs a text without compressing it (RFC 1951, blocks of type 0).
  private func write(_ text: String, to name: String) throws -> String {
    let bytes = Array(text.utf8)
    let length = UInt16(bytes.count)
    var packed: [UInt8] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255, 1]
    for part in [length, ~length] { packed += [UInt8(part & 255), UInt8(part >> 8)] }
    packed += bytes
    for part in [Self.checksum(bytes), UInt32(bytes.count)] {
      packed += (0..<4).map { UInt8(truncatingIfNeeded: part >> ($0 * 8)) }
    }
    try Data(packed).write(to: folder.file(name))
    return folder.file(name).path
  }

  private static func checksum(_ bytes: [UInt8]) -> UInt32 {
    var sum: UInt32 = .max
    for byte in bytes {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum & 1 == 1 ? (sum >> 1) ^ 0xEDB8_8320 : sum >> 1 }
    }
    return ~sum
  }

  @Test(arguments: [
    (
      "walk.geojson.gz",
      #"{"type":"Feature","properties":{"a":1},"geometry":{"type":"Point","coordinates":[1,2]}}"#,
      "walk"
    ),
    ("walk.gpx.gz", #"<gpx version="1.1"><wpt lat="2" lon="1"/></gpx>"#, "waypoints"),
    ("walk.csv.GZ", "lon,lat,a\n1,2,3\n", "walk"),
    ("walk.ndjson.gz", #"{"type":"Feature","properties":{},"geometry":null}"#, "walk"),
  ])
  func `a packed file is read as what it holds`(
    name: String, text: String, layer: LayerID
  ) async throws {
    let path = try write(text, to: name)
    let report = try await FileImport().run([path], into: folder.file("out.gpkg").path)
    #expect(report.imported.map(\.layer) == [layer])
    #expect(report.count == 1)
    var options = FileStore.Options()
    options.cache = .private
    let workspace = try await Workspace.open(file: folder.file(name).path, options: options)
    #expect(workspace.members.map(\.id) == ["walk"])
    #expect(try await workspace.count(Query(layer)) == 1)
    await workspace.close()
  }

  @Test func `errors name the packed file`() async throws {
    let path = try write("lon,lat\n1,x\n", to: "bad.csv.gz")
    let error = try await #require(throws: FieldpackError.self) {
      try await FileImport().run([path], into: folder.file("out.gpkg").path)
    }
    #expect(error.position?.file == path)
    #expect(error.position?.line == 2)
  }

  @Test func `a packed GeoPackage is to be unpacked first`() async throws {
    let path = try write("SQLite format 3\0 and so on", to: "field.gpkg.gz")
    let error = try await #require(throws: FieldpackError.self) {
      try await Workspace.open(source: path)
    }
    #expect(error.message == "\(path) is a GeoPackage that gzip has packed; unpack it first")
  }

  @Test func `another compression is named`() async throws {
    let path = try folder.write("BZh91AY&SY", to: "walk.gpx.bz2").path
    let message = "\(path) is bzip2-compressed; unpack it first"
    let opening = try await #require(throws: FieldpackError.self) {
      try await Workspace.open(source: path)
    }
    #expect(opening.message == message)
    var options = ImportOptions()
    options.format = .gpx
    let importing = try await #require(throws: FieldpackError.self) {
      try await FileImport(options).run([path], into: folder.file("out.gpkg").path)
    }
    #expect(importing.message == message)
  }
}
