import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackPhotos

@Suite struct PhotoFollowingTests {
  private func add(_ number: Int, to walk: PhotoWalk, track: Int64 = 1) async throws {
    try await walk.store.write { (writer) throws(FieldpackError) in
      _ = try writer.create(
        Feature(
          geometry: .point(x: 13.4, y: 52.5),
          attributes: [
            "track_fid": .integer(track), "seq": .integer(Int64(number)),
            "time": .dateTime(PhotoWalk.start),
            "time_unix": .real(Double(number)), "id_md5": "",
          ]), in: "track_point")
    }
  }

  @Test func `points get their pictures while others are recorded`() async throws {
    let walk = try await PhotoWalk([])
    let positions = (0..<20).map { (13.4, 52.5001 + Double($0) * 0.00001) }
    let server = try FlickrServer(positions)
    let following = PhotoFollowing(store: walk.store, provider: try server.provider())
    for number in 0..<12 {
      try await add(number, to: walk)
      following.pointsAreStored(of: [1])
    }
    // Once those that are asked for at first are the pictures of others, more are asked for.
    #expect(try await following.finish() == [.found: 12])
    #expect(try await walk.orphans() == [])
    #expect(try await walk.states() == [String](repeating: "found", count: 12))
    await walk.store.close()
  }

  @Test func `a server that never answers delays no point`() async throws {
    let walk = try await PhotoWalk([])
    let server = try FlickrServer([(13.4, 52.5001)])
    server.answer(searches: .silence)
    let provider = try server.provider(timeout: .seconds(3600))
    let following = PhotoFollowing(store: walk.store, provider: provider)
    for number in 0..<100 {
      try await add(number, to: walk)
      following.pointsAreStored(of: [1])
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

  @Test func `points of other tracks are not looked for`() async throws {
    let walk = try await PhotoWalk([(13.4, 52.5), (13.4, 52.5)])
    let server = try FlickrServer([(13.4, 52.5001), (13.4, 52.5002)])
    let following = PhotoFollowing(store: walk.store, provider: try server.provider())
    try await add(1, to: walk, track: 2)
    following.pointsAreStored(of: [2])
    #expect(try await following.finish() == [.found: 1])
    #expect(try await walk.states() == ["pending", "pending", "found"])
    #expect(server.searches.count == 1)
    let idle = PhotoFollowing(store: walk.store, provider: try server.provider())
    #expect(try await idle.finish() == [:])
    await walk.store.close()
  }

  @Test func `the end of a recording waits for no provider that is away`() async throws {
    let walk = try await PhotoWalk([])
    let server = try FlickrServer([(13.4, 52.5001)])
    server.answer(searches: .text(503, ""))
    // However long the points take, the pause does not end.
    let following = PhotoFollowing(
      store: walk.store, provider: try server.provider(), clock: TestClock().clock)
    for number in 0..<50 {
      try await add(number, to: walk)
      following.pointsAreStored(of: [1])
    }
    try await following.finish()
    // One while it was recorded, then the pause; and one at the end, where it did not come before.
    #expect((1...2).contains(server.searches.count))
    #expect(try await walk.states() == [String](repeating: "pending", count: 50))
    #expect(try await PhotoFeed(of: walk.store).entries.map(\.attempts).max() == 0)
    server.answer(searches: nil)
    #expect(try await walk.fetch(server.provider()).first == "1 found 1")
    await walk.store.close()
  }

  @Test func `the end of a recording waits for one picture that does not come`() async throws {
    let walk = try await PhotoWalk([])
    let server = try FlickrServer((1...5).map { (13.4, 52.5 + Double($0) * 0.0001) })
    for id in 1...5 { server.answer(picture: "\(id)", .text(503, "")) }
    try await add(1, to: walk)
    let fetch = try await PhotoFetch(store: walk.store, provider: server.provider())
    var hurried = PhotoPass()
    hurried.isHurried = { true }
    try await fetch.run(tracks: [1], &hurried) { #expect($0.state == .pending) }
    #expect(hurried.isUnavailable)
    #expect(server.server.requests.count { $0.target.hasSuffix(".jpg") } == 1)
    #expect(try await PhotoFeed(of: walk.store).entries.map(\.attempts) == [0])
    await walk.store.close()
  }

  @Test func `a provider is not asked again before it wants to be`() async throws {
    let walk = try await PhotoWalk([(13.4, 52.5)])
    let server = try FlickrServer([(13.4, 52.5001)])
    let clock = TestClock()
    let fetch = try await PhotoFetch(
      store: walk.store, provider: server.provider(), clock: clock.clock)
    let away = LoopbackServer.Reply.text(503, "", fields: [["Retry-After", "120"]])
    server.answer(searches: away)
    var pass = PhotoPass()
    try await fetch.run(tracks: [1], &pass) { _ in }
    #expect(pass.isUnavailable && pass.asked == .seconds(120))
    server.answer(searches: nil)
    server.answer(picture: "1", away)
    try await fetch.run(tracks: [1], &pass) { _ in }
    #expect(!pass.isUnavailable && pass.asked == nil)
    let next = clock.clock.now.advanced(by: .seconds(120))
    #expect(try await PhotoFeed(of: walk.store).entries.map(\.nextAttempt) == [next])
    await walk.store.close()
  }

  @Test func `a refusal ends the search and not the recording`() async throws {
    let walk = try await PhotoWalk([])
    let server = try FlickrServer()
    server.answer(
      searches: .text(200, #"{"stat":"fail","code":100,"message":"Invalid API Key"}"#))
    let (refusals, refusal) = AsyncStream.makeStream(of: FieldpackError.self)
    let following = PhotoFollowing(
      store: walk.store, provider: try server.provider(), refused: { refusal.yield($0) })
    for number in 0..<3 {
      try await add(number, to: walk)
      following.pointsAreStored(of: [1])
    }
    // It is told while the recording goes on.
    let told = await refusals.first { _ in true }
    #expect(told?.code == .permission)
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
