import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackCaptures

/// Without thumbnails, so that ffmpeg need not be installed.
@Suite struct CaptureAddingTests {
  private let rig: RecorderRig
  private let target: CaptureDestination

  init() throws {
    rig = try RecorderRig()
    target = CaptureDestination(
      path: rig.folder.file("field.gpkg").path, store: "field", keepsFolders: false)
  }

  private func add(_ paths: [String], folder: String) async throws -> [RecordedCapture] {
    let positions = CapturePositions(Position(x: 1, y: 2))
    return try await CaptureAdding(rig.making, folder: folder, into: target).run(paths) {
      (media) throws(FieldpackError) in
      try positions.draft(of: media.kind, createdAt: 7, otherwise: 0)
    }
  }

  @Test func `runs that make one GeoPackage at once lose nothing`() async throws {
    let paths = [try rig.media(.image), try rig.media(.video)]
    let added = try await withThrowingTaskGroup(of: [RecordedCapture].self) { group in
      for number in 0..<4 {
        group.addTask { try await add(paths, folder: "\(rig.root)-\(number % 2)") }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    let store = try await GeoPackageStore(path: target.path, id: target.store)
    let stored = try await CaptureCatalogue(store).list()
    await store.close()
    #expect(stored.count == 8)
    #expect(
      Set(stored.map { "\($0.info.token) \($0.key)" })
        == Set(added.map { "\($0.info.token) \($0.key?.description ?? "-")" }))
    for number in 0..<2 { #expect(try rig.names("\(rig.root)-\(number)") == []) }
  }

  @Test func `what a killed run left goes, and what another is at stays`() async throws {
    let left = "\(rig.root)/.adding-1-x/0123"
    try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
    try Data(RecorderRig.picture).write(to: URL(fileURLWithPath: "\(left)/output.jpg"))
    let other = try RecordingFolder.make(in: rig.root, prefix: CaptureAdding.prefix)
    let added = try await add([try rig.media(.image)], folder: rig.root)
    #expect(added.count == 1)
    #expect(try rig.names() == [other.name])
  }

  @Test func `an error takes back what came into a GeoPackage that others use`() async throws {
    let first = try await add([try rig.media(.image)], folder: rig.root)
    let error = await #expect(throws: FieldpackError.self) {
      try await add([try rig.media(.video), rig.folder.file("none.jpg").path], folder: rig.root)
    }
    #expect(error?.code == .notFound)
    let store = try await GeoPackageStore(path: target.path, id: target.store)
    #expect(try await CaptureCatalogue(store).list().map(\.info.token) == first.map(\.info.token))
    await store.close()
  }
}
