import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackPhotos

@Suite struct PhotoSearchTests {
  @Test func `more photos are asked for where none of the nearest can be taken`() async throws {
    let walk = try await PhotoWalk((0..<30).map { _ in (13.4, 52.5) })
    let server = try FlickrServer((0..<30).map { (13.4, 52.5001 + Double($0) * 0.00001) })
    #expect(
      try await walk.fetch(server.provider()) == (1...30).map { "\($0) found \($0)" })
    // The nearest ten are kept, and the one that was chosen.
    let links = try await walk.links().filter { $0.hasPrefix("30 ") }
    #expect(links == (1...10).map { "30 \($0) \($0 - 1) 0" } + ["30 30 10 1"])
    #expect(try await walk.orphans() == [])
    await walk.store.close()
  }

  @Test func `nearest photos that are all gone hide none behind them`() async throws {
    let walk = try await PhotoWalk([(13.4, 52.5)])
    let server = try FlickrServer((0..<12).map { (13.4, 52.5001 + Double($0) * 0.00001) })
    for id in 1...11 { server.answer(picture: "\(id)", .text(404, "")) }
    #expect(try await walk.fetch(server.provider()) == ["1 found 12"])
    // None was asked for twice.
    #expect(server.server.requests.count { $0.target.hasSuffix(".jpg") } == 12)
    #expect(server.searches.count == 2)
    await walk.store.close()
  }

  @Test(arguments: [503, 429, 408])
  func `a provider that is away uses up no attempt`(status: Int) async throws {
    let walk = try await PhotoWalk([(13.4, 52.5), (13.4, 52.5)])
    let server = try FlickrServer([(13.4, 52.5001), (13.4, 52.5002)])
    server.answer(searches: .text(status, ""))
    for _ in 0..<8 {
      #expect(try await walk.fetch(server.provider()) == ["1 pending -"])
    }
    // The first point that waits asks for all.
    #expect(server.searches.count == 8)
    let entries = try await PhotoFeed(of: walk.store).entries
    #expect(entries.map(\.attempts) == [0, 0])
    #expect(
      entries.map(\.message) == [
        nil, "the search for photos: the server answers with status \(status)",
      ])
    server.answer(searches: nil)
    #expect(try await walk.fetch(server.provider()) == ["1 found 1", "2 found 2"])
    await walk.store.close()
  }

  @Test(arguments: [Int64.max, .min, -1])
  func `a number of attempts that is none ends nothing`(attempt: Int64) async throws {
    let walk = try await PhotoWalk([(13.4, 52.5)])
    let server = try FlickrServer([(13.4, 52.5001)])
    server.answer(picture: "1", .text(503, ""))
    _ = try await PhotoFetch(store: walk.store, provider: server.provider())
    try await walk.store.write { (writer) throws(FieldpackError) in
      _ = try writer.create(
        Feature(attributes: [
          "subject": 1, "target": "flickr", "attempt": .integer(attempt),
        ]), in: "photo_job")
    }
    let state = attempt > 0 ? "failed" : "pending"
    #expect(try await walk.fetch(server.provider()) == ["1 \(state) -"])
    await walk.store.close()
  }
}
