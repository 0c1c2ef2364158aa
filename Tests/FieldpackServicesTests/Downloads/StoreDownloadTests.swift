import Fieldpack
import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

@Suite struct StoreDownloadTests {
  private let folder: StoreFolder
  private let clock = TestClock(.movedBySleep())

  init() throws { folder = try StoreFolder() }

  private func download(
    _ type: String = "geojson", at uri: String, options: String = "{}"
  ) throws -> StoreDownload {
    var download = try StoreDownload(
      try folder.store("wells", type, at: uri, options: options), in: folder.context)
    download.clock = clock.clock
    return download
  }

  private func failure(_ download: StoreDownload) async -> FieldpackError? {
    await #expect(throws: FieldpackError.self) { try await download.run() }
  }

  @Test func `a file comes once, and is there afterwards`() async throws {
    let server = try LoopbackServer { _ in .text(200, StoreFolder.geoJSON) }
    let download = try download(at: server.address + "/all.geojson")
    #expect(!download.isDone && folder.names == [])
    let told = Locked<[StoreProgress]>([])
    #expect(try await download.run { new in told.withLock { $0.append(new) } })
    #expect(download.isDone && folder.names == ["wells.geojson"])
    #expect(folder.content("wells.geojson") == StoreFolder.geoJSON)
    let length = StoreFolder.geoJSON.utf8.count
    #expect(
      told.withLock { $0 } == [
        StoreProgress(received: 0, total: length), StoreProgress(received: length, total: length),
      ])
    #expect(try await !download.run() && server.requests.count == 1)
  }

  @Test func `progress comes every two seconds, and never falls`() async throws {
    let big = StoreFolder.geoJSON + String(repeating: " ", count: 4 << 20)
    let server = try LoopbackServer(answering: [
      .cut(big, at: 3 << 20, "ETag: \"a\""), .text(200, big, fields: [["ETag", "\"b\""]]),
    ])
    let time = Locked(Duration.zero)
    var download = try download(at: server.address)
    download.clock = FieldClock(
      wall: { .zero },
      uptime: {
        time.withLock { now in
          now += .milliseconds(700)
          return now
        }
      }, sleep: { _ in })
    let told = Locked<[StoreProgress]>([])
    try await download.run { new in told.withLock { $0.append(new) } }
    let fractions = told.withLock { $0 }.compactMap(\.fraction)
    #expect(fractions.first == 0 && fractions.last == 1)
    #expect(zip(fractions, fractions.dropFirst()).allSatisfy { $0 <= $1 })
    // A look each 0.7 s: no more than one in three is told.
    let looks = time.withLock { $0 } / .milliseconds(700)
    #expect(Double(fractions.count) <= looks / 3 + 2)
  }

  @Test func `a length that the server does not tell gives bytes and no fraction`() async throws {
    let server = try LoopbackServer { _ in
      .raw(Array("HTTP/1.1 200 OK\r\n\r\n\(StoreFolder.geoJSON)".utf8))
    }
    let told = Locked<[StoreProgress]>([])
    try await download(at: server.address).run { new in told.withLock { $0.append(new) } }
    let first = told.withLock { $0[0] }
    #expect(first.total == nil && first.fraction == nil)
    #expect(told.withLock { $0.last?.fraction } == 1)
  }

  @Test func `a refusal is final, and leaves nothing`() async throws {
    let server = try LoopbackServer { _ in .text(404, "<html>gone</html>") }
    let error = await failure(try download("gpkg", at: server.address + "/a.gpkg"))
    #expect(error?.code == .notFound && error?.location.store == "wells")
    #expect(error?.position?.file == "survey.scfg")
    #expect(folder.names == [] && server.requests.count == 1 && clock.sleeps == [])
  }

  @Test func `a server that breaks off is asked again, three times`() async throws {
    let server = try LoopbackServer { _ in .cut(StoreFolder.geoJSON, at: 10) }
    let error = await failure(try download(at: server.address))
    #expect(error?.code == .unavailable && error?.httpFailure == .cutShort)
    #expect(folder.names == [] && server.requests.count == 4)
    #expect(clock.sleeps == [.milliseconds(500), .seconds(1), .seconds(2)])
  }

  @Test func `an attempt goes on where the last one ended`() async throws {
    let text = StoreFolder.geoJSON
    let rest = String(text.dropFirst(20))
    let server = try LoopbackServer(answering: [
      .cut(text, at: 20, "ETag: \"a\""), .nothing,
      .cut(
        rest, at: rest.utf8.count, status: 206,
        "Content-Range: bytes 20-\(text.utf8.count - 1)/\(text.utf8.count)"),
    ])
    let digest = SHA256.hex(Array(text.utf8)).uppercased()
    try await download(at: server.address, options: #"{"sha256": "\#(digest)"}"#).run()
    #expect(folder.content("wells.geojson") == text)
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=20-", "bytes=20-"])
    #expect(server.requests.last?["If-Range"] == "\"a\"")
  }

  @Test func `another file than the one that is wanted is refused`() async throws {
    let server = try LoopbackServer { _ in .text(200, StoreFolder.geoJSON) }
    let zeros = String(repeating: "0", count: 64)
    let wrong = await failure(
      try download(at: server.address, options: #"{"sha256": "\#(zeros)"}"#))
    #expect(wrong?.code == .invalidData && wrong?.httpFailure == .digest)
    let long = await failure(try download(at: server.address, options: #"{"maxBytes": 40}"#))
    #expect(long?.code == .invalidData && long?.httpFailure == .tooLong)
    #expect(folder.names == [] && clock.sleeps == [])
  }

  @Test(arguments: ["gpkg", "geojson", "gpx", "kml", "fgb"])
  func `what does not open as a store gets no name`(type: String) async throws {
    let server = try LoopbackServer { _ in
      .text(200, "<!DOCTYPE html><html><body>Log in, please</body></html>")
    }
    let error = await failure(try download(type, at: server.address))
    #expect(error?.message.hasPrefix("what the server gave is no \(type): ") == true)
    #expect(error?.description.contains(".fieldpack-") == false)
    #expect(folder.names == [])
  }

  @Test func `a file that is replaced stays until the new one opens`() async throws {
    try folder.write("old", to: "wells.geojson")
    let server = try LoopbackServer(answering: [
      .text(200, "{"), .text(200, StoreFolder.geoJSON),
    ])
    var download = try download(at: server.address)
    #expect(try await !download.run() && server.requests == [])
    download.replaces = true
    #expect(await failure(download) != nil)
    #expect(folder.content("wells.geojson") == "old")
    #expect(try await download.run())
    #expect(folder.content("wells.geojson") == StoreFolder.geoJSON)
    #expect(folder.names == ["wells.geojson"])
  }

  @Test func `what a killed download left is removed by the next one`() async throws {
    let left = folder.folder.file("stores/.fieldpack-0123456789abcdef/0")
    try FileManager.default.createDirectory(at: left, withIntermediateDirectories: true)
    _ = try folder.folder.write(
      "{", to: "stores/.fieldpack-0123456789abcdef/0/wells.geojson")
    let server = try LoopbackServer { _ in .text(200, StoreFolder.geoJSON) }
    #expect(try await download(at: server.address).run())
    #expect(folder.names == ["wells.geojson"])
  }

  @Test func `no redirect leads to a file`() async throws {
    let server = try LoopbackServer { _ in
      .text(302, "", fields: [["Location", "file:///etc/passwd"]])
    }
    let error = await failure(try download("csv", at: server.address))
    #expect(error?.code == .invalidData && error?.httpFailure == .redirect)
    #expect(folder.names == [] && server.requests.count == 1)
  }

  @Test func `a server that asks to wait for longer than pauses are is not waited for`()
    async throws
  {
    let server = try LoopbackServer(answering: [
      .text(503, "", fields: [["Retry-After", "7"]]),
      .text(503, "", fields: [["Retry-After", "3600"]]),
    ])
    let error = await failure(try download(at: server.address))
    #expect(error?.code == .unavailable && server.requests.count == 2)
    #expect(clock.sleeps == [.seconds(7)])
  }

  @Test func `a download that is cancelled leaves nothing`() async throws {
    let server = try LoopbackServer { _ in
      .raw(Array("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{".utf8), waits: true)
    }
    let download = try download(at: server.address)
    let began = AsyncStream.makeStream(of: Void.self)
    let task = Task { try await download.run { _ in began.continuation.yield() } }
    for await _ in began.stream { break }
    task.cancel()
    let error = await #expect(throws: FieldpackError.self) { try await task.value }
    #expect(error?.code == .interrupted && folder.names == [])
  }

  @Test func `a download that was cancelled goes on at the next start`() async throws {
    let text = StoreFolder.geoJSON
    let isFirst = Locked(true)
    let server = try LoopbackServer { request in
      let waits = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      guard waits else { return .whole(Array(text.utf8), "\"a\"", for: request) }
      let head = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: \(text.utf8.count)\r\n\r\n"
      return .raw(Array((head + text.prefix(20)).utf8), waits: true)
    }
    let digest = SHA256.hex(Array(text.utf8))
    let first = try download(at: server.address, options: #"{"sha256": "\#(digest)"}"#)
    let task = Task { try await first.run() }
    let part = folder.folder.file("stores/.wells.geojson.part").path
    while FileSystem.size(part) != 20 { try await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    await #expect(throws: FieldpackError.self) { try await task.value }
    #expect(folder.names == [".wells.geojson.part", ".wells.geojson.part.origin"])
    #expect(!first.isDone)
    #expect(try await download(at: server.address, options: #"{"sha256": "\#(digest)"}"#).run())
    #expect(folder.content("wells.geojson") == text && folder.names == ["wells.geojson"])
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=20-"])
  }

  @Test func `what is there of a file of another address is removed`() async throws {
    let text = StoreFolder.geoJSON
    let server = try LoopbackServer { request in
      request.target == "/old"
        ? .cut(text, at: 20, "ETag: \"a\"") : .whole(Array(text.utf8), "\"a\"", for: request)
    }
    #expect(await failure(try download(at: server.address + "/old"))?.code == .unavailable)
    #expect(folder.names == [".wells.geojson.part", ".wells.geojson.part.origin"])
    #expect(try await download(at: server.address + "/new").run())
    #expect(server.requests.last?["Range"] == nil && folder.names == ["wells.geojson"])
  }

  @Test func `a store that is taken out leaves nothing of its download`() async throws {
    let server = try LoopbackServer { _ in .cut(StoreFolder.geoJSON, at: 20, "ETag: \"a\"") }
    let data = DataService(context: folder.context, clock: clock.clock)
    let store = try folder.store("s", at: server.address)
    await #expect(throws: FieldpackError.self) { try await data.registerAndStart(store) }
    #expect(folder.allNames == [".s.geojson.part", ".s.geojson.part.origin"])
    try await data.unregister("s")
    #expect(folder.allNames == [])
    await data.close()
  }

  @Test func `a uri that was changed while nothing ran means another file`() async throws {
    let other = StoreFolder.geoJSON.replacing("\"depth\":3", with: "\"depth\":9")
    let server = try LoopbackServer { request in
      .text(200, request.target == "/b" ? other : StoreFolder.geoJSON)
    }
    let (old, new) = (server.address + "/a?key=secret", server.address + "/b")
    #expect(try await download(at: old).run())
    #expect(folder.content(".wells.geojson.origin")?.contains("secret") == false)
    #expect(try await !download(at: old).run() && server.requests.count == 1)
    #expect(try !download(at: new).isDone)
    let closed = #expect(throws: FieldpackError.self) {
      try folder.context.file(of: folder.store("wells", at: new))
    }
    #expect(closed?.code == .unavailable)
    let data = DataService(context: folder.context)
    try await data.registerAndStart(folder.store("wells", at: new))
    #expect(folder.content("wells.geojson") == other && folder.names == ["wells.geojson"])
    #expect(try await data.workspace.count(Query()) == 1)
    await data.close()
    #expect(try await !download(at: new).run() && server.requests.count == 2)
  }

  @Test(arguments: [false, true])
  func `a file that was changed here is not replaced by one of another address`(
    duringDownload: Bool
  ) async throws {
    let server = try LoopbackServer { [folder] request in
      if request.target == "/b", duringDownload { try? folder.write("mine", to: "wells.geojson") }
      return .text(200, StoreFolder.geoJSON)
    }
    #expect(try await download(at: server.address + "/a").run())
    if !duringDownload { try folder.write("mine", to: "wells.geojson") }
    let data = DataService(context: folder.context)
    let error = await #expect(throws: FieldpackError.self) {
      try await data.registerAndStart(folder.store("wells", at: server.address + "/b"))
    }
    await data.close()
    let path = folder.folder.file("stores/wells.geojson").path
    #expect(
      error?.message == "\(path) was changed here since it was downloaded from another address")
    #expect(error?.code == .cannotCreate)
    #expect(error?.advice == .fetchAgain(config: "survey.scfg", store: "wells"))
    #expect(folder.content("wells.geojson") == "mine")
    #expect(server.requests.count == (duringDownload ? 2 : 1))
    #expect(try download(at: server.address + "/a").isDone)
    var again = try download(at: server.address + "/a")
    again.replaces = true
    #expect(try await again.run())
    #expect(folder.content("wells.geojson") == StoreFolder.geoJSON)
  }

  @Test func `a file whose origin nobody knows is kept`() async throws {
    try folder.write(StoreFolder.geoJSON, to: "wells.geojson")
    let server = try LoopbackServer { _ in .text(404, "") }
    #expect(try await !download(at: server.address).run() && server.requests == [])
  }

  @Test func `what cannot be downloaded is told before a request`() throws {
    func message(_ type: String, _ uri: String, _ options: String) -> String? {
      let error = #expect(throws: FieldpackError.self) {
        _ = try StoreDownload(
          try folder.store("s", type, at: uri, options: options), in: folder.context)
      }
      return error.map { "\($0.code): \($0.message)" }
    }
    #expect(
      message("gpkg", "a.gpkg", "{}") == "configuration: store 's' has no file to download")
    #expect(
      message("gpkg", "http://h", #"{"sha256": "12"}"#)
        == "configuration: the option 'sha256' of store 's' is 64 hexadecimal digits")
    #expect(
      message("gpkg", "http://h", #"{"maxBytes": 0}"#)
        == "configuration: the option 'maxBytes' of store 's' is a number above 0")
  }

  @Test func `a store tells what is wrong with its download`() async throws {
    let data = DataService(context: folder.context)
    let store = try folder.store("s", "gpkg", at: "http://h", options: #"{"sha256": "12"}"#)
    let error = await #expect(throws: FieldpackError.self) {
      try await data.registerAndStart(store)
    }
    #expect(error?.message == "the option 'sha256' of store 's' is 64 hexadecimal digits")
    #expect(data.workspace.members.map(\.state.error?.code) == [.configuration])
    await data.close()
  }

  @Test func `a downloaded file that became the user's own stays`() async throws {
    let server = try LoopbackServer { _ in .text(200, StoreFolder.geoJSON) }
    let data = DataService(context: folder.context)
    try await data.registerAndStart(folder.store("s", at: server.address))
    #expect(folder.names == ["s.geojson"])
    try await data.update(folder.store("s", at: "stores/s.geojson"))
    #expect(folder.names == ["s.geojson"])
    #expect(try await data.workspace.count(Query()) == 1)
    await data.close()
  }

  @Test func `a database that is opened during its download is not replaced`() async throws {
    try folder.write("old", to: "wells.geojson")
    let server = try LoopbackServer { [folder] _ in
      try? folder.write("", to: "wells.geojson-wal")
      return .text(200, StoreFolder.geoJSON)
    }
    var download = try download(at: server.address)
    download.replaces = true
    #expect(await failure(download)?.code == .busy)
    #expect(folder.content("wells.geojson") == "old")
  }
}
