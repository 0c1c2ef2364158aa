import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackTracks

@Suite struct PhotoFollowingTests {
  private func add(_ number: Int, to walk: PhotoWalk) async throws {
    try await walk.store.write { (writer) throws(FieldpackError) in
      _ = try writer.create(
        Feature(
          geometry: .point(x: 13.4, y: 52.5),
          attributes: [
            "track_fid": 1, "seq": .integer(Int64(number)), "time": .dateTime(PhotoWalk.start),
            "time_unix": .real(Double(number)), "id_md5": "",
          ]), in: "track_point")
    }
  }

  @Test func `points get their pictures while others are recorded`() async throws {
    let walk = try await PhotoWalk([])
    let places = (0..<20).map { (13.4, 52.5001 + Double($0) * 0.00001) }
    let server = try FlickrServer(places)
    let following = PhotoFollowing(store: walk.store, provider: try server.provider())
    for number in 0..<12 {
      try await add(number, to: walk)
      following.pointsAreStored()
    }
    // As many photos as are asked for at once are the pictures of others then.
    #expect(try await following.finish() == [.found: 10, .duplicate: 2])
    #expect(try await walk.orphans() == [])
    let states = try await walk.states()
    #expect(states == [String](repeating: "found", count: 10) + ["duplicate", "duplicate"])
    await walk.store.close()
  }

  @Test func `a server that never answers delays no point`() async throws {
    let walk = try await PhotoWalk([])
    let server = try FlickrServer([(13.4, 52.5001)])
    server.answer(searches: .silence)
    let following = PhotoFollowing(store: walk.store, provider: try server.provider())
    for number in 0..<100 {
      try await add(number, to: walk)
      following.pointsAreStored()
    }
    #expect(try await walk.features("track_point").count == 100)
    #expect(server.searches.count <= 1)
    let task = Task { () async -> FieldpackError? in
      do throws(FieldpackError) {
        try await following.finish()
        return nil
      } catch { return error }
    }
    task.cancel()
    #expect(await task.value?.code == .interrupted)
    #expect(try await walk.states() == [String](repeating: "pending", count: 100))
    await walk.store.close()
  }

  @Test func `a refusal ends the search and not the recording`() async throws {
    let walk = try await PhotoWalk([])
    let server = try FlickrServer()
    server.answer(
      searches: .text(200, #"{"stat":"fail","code":100,"message":"Invalid API Key"}"#))
    let following = PhotoFollowing(store: walk.store, provider: try server.provider())
    for number in 0..<3 {
      try await add(number, to: walk)
      following.pointsAreStored()
    }
    var found: FieldpackError?
    do throws(FieldpackError) { try await following.finish() } catch { found = error }
    #expect(found?.code == .permission)
    #expect(try await walk.states() == ["pending", "pending", "pending"])
    await walk.store.close()
  }

  @Test func `nothing recorded is nothing to look for`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("empty.gpkg").path
    _ = try GeoPackageBulkWriter(creating: path, store: "empty").commit()
    let store = try await GeoPackageStore(path: path, id: "empty")
    let server = try FlickrServer()
    let following = PhotoFollowing(store: store, provider: try server.provider())
    #expect(try await following.finish() == [:])
    #expect(try await store.schemas().isEmpty)
    await store.close()
  }
}
