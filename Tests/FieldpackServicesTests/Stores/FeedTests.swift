import Fieldpack
import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

@Suite struct FeedTests {
  private let folder: StoreFolder
  private let clock = TestClock()

  init() throws { folder = try StoreFolder() }

  private func service() -> DataService { DataService(context: folder.context, clock: clock.clock) }

  private func feed(_ server: LoopbackServer, polling: String = "\"5\"") throws -> StoreConfig {
    try folder.store("a", at: server.address, options: "{\"polling\": \(polling)}")
  }

  /// A collection of features with the ids and depths.
  private static func wells(_ depths: [(id: String?, depth: Int)]) -> String {
    let features = depths.map { id, depth in
      #"{"type":"Feature",\#(id.map { "\"id\":\($0)," } ?? "")"properties":{"depth":\#(depth)},"#
        + #""geometry":{"type":"Point","coordinates":[1,2]}}"#
    }
    return #"{"type":"FeatureCollection","features":[\#(features.joined(separator: ","))]}"#
  }

  /// What has happened so far beside the start.
  private func told(_ data: DataService) async -> [StoreEvent] {
    let batches = data.events(from: 0)
    data.log.finish()
    var told: [StoreEvent] = []
    for await case .events(let events) in batches {
      told += events.filter { [.changed, .pollFailed].contains($0.kind) }
    }
    return told
  }

  private func depths(_ data: DataService) async throws -> [Int64] {
    var depths: [Int64] = []
    for try await feature in try await data.workspace.query(Query()).features {
      if case .integer(let depth)? = feature.attributes["depth"] { depths.append(depth) }
    }
    return depths.sorted()
  }

  private static let tag = [
    ["ETag", "\"1\""], ["Last-Modified", "Thu, 26 Nov 2026 08:00:00 GMT"],
  ]

  @Test func `a feed is asked for what is new, and tells it`() async throws {
    let server = try LoopbackServer(answering: [
      .text(200, Self.wells([("1", 3), ("2", 4), ("3", 5)]), fields: Self.tag),
      .response(304, body: []),
      .text(200, Self.wells([("4", 6), ("2", 7), ("3", 5)]), fields: [["ETag", "W/\"2\""]]),
      .response(304, body: []),
    ])
    let data = service()
    try await data.registerAndStart(feed(server))
    let changes = data.workspace.changes(polling: nil)
    #expect(try await data.poll("a") == nil)
    let found = try await data.poll("a")
    func key(_ id: Int64) -> KeyTuple {
      KeyTuple(store: "a", layer: "default", feature: .integer(id))
    }
    #expect(found?.created == [key(4)] && found?.updated == [key(2)] && found?.deleted == [key(1)])
    #expect(found?.untold == 0 && found?.isEmpty == false)
    #expect(try await data.poll("a") == nil)
    #expect(try await depths(data) == [5, 6, 7])
    var kinds: [FeatureChange.Kind] = []
    for try await change in changes {
      kinds.append(change.kind)
      if kinds.count == 3 { break }
    }
    #expect(kinds == [.created, .updated, .deleted])
    #expect(server.requests.map { $0["If-None-Match"] } == [nil, "\"1\"", "\"1\"", "W/\"2\""])
    #expect(
      server.requests.map { $0["If-Modified-Since"] } == [nil, Self.tag[1][1], Self.tag[1][1], nil])
    #expect(folder.names == ["a.geojson"])
    #expect(await told(data).map(\.changes) == [found])
    await data.close()
  }

  @Test func `a feature without an id changes as one that goes and one that comes`() async throws {
    let server = try LoopbackServer(answering: [
      .text(200, Self.wells([(nil, 3), (nil, 4), (nil, 4)])),
      .text(200, Self.wells([(nil, 4), (nil, 9), (nil, 4)])),
    ])
    let data = service()
    try await data.registerAndStart(feed(server))
    let found = try await data.poll("a")
    #expect(found?.created.count == 1 && found?.deleted.count == 1 && found?.updated == [])
    let key = try #require(found?.created.first)
    #expect(try await data.workspace.feature(key)?.attributes["depth"] == .integer(9))
    // The same bytes again are no change.
    #expect(try await data.poll("a") == nil)
    await data.close()
  }

  @Test func `the version of a feed is known after a restart`() async throws {
    let server = try LoopbackServer { request in
      request["If-None-Match"] == "\"1\""
        ? .response(304, body: []) : .text(200, Self.wells([("1", 3)]), fields: Self.tag)
    }
    let first = service()
    try await first.registerAndStart(feed(server))
    await first.close()
    let second = service()
    try await second.registerAndStart(feed(server))
    #expect(try await second.poll("a") == nil)
    #expect(server.requests.map { $0["If-None-Match"] } == [nil, "\"1\""])
    #expect(server.requests.map { $0["If-Modified-Since"] } == [nil, Self.tag[1][1]])
    await second.close()
    // Another file than came from the server.
    try folder.write(Self.wells([("1", 4)]), to: "a.geojson")
    let third = service()
    try await third.registerAndStart(feed(server))
    #expect(try await third.poll("a")?.updated.count == 1)
    #expect(server.requests.last?["If-None-Match"] == nil)
    await third.close()
  }

  @Test func `a version that another process stored is taken over`() async throws {
    let server = try LoopbackServer(answering: [
      .text(200, Self.wells([("1", 3)])), .text(200, Self.wells([("1", 4)])),
    ])
    let data = service()
    try await data.registerAndStart(feed(server))
    var other = try StoreDownload(feed(server), in: folder.context)
    other.replaces = true
    #expect(try await other.run())
    #expect(try await data.poll("a")?.updated.count == 1)
    #expect(try await depths(data) == [4])
    #expect(try await data.poll("a") == nil)
    await data.close()
  }

  @Test func `the same bytes are not imported again`() async throws {
    let tags = Locked([[], [], [["ETag", "\"1\""]], [["ETag", "\"2\""]]])
    let server = try LoopbackServer { _ in
      .text(
        200, Self.wells([("1", 3)]),
        fields: tags.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] })
    }
    let data = service()
    try await data.registerAndStart(feed(server))
    let file = FileIdentity(folder.folder.file("stores/a.geojson").path)
    for _ in 0..<4 { #expect(try await data.poll("a") == nil) }
    #expect(file == FileIdentity(folder.folder.file("stores/a.geojson").path))
    #expect(
      server.requests.map { $0["If-None-Match"] } == [nil, nil, nil, "\"1\"", "\"2\""])
    #expect(await told(data) == [] && folder.names == ["a.geojson"])
    await data.close()
    let next = service()
    try await next.registerAndStart(feed(server))
    #expect(try await next.poll("a") == nil)
    #expect(server.requests.last?["If-None-Match"] == "\"2\"")
    await next.close()
  }

  @Test func `who reads goes on with the version that was there`() async throws {
    let server = try LoopbackServer(answering: [
      .text(200, Self.wells([("1", 3)])), .text(200, Self.wells([("1", 4)])),
    ])
    let data = service()
    try await data.registerAndStart(feed(server))
    let before = try await data.workspace.store("a").query(Query())
    #expect(try await data.poll("a")?.updated.count == 1)
    var old: [Value?] = []
    for try await feature in before.features { old.append(feature.attributes["depth"]) }
    #expect(old == [.integer(3)])
    #expect(try await depths(data) == [4])
    await data.close()
  }

  @Test func `a poll that fails leaves what is there, and says why`() async throws {
    let new = Self.wells([("1", 4)])
    let old = Self.wells([("1", 3)])
    let server = try LoopbackServer(answering: [
      .text(200, old), .text(404, "gone"), .cut(new, at: 20), .text(200, "<html>"),
      .raw(
        Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{\"type\":\"FeatureCollection\"}".utf8)),
      .nothing,
    ])
    let data = service()
    try await data.registerAndStart(feed(server))
    var codes: [FieldpackError.Code?] = []
    for _ in 0..<5 {
      let error = await #expect(throws: FieldpackError.self) { try await data.poll("a") }
      codes.append(error?.code)
    }
    #expect(codes[0] == .notFound && codes[1] == .unavailable && codes[2] == .invalidData)
    #expect(try await depths(data) == [3])
    #expect(folder.content("a.geojson") == old && folder.names == ["a.geojson"])
    let events = await told(data)
    #expect(events.map(\.kind) == Array(repeating: .pollFailed, count: 5))
    #expect(events.first?.reason?.hasSuffix("the server answers with status 404") == true)
    #expect(server.requests.count == 6)
    await data.close()
  }

  @Test func `polls come in their time, later after failures, and none while paused`() async throws
  {
    let server = try LoopbackServer(answering: [
      .text(200, Self.wells([("1", 3)])), .text(404, ""),
    ])
    let data = service()
    try await data.registerAndStart(feed(server, polling: "5"))
    while clock.sleeps.count < 1 { await Task.yield() }
    try await data.pause("a")
    #expect(try await data.poll("a") == nil)
    clock.advance(by: .seconds(5))
    while clock.sleeps.count < 2 { await Task.yield() }
    #expect(server.requests.count == 1)
    try await data.resume("a")
    clock.advance(by: .seconds(5))
    while clock.sleeps.count < 3 { await Task.yield() }
    #expect(server.requests.count == 2)
    #expect(clock.sleeps == [.seconds(5), .seconds(5), .seconds(10)])
    try await data.stop("a")
    let error = await #expect(throws: FieldpackError.self) { try await data.poll("a") }
    #expect(error?.code == .invalidArgument)
    await data.close()
  }

  @Test(arguments: ["0", "601", "\"soon\"", "true"])
  func `seconds are from 1 to 600`(polling: String) async throws {
    let server = try LoopbackServer { _ in .text(200, StoreFolder.geoJSON) }
    let data = service()
    let error = await #expect(throws: FieldpackError.self) {
      try await data.registerAndStart(feed(server, polling: polling))
    }
    #expect(
      error?.message == "the option 'polling' of store 'a' is a number of seconds from 1 to 600")
    #expect(server.requests == [])
    await data.close()
  }
}
