import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackHTTP

/// Downloads that succeed, at once or in parts.
@Suite struct HTTPDownloadTests {
  private static let large = (0..<(3 << 19)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }
  private let folder: DownloadFolder

  init() throws { folder = try DownloadFolder() }

  @Test func `a file takes its name when it is whole`() async throws {
    let server = try LoopbackServer { _ in
      .response(200, fields: [["ETag", "\"a\""]], body: Self.large)
    }
    let seen = Locked<[HTTPDownload.Progress]>([])
    let download = try HTTPDownload(
      server.address, fields: ["X-Key": "k"], to: folder.target, overwrite: true)
    let head = try await download.attempt(by: HTTPClient(.unhurried)) { [folder] progress in
      seen.withLock { $0.append(progress) }
      #expect(folder.content == (progress.fraction == 1 ? Self.large : DownloadFolder.old))
    }
    #expect(head.status == 200 && head.fields["ETag"] == "\"a\"" && head.body == [])
    #expect(folder.names == ["wells.gpkg"])
    let request = try #require(server.requests.first)
    #expect(request["X-Key"] == "k" && request["Accept-Encoding"] == "identity")
    #expect(request["Range"] == nil && request["If-Range"] == nil)
    let reports = seen.withLock { $0 }
    #expect(reports.first == .init(received: 0, total: Self.large.count))
    #expect(reports.last == .init(received: Self.large.count, total: Self.large.count))
    let steps = zip(reports.dropFirst(), reports).map { $0.received - $1.received }
    #expect(steps.allSatisfy { 0 < $0 && $0 <= 1 << 20 + 1 << 14 })
    let again = await #expect(throws: FieldpackError.self) {
      try await download.attempt(by: HTTPClient())
    }
    #expect(again?.code == .busy && server.requests.count == 1)
  }

  @Test func `an attempt goes on where the last one ended`() async throws {
    let server = try LoopbackServer(
      answering: [
        .part(of: "0123456789", "Content-Length: 10", "ETag: \"a\"", cutAt: 4),
        .part(of: "456", "Content-Length: 3", "Content-Range: bytes 4-6/10", status: 206),
        .part(of: "789", "Content-Length: 3", "Content-Range: bytes 7-9/*", status: 206),
      ])
    let seen = Locked<[HTTPDownload.Progress]>([])
    let client = try HTTPClient(.unhurried)
    let download = try HTTPDownload(
      server.address, to: folder.target, overwrite: true,
      sha256: SHA256.hex(bytes("0123456789")).uppercased())
    var between: [HTTPPartial] = []
    for _ in 0..<2 {
      let error = await #expect(throws: FieldpackError.self) {
        try await download.attempt(by: client) { new in seen.withLock { $0.append(new) } }
      }
      #expect(error?.code == .unavailable && error?.httpFailure == .cutShort)
      between.append(await download.partial)
      #expect(folder.content == DownloadFolder.old && folder.names.count == 2)
    }
    #expect(between.map(\.length) == [4, 7] && between.map(\.total) == [10, 10])
    #expect(between.map(\.validator) == [.entityTag("\"a\""), .entityTag("\"a\"")])
    let head = try await download.attempt(by: client) { new in seen.withLock { $0.append(new) } }
    #expect(head.status == 206)
    #expect(folder.content == bytes("0123456789") && folder.names == ["wells.gpkg"])
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=4-", "bytes=7-"])
    #expect(server.requests.map { $0["If-Range"] } == [nil, "\"a\"", "\"a\""])
    #expect(seen.withLock { $0 }.map(\.fraction) == [0, 0.4, 0.7, 1])
  }

  @Test func `what a write left behind before it failed is overwritten`() async throws {
    let server = try LoopbackServer(
      answering: [
        .part(of: "0123456789", "Content-Length: 10", "ETag: \"a\"", cutAt: 4),
        .part(of: "456789", "Content-Length: 6", "Content-Range: bytes 4-9/10", status: 206),
      ])
    let client = try HTTPClient(.unhurried)
    let download = try HTTPDownload(server.address, to: folder.target, overwrite: true)
    _ = try? await download.attempt(by: client)
    let hidden = try #require(folder.names.first { $0 != "wells.gpkg" })
    let handle = try FileHandle(forWritingTo: URL(filePath: folder.path(hidden)))
    try handle.seekToEnd()
    try handle.write(contentsOf: Data("what came before the disk was full".utf8))
    try handle.close()
    _ = try await download.attempt(by: client)
    #expect(folder.content == bytes("0123456789"))
  }

  @Test func `another version comes from the start, and no fraction falls`() async throws {
    let server = try LoopbackServer(
      answering: [
        .part(of: "0123456789", "Content-Length: 10", "ETag: \"a\"", cutAt: 6),
        .part(of: "abcdefgh", "Content-Length: 8", "ETag: \"b\""),
      ])
    let seen = Locked<[Double?]>([])
    let client = try HTTPClient(.unhurried)
    let download = try HTTPDownload(
      server.address, to: folder.target, overwrite: true, sha256: SHA256.hex(bytes("abcdefgh")))
    _ = try? await download.attempt(by: client) { new in seen.withLock { $0.append(new.fraction) } }
    #expect(await download.partial.length == 6)
    let head = try await download.attempt(by: client) { new in
      seen.withLock { $0.append(new.fraction) }
    }
    #expect(head.status == 200 && folder.content == bytes("abcdefgh"))
    #expect(await download.partial.validator == .entityTag("\"b\""))
    #expect(seen.withLock { $0 } == [0, 0.6, 1])
  }

  @Test(arguments: [
    (206, ["Content-Range: bytes 0-9/10", "Content-Length: 10"]),
    (206, ["Content-Range: bytes 5-9/10", "Content-Length: 5"]),
    (206, ["Content-Range: bytes 4-9/11", "Content-Length: 6"]),
    (206, ["Content-Range: bytes 4-9/10", "Content-Length: 7"]),
    (206, ["Content-Range: bytes 4-9/10", "Content-Length: 6", "ETag: \"b\""]),
    (206, ["Content-Range: bytes 4-9/10", "Content-Length: 6", "Content-Encoding: gzip"]),
    (206, ["Content-Type: multipart/byteranges; boundary=x", "Content-Length: 6"]),
    (412, ["Content-Length: 0"]), (416, ["Content-Range: bytes */4", "Content-Length: 0"]),
  ])
  func `what does not go on from there is asked for anew`(
    status: Int, head: [String]
  ) async throws {
    let server = try LoopbackServer(
      answering: [
        .part(of: "0123456789", "Content-Length: 10", "ETag: \"a\"", cutAt: 4),
        .part(of: "zzzzzzzzzz", head: head, status: status),
        .part(of: "0123456789", "Content-Length: 10", "ETag: \"a\""),
      ])
    let client = try HTTPClient(.unhurried)
    let download = try HTTPDownload(server.address, to: folder.target, overwrite: true)
    _ = try? await download.attempt(by: client)
    _ = try await download.attempt(by: client)
    #expect(folder.content == bytes("0123456789") && folder.names == ["wells.gpkg"])
    #expect(server.requests.map { $0["Range"] } == [nil, "bytes=4-", nil])
  }

  @Test(arguments: [
    (["ETag: \"a\"", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"], "\"a\""),
    (
      ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Date: Sun, 06 Nov 1994 08:49:38 GMT"],
      "Sun, 06 Nov 1994 08:49:37 GMT"
    ),
    (["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Date: Sun, 06 Nov 1994 08:49:37 GMT"], nil),
    (["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"], nil), (["Last-Modified: yesterday"], nil),
    (["ETag: W/\"a\"", "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"], nil), (["ETag: a"], nil),
    (["ETag: \""], nil), ([], nil),
  ])
  func `only a strong sign of a version lets an attempt go on`(
    head: [String], sent: String?
  ) async throws {
    let server = try LoopbackServer(
      answering: [
        .part(of: "0123456789", head: head + ["Content-Length: 10"], cutAt: 4),
        .part(of: "0123456789", "Content-Length: 10"),
      ])
    let client = try HTTPClient(.unhurried)
    let download = try HTTPDownload(server.address, to: folder.target, overwrite: true)
    _ = try? await download.attempt(by: client)
    #expect(await download.partial.length == (sent == nil ? 0 : 4))
    _ = try await download.attempt(by: client)
    #expect(server.requests.map { $0["If-Range"] } == [nil, sent])
    #expect(server.requests.map { $0["Range"] } == [nil, sent.map { _ in "bytes=4-" }])
    #expect(folder.content == bytes("0123456789"))
  }

  @Test func `a length that nobody knows has no fraction before the end`() async throws {
    let server = try LoopbackServer(
      answering: [.part(of: "3\r\nabc\r\n0\r\n\r\n", "Transfer-Encoding: chunked")])
    let seen = Locked<[HTTPDownload.Progress]>([])
    let download = try HTTPDownload(server.address, to: folder.target, overwrite: true)
    _ = try await download.attempt(by: HTTPClient(.unhurried)) { new in
      seen.withLock { $0.append(new) }
    }
    #expect(folder.content == bytes("abc"))
    let reports = seen.withLock { $0 }
    #expect(reports.map(\.received) == [0, 3, 3] && reports.map(\.total) == [nil, nil, 3])
    #expect(HTTPDownload.Progress(received: 0, total: 0).fraction == 1)
  }

  @Test func `a download may take longer than other exchanges, and follows to other servers`()
    async throws
  {
    let other = try LoopbackServer(
      answering: [
        .part(of: "0123456789", "Content-Length: 10", "ETag: \"a\"", cutAt: 4),
        .part(of: "456789", "Content-Length: 6", "Content-Range: bytes 4-9/10", status: 206),
      ])
    let server = try LoopbackServer { _ in
      .text(302, "", fields: [["Location", other.address + "/wells.gpkg?key=1"]])
    }
    var configuration = HTTPConfiguration.unhurried
    configuration.timeout = .zero
    let client = try HTTPClient(configuration)
    let download = try HTTPDownload(
      server.address, fields: ["Authorization": "Basic x"], to: folder.target, overwrite: true)
    _ = try? await download.attempt(by: client)
    let head = try await download.attempt(by: client)
    #expect(head.url == other.address + "/wells.gpkg?key=1")
    #expect(folder.content == bytes("0123456789"))
    #expect(server.requests.map { $0["Authorization"] } == ["Basic x", "Basic x"])
    #expect(other.requests.map { $0["Authorization"] } == [nil, nil])
    #expect(other.requests.map { $0["Range"] } == [nil, "bytes=4-"])
    #expect(other.requests.map { $0["Accept-Encoding"] } == ["identity", "identity"])
  }
}
