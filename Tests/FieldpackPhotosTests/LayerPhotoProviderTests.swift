import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackPhotos

@Suite struct LayerPhotoProviderTests {
  /// A GeoPackage with a layer of photos: places, and the files that show them.
  private final class Album: Sendable {
    let folder: TemporaryFolder
    let store: GeoPackageStore

    init(_ photos: [(x: Double, y: Double, path: String?)]) async throws {
      folder = try TemporaryFolder()
      let path = folder.file("album.gpkg").path
      _ = try GeoPackageBulkWriter(creating: path, store: "album").commit()
      store = try await GeoPackageStore(path: path, id: "album")
      try await store.write { (writer) throws(FieldpackError) in
        try writer.createLayer(
          Schema(
            layer: "pictures", geometry: GeometryColumn(type: .point),
            columns: [ColumnDefinition("title", .text()), ColumnDefinition("path", .text())]))
        try writer.createLayer(
          Schema(layer: "notes", columns: [ColumnDefinition("text", .text())]))
        for (number, photo) in photos.enumerated() {
          try writer.create(
            Feature(
              geometry: .point(x: photo.x, y: photo.y),
              attributes: [
                "title": .text("Picture \(number + 1)"),
                "path": photo.path.map(Value.text) ?? .null,
              ]), in: "pictures")
        }
      }
    }

    func provider() async throws(FieldpackError) -> LayerPhotoProvider {
      try await LayerPhotoProvider(store: store, layer: "pictures")
    }

    /// What reading a picture comes to: its bytes, or the code of the error.
    func read(_ id: String, maximum: Int = 1000) async throws -> String {
      let provider = try await provider()
      let found = try await provider.candidates(
        near: Position(x: 13.4, y: 52.5), radius: 32_000, limit: 100)
      let candidate = try #require(found.first { $0.id == id })
      do throws(FieldpackError) {
        return String(
          decoding: try await provider.image(of: candidate, maximumLength: maximum),
          as: UTF8.self)
      } catch { return error.code.name }
    }
  }

  @Test func `photos come by their distance on the ellipsoid`() async throws {
    // A degree of longitude is shorter here than one of latitude.
    let album = try await Album([
      (13.4, 52.504, nil), (13.405, 52.5, nil), (13.4, 52.5, nil), (14.4, 52.5, nil),
    ])
    let provider = try await album.provider()
    let near = Position(x: 13.4, y: 52.5)
    let found = try await provider.candidates(near: near, radius: 1000, limit: 10)
    #expect(found.map(\.id) == ["3", "2", "1"])
    #expect(found.first?.title == "Picture 3" && found.first?.position == near)
    let one = try await provider.candidates(near: near, radius: 1000, limit: 1)
    #expect(one.map(\.id) == ["3"])
    let two = try await provider.candidates(near: near, radius: 350, limit: 9)
    #expect(two.map(\.id) == ["3", "2"])
    #expect(provider.name == "album:pictures")
    await album.store.close()
  }

  @Test func `pictures come from related media, else from files`() async throws {
    let album = try await Album([(13.4, 52.5, "b/c.jpg"), (13.4, 52.5, nil), (13.4, 52.5, "no")])
    let folder = album.folder.file("b")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("a file".utf8).write(to: folder.appendingPathComponent("c.jpg"))
    try await album.store.write { (writer) throws(FieldpackError) in
      try writer.createMediaLayer("files")
      let relation = try writer.createRelation(from: "pictures", to: "files", as: .media)
      try writer.addMedia(
        Array("media".utf8), as: "image/jpeg", to: "files", relatedTo: 2, by: relation)
    }
    #expect(try await album.read("1") == "a file")
    #expect(try await album.read("2") == "media")
    #expect(try await album.read("3") == "notFound")
    #expect(try await album.read("1", maximum: 5) == "invalidData")
    #expect(try await album.read("2", maximum: 4) == "invalidData")
    await album.store.close()
  }

  @Test(arguments: [
    ("/etc/passwd", "permission"), ("../secret", "notFound"),
    ("inside/../../secret", "notFound"), ("link", "permission"), ("folder", "notFound"),
    ("loop", "notFound"), ("", "notFound"),
  ])
  func `a picture outside the folder is refused`(path: String, code: String) async throws {
    let outer = try TemporaryFolder()
    let secret = try outer.write("secret", to: "secret")
    let album = try await Album([(13.4, 52.5, path)])
    let files = FileManager.default
    try files.createSymbolicLink(at: album.folder.file("link"), withDestinationURL: secret)
    try files.createSymbolicLink(
      at: album.folder.file("loop"), withDestinationURL: album.folder.file("loop"))
    try files.createDirectory(
      at: album.folder.file("folder"), withIntermediateDirectories: true)
    #expect(try await album.read("1") == code)
    await album.store.close()
  }

  @Test(arguments: [("nothing", "notFound"), ("notes", "invalidArgument")])
  func `a layer without places is none of photos`(layer: String, code: String) async throws {
    let album = try await Album([])
    var found = ""
    do throws(FieldpackError) {
      _ = try await LayerPhotoProvider(store: album.store, layer: LayerID(layer))
    } catch { found = error.code.name }
    #expect(found == code)
    await album.store.close()
  }

  @Test func `a walk finds its pictures in a layer`() async throws {
    let album = try await Album([(13.4, 52.5, "a.png"), (13.4, 52.501, "b.png")])
    for (name, color) in [("a.png", 1), ("b.png", 2)] {
      let picture = TestPicture.png(color: (UInt8(color), 0, 0))
      try Data(picture).write(to: album.folder.file(name))
    }
    let walk = try await PhotoWalk([(13.4, 52.5004), (13.4, 52.5004)])
    let provider = try await album.provider()
    #expect(try await walk.fetch(provider) == ["1 found 1", "2 found 2"])
    #expect(try await walk.orphans() == [])
    await walk.store.close()
    await album.store.close()
  }
}
