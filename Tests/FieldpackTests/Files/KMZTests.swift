import FieldpackArchive
import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import Fieldpack

@Suite struct KMZTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func archive(_ entries: [(String, String)]) throws -> URL {
    let writer = try ZipWriter()
    for (name, text) in entries {
      try writer.begin(name)
      try Array(text.utf8).withUnsafeBytes { try writer.write($0) }
    }
    let output = ByteOutput()
    try writer.finish(into: output)
    let file = folder.file("walk.kmz")
    try Data(output.buffer).write(to: file)
    return file
  }

  private func kml(_ name: String) -> String {
    "<kml><Document><name>\(name)</name><Placemark><name>p</name></Placemark></Document></kml>"
  }

  private func open(_ file: URL) async throws -> Workspace {
    var options = FileStore.Options()
    options.cache = .private
    return try await Workspace.open(file: file.path, options: options)
  }

  @Test(arguments: [
    (["b.kml", "doc.kml"], "doc.kml"), (["pictures/a.png", "z/b.KML", "a.kml"], "z/b.KML"),
  ])
  func `the document of an archive is read`(names: [String], chosen: String) async throws {
    let workspace = try await open(try archive(names.map { ($0, kml($0)) }))
    #expect(try await workspace.store("walk").schemas().map(\.layer) == [LayerID(chosen)])
    await workspace.close()
  }

  @Test func `an archive without KML is an error`() async throws {
    let file = try archive([("readme.txt", "no")])
    let error = try await #require(throws: FieldpackError.self) { try await open(file) }
    #expect(error.message == "the archive has no entry that ends in .kml")
  }

  @Test func `a layer in another system comes out in WGS 84`() async throws {
    let text = "wkt,name\nPOINT (500000 0),a\n"
    let csv = try folder.write(text, to: "wells.csv")
    var options = FileStore.Options()
    options.cache = .private
    options.importing.sourceSRS = SRS("EPSG", 32631)
    let workspace = try await Workspace.open(file: csv.path, options: options)
    for name in ["out.kml", "out.kmz"] {
      let report = try await workspace.exportFeatures(Query(), to: folder.file(name).path)
      #expect(report.count == 1)
      let written = try await open(folder.file(name))
      #expect(try await written.store("out").schemas().map(\.layer) == ["wells"])
      for try await feature in try await written.query(Query("wells")).features {
        #expect(feature.attributes == ["Name": "a"])
        let place = try #require(feature.geometry?.envelope)
        #expect(abs(place.minX - 3) < 1e-9 && abs(place.minY) < 1e-9)
      }
      await written.close()
    }
    await workspace.close()
  }
}
