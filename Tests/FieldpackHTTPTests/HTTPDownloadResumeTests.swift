import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackHTTP

/// Downloads that go on with what another one left, as that of a process that was killed.
@Suite struct HTTPDownloadResumeTests {
  private static let whole = bytes("0123456789")
  private let folder: DownloadFolder

  init() throws { folder = try DownloadFolder() }

  private var hidden: String { folder.path(".wells.gpkg.part") }

  private func download(_ url: String, _ sha256: String? = nil) throws -> HTTPDownload {
    try HTTPDownload(url, to: folder.target, overwrite: true, sha256: sha256, keptAs: hidden)
  }

  /// Gets the first bytes of the file, and leaves them.
  private func leave(_ count: Int, at url: String) async throws {
    do {
      let download = try download(url)
      await #expect(throws: FieldpackError.self) {
        try await download.attempt(by: HTTPClient(.unhurried))
      }
      #expect(await download.partial.length == count)
    }
    // The thread of the download, or a program that starts just then, may hold the file longer.
    while try PendingFile(target: folder.target, overwrite: true, keptAs: hidden) == nil {
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  /// A server that breaks off the first time.
  private func server(
    cutAt count: Int, _ head: [String] = ["ETag: \"a\""], then version: String = "\"a\""
  ) throws -> LoopbackServer {
    let isFirst = Locked(true)
    return try LoopbackServer { request in
      let cuts = isFirst.withLock { isFirst in
        defer { isFirst = false }
        return isFirst
      }
      guard cuts else { return .whole(Self.whole, version, for: request) }
      return .part(
        of: "0123456789", head: head + ["Content-Length: 10"], cutAt: count)
    }
  }

  @Test func `only the rest is asked for`() async throws {
    let server = try server(cutAt: 4)
    try await leave(4, at: server.address + "/a?key=secret")
    #expect(
      folder.names == [".wells.gpkg.part", ".wells.gpkg.part.origin", "wells.gpkg"])
    #expect(folder.content == DownloadFolder.old)
    let origin = try String(contentsOfFile: hidden + ".origin", encoding: .utf8)
    #expect(!origin.contains("secret"))
    let seen = Locked<[Double?]>([])
    let digest = SHA256.hex(Self.whole)
    let head = try await download(server.address + "/a?key=secret", digest)
      .attempt(by: HTTPClient(.unhurried)) { new in seen.withLock { $0.append(new.fraction) } }
    #expect(head.status == 206 && folder.content == Self.whole)
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=4-"])
    #expect(server.requests.map { $0["If-Range"] } == [nil, "\"a\""])
    #expect(seen.withLock { $0 } == [0.4, 1])
    #expect(folder.names == ["wells.gpkg"])
  }

  @Test func `of a whole file that has no name yet only the last byte is asked for`() async throws {
    let server = try server(cutAt: 9)
    try await leave(9, at: server.address)
    try Data(Self.whole).write(to: URL(filePath: hidden))
    _ = try await download(server.address, SHA256.hex(Self.whole)).attempt(by: HTTPClient())
    #expect(folder.content == Self.whole && folder.names == ["wells.gpkg"])
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=9-"])
  }

  @Test func `a date lets a download go on as well`() async throws {
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    let server = try server(
      cutAt: 4, ["Last-Modified: \(date)", "Date: Sun, 06 Nov 1994 08:49:38 GMT"])
    try await leave(4, at: server.address)
    _ = try await download(server.address).attempt(by: HTTPClient(.unhurried))
    #expect(server.requests.map { $0["If-Range"] } == [nil, date])
    #expect(folder.content == Self.whole && folder.names == ["wells.gpkg"])
  }

  @Test func `another version comes from the start`() async throws {
    let server = try server(cutAt: 4, then: "\"b\"")
    try await leave(4, at: server.address)
    let head = try await download(server.address, SHA256.hex(Self.whole))
      .attempt(by: HTTPClient(.unhurried))
    #expect(head.status == 200 && folder.content == Self.whole && folder.names == ["wells.gpkg"])
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=4-"])
  }

  @Test(arguments: ["address", "boot", "etag", "record", "longer"])
  func `what may be of something else is not gone on with`(change: String) async throws {
    let server = try server(cutAt: 4)
    try await leave(4, at: server.address)
    let origin = hidden + ".origin"
    switch change {
    case "record": FileSystem.remove(origin)
    case "longer": try Data(bytes("0123456789x")).write(to: URL(filePath: hidden))
    default:
      let document = try #require(JSONFile.read(origin))
      guard case .object(var members) = document else { return }
      members.removeAll { $0.name == change }
      if change != "etag" { members.append(.init(name: change, value: .text("x"))) }
      try JSONFile.write(.object(members), to: origin)
    }
    _ = try await download(server.address, SHA256.hex(Self.whole))
      .attempt(by: HTTPClient(.unhurried))
    #expect(folder.content == Self.whole && folder.names == ["wells.gpkg"])
    #expect(server.requests.map { $0["Range"] } == [nil, nil])
  }

  @Test func `a download goes on where nothing can be kept of it`() async throws {
    let server = try server(cutAt: 4)
    try FileManager.default.createDirectory(
      atPath: hidden + ".origin", withIntermediateDirectories: false)
    let download = try download(server.address)
    _ = try? await download.attempt(by: HTTPClient(.unhurried))
    _ = try await download.attempt(by: HTTPClient(.unhurried))
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=4-"])
    #expect(folder.content == Self.whole)
    #expect(folder.names == [".wells.gpkg.part.origin", "wells.gpkg"])
  }

  @Test func `nothing stays that one cannot go on from`() async throws {
    let server = try server(cutAt: 4, ["ETag: W/\"a\""])
    try await leave(0, at: server.address)
    #expect(folder.names == ["wells.gpkg"])
  }

  @Test func `what is there stays while the server cannot be reached`() async throws {
    let count = Locked(0)
    let server = try LoopbackServer { request in
      let number = count.withLock { count in
        count += 1
        return count
      }
      if number == 1 {
        return .part(of: "0123456789", head: ["ETag: \"a\"", "Content-Length: 10"], cutAt: 4)
      }
      return number == 2 ? .nothing : .whole(Self.whole, "\"a\"", for: request)
    }
    try await leave(4, at: server.address)
    try await leave(4, at: server.address)
    _ = try await download(server.address).attempt(by: HTTPClient(.unhurried))
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=4-", "bytes=4-"])
    #expect(folder.content == Self.whole)
  }

  @Test func `two downloads of one file do not disturb each other`() async throws {
    let server = try server(cutAt: 4)
    let first = try download(server.address)
    _ = try? await first.attempt(by: HTTPClient(.unhurried))
    let second = try download(server.address)
    _ = try await second.attempt(by: HTTPClient(.unhurried))
    #expect(folder.content == Self.whole)
    #expect(server.requests.map { $0["Range"] } == [nil, nil])
    _ = try await first.attempt(by: HTTPClient(.unhurried))
    #expect(server.requests.last?["Range"] == "bytes=4-")
    #expect(folder.content == Self.whole && folder.names == ["wells.gpkg"])
  }

  @Test func `a file of another kind under the hidden name is left alone`() async throws {
    let server = try server(cutAt: 4)
    try FileManager.default.createSymbolicLink(
      atPath: hidden, withDestinationPath: folder.path("elsewhere"))
    _ = try? await download(server.address).attempt(by: HTTPClient(.unhurried))
    #expect(folder.names == [".wells.gpkg.part", "wells.gpkg"])
  }
}
