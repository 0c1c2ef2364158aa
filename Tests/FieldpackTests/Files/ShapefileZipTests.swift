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
    let workspace = try await Workspace.open(file: folder.file("roads.zip").path, options: options)
    #expect(try await workspace.count(Query("roads")) == 1)
    await workspace.close()
  }

  @Test func `each shapefile of an archive is a layer`() async throws {
    let sample = try Self.sample()
    let names = ["roads", "b/paths", "c/Roads"]
    let entries = names.flatMap { name in sample.map { ("\(name).\($0)", $1) } }
    let table = [("owners.dbf", try #require(sample["dbf"]))]
    let archive = try pack(entries.sorted { $0.0 < $1.0 } + table)
    let report = try await read(archive)
    #expect(report.imported.map(\.layer) == ["paths", "Roads", "roads_2", "owners"])
    #expect(report.imported.map(\.count) == [1, 1, 1, 1])
    var importing = ImportOptions()
    importing.layer = "town"
    importing.only = ["paths", "owners"]
    let chosen = try await FileImport(importing).run(
      [folder.file("roads.zip").path], into: folder.file("chosen.gpkg").path)
    #expect(chosen.imported.map(\.layer) == ["town_paths", "town_owners"])
    var options = FileStore.Options()
    options.cache = .private
    let workspace = try await Workspace.open(file: folder.file("roads.zip").path, options: options)
    #expect(try await workspace.count(Query("owners")) == 1)
    await workspace.close()
  }

  @Test(arguments: ["out.zip", "out.shp.zip"])
  func `a layer is written into an archive and read from it`(name: String) async throws {
    let kml = folder.file("wells.kml")
    try Data(
      """
      <kml><Document><name>wells</name>
      <Placemark><name>Mitte</name><Point><coordinates>13,52</coordinates></Point></Placemark>
      </Document></kml>
      """.utf8
    ).write(to: kml)
    var options = FileStore.Options()
    options.cache = .private
    let source = try await Workspace.open(file: kml.path, options: options)
    let place = folder.file(name)
    _ = try await source.exportFeatures(Query("wells"), to: place.path)
    await #expect(throws: FieldpackError.self, "the file exists") {
      try await source.exportFeatures(Query("wells"), to: place.path)
    }
    await source.close()
    let archive = try ZipReader(ByteInput(path: place.path))
    #expect(
      archive.entries.map(\.name) == ["out.dbf", "out.shp", "out.shx", "out.cpg", "out.prj"])
    let back = try await Workspace.open(file: place.path, options: options)
    let text = ByteOutput()
    _ = try await back.exportFeatures(Query("out"), to: text, as: .csv)
    #expect(
      String(decoding: text.buffer, as: UTF8.self)
        == "fid_2,Name,wkt\r\n442e8922aab28109,Mitte,POINT (13 52)\r\n")
    await back.close()
  }

  @Test func `configs name shapefiles, KML and KMZ`() async throws {
    try Data(try pack(try Self.sample().sorted { $0.key < $1.key }.map { ("a.\($0)", $1) }))
      .write(to: folder.file("roads.zip"))
    let text = "<kml><Placemark><name>a</name></Placemark></kml>"
    try Data(text.utf8).write(to: folder.file("a.kml"))
    try Data(try pack([("doc.kml", Array(text.utf8))])).write(to: folder.file("b.kmz"))
    let stores = [("shp", "roads.zip"), ("kml", "a.kml"), ("kml", "b.kmz")].map {
      #"{"store_type": "\#($0)", "version": "1", "uri": "\#($1)", "id": "\#($1)", "name": "a"}"#
    }
    let config = folder.file("all.scfg")
    try Data("{\"stores\": [\(stores.joined(separator: ", "))]}".utf8).write(to: config)
    let workspace = try await Workspace.open([config.path])
    for store in ["roads.zip", "a.kml", "b.kmz"] {
      #expect(try await workspace.store(StoreID(store)).count(Query()) == 1)
    }
    await workspace.close()
  }

  @Test func `an archive without a whole shapefile is refused`() async throws {
    let sample = try Self.sample()
    let cases: [([(String, [UInt8])], String)] = [
      ([("a.txt", [65])], "the archive has no .shp"),
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
