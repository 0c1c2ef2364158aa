import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackHTTP

/// Downloads that fail: the old file stays, and nothing else.
@Suite struct HTTPDownloadFailureTests {
  struct Failing: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var reply: LoopbackServer.Reply
    var code: FieldpackError.Code
    var failure: HTTPFailure
  }

  private static let failures: [Failing] = [
    Failing(
      testDescription: "404", reply: .text(404, "none"), code: .notFound, failure: .status(404)),
    Failing(
      testDescription: "503", reply: .text(503, "", fields: [["Retry-After", "7"]]),
      code: .unavailable, failure: .status(503, asked: .seconds(7))),
    Failing(
      testDescription: "416 without a range", reply: .text(416, ""), code: .invalidData,
      failure: .status(416)),
    Failing(
      testDescription: "204", reply: .text(204, ""), code: .invalidData, failure: .malformed),
    Failing(
      testDescription: "206 without a range",
      reply: .text(206, "abc", fields: [["Content-Range", "bytes 0-2/3"]]), code: .invalidData,
      failure: .malformed),
    Failing(
      testDescription: "cut body",
      reply: .part(of: "abcdef", "Content-Length: 6", "ETag: \"a\"", cutAt: 3), code: .unavailable,
      failure: .cutShort),
    Failing(
      testDescription: "cut chunks",
      reply: .part(of: "3\r\nabc\r\n3\r\nd", "Transfer-Encoding: chunked"), code: .unavailable,
      failure: .cutShort),
    Failing(
      testDescription: "no length, but no HTTP either", reply: .raw(bytes("hello, world")),
      code: .invalidData, failure: .malformed),
    Failing(
      testDescription: "too long by its length",
      reply: .part(of: "", "Content-Length: 300000000", waits: true), code: .invalidData,
      failure: .tooLong),
    Failing(
      testDescription: "without end",
      reply: .part(
        of: "1000\r\n" + String(repeating: "x", count: 4096) + "\r\n",
        "Transfer-Encoding: chunked", waits: true), code: .invalidData, failure: .tooLong),
    Failing(
      testDescription: "compressed",
      reply: .text(200, "abc", fields: [["Content-Encoding", "gzip"]]), code: .invalidData,
      failure: .malformed),
    Failing(
      testDescription: "another file", reply: .text(200, "abd"), code: .invalidData,
      failure: .digest),
    Failing(
      testDescription: "redirect to a file",
      reply: .text(302, "", fields: [["Location", "file:///etc/passwd"]]), code: .invalidData,
      failure: .redirect),
    Failing(
      testDescription: "redirect to itself", reply: .text(302, "", fields: [["Location", "/"]]),
      code: .invalidData, failure: .redirect),
    Failing(testDescription: "no answer", reply: .nothing, code: .unavailable, failure: .cutShort),
  ]

  private let folder: DownloadFolder

  init() throws { folder = try DownloadFolder() }

  @Test(arguments: failures)
  func `what fails leaves the old file as it was`(_ failing: Failing) async throws {
    let server = try LoopbackServer { _ in failing.reply }
    do {
      let download = try HTTPDownload(
        server.address + "/a?key=secret", to: folder.target, overwrite: true,
        sha256: SHA256.hex(bytes("abc")), maximumLength: 1000)
      let error = await #expect(throws: FieldpackError.self) {
        try await download.attempt(by: HTTPClient(.unhurried))
      }
      #expect(error?.code == failing.code && error?.httpFailure == failing.failure)
      #expect(error?.message.contains("secret") == false)
      #expect(await download.partial.length == (failing.testDescription == "cut body" ? 3 : 0))
      #expect(folder.content == DownloadFolder.old)
    }
    #expect(folder.names == ["wells.gpkg"])
  }

  @Test func `where no file was, a failure leaves none`() async throws {
    let server = try LoopbackServer { _ in .text(404, "") }
    let target = folder.path("new.gpkg")
    do {
      let download = try HTTPDownload(server.address, to: target)
      await #expect(throws: FieldpackError.self) { try await download.attempt(by: HTTPClient()) }
    }
    #expect(folder.names == ["wells.gpkg"])
  }

  @Test func `a file that exists is not asked for`() async throws {
    let error = #expect(throws: FieldpackError.self) {
      try HTTPDownload("http://127.0.0.1:1/", to: folder.target)
    }
    #expect(error?.code == .cannotCreate)
    #expect(folder.names == ["wells.gpkg"] && folder.content == DownloadFolder.old)
  }

  @Test(arguments: [
    ("file:///etc/passwd", nil), ("http://user:word@127.0.0.1/", nil), ("wells.gpkg", nil),
    ("http://127.0.0.1/", "abc"), ("http://127.0.0.1/", String(repeating: "x", count: 64)),
  ])
  func `an address or a digest that is none is refused`(address: String, digest: String?) {
    let error = #expect(throws: FieldpackError.self) {
      try HTTPDownload(address, to: folder.target, overwrite: true, sha256: digest)
    }
    #expect(error?.code == .invalidArgument)
    #expect(folder.names == ["wells.gpkg"])
  }

  @Test func `a partial answer that fails keeps what is there`() async throws {
    let server = try LoopbackServer(
      answering: [
        .part(of: "0123456789", "Content-Length: 10", "ETag: \"a\"", cutAt: 4), .text(503, ""),
        .part(of: "456789", "Content-Length: 6", "Content-Range: bytes 4-9/10", status: 206),
      ])
    let client = try HTTPClient(.unhurried)
    let download = try HTTPDownload(server.address, to: folder.target, overwrite: true)
    for failure: HTTPFailure in [.cutShort, .status(503)] {
      let error = await #expect(throws: FieldpackError.self) {
        try await download.attempt(by: client)
      }
      #expect(error?.httpFailure == failure)
      #expect(await download.partial.length == 4)
    }
    _ = try await download.attempt(by: client)
    #expect(folder.content == bytes("0123456789"))
  }

  @Test func `a partial answer that is longer than it says is given up`() async throws {
    let server = try LoopbackServer(
      answering: [
        .part(of: "0123456789", "Content-Length: 10", "ETag: \"a\"", cutAt: 4),
        .part(
          of: "7\r\n456789a\r\n0\r\n\r\n", "Transfer-Encoding: chunked",
          "Content-Range: bytes 4-9/10", status: 206),
      ])
    let client = try HTTPClient(.unhurried)
    let download = try HTTPDownload(server.address, to: folder.target, overwrite: true)
    _ = try? await download.attempt(by: client)
    let error = await #expect(throws: FieldpackError.self) {
      try await download.attempt(by: client)
    }
    #expect(error?.httpFailure == .malformed)
    #expect(await download.partial == HTTPPartial())
    #expect(folder.content == DownloadFolder.old)
  }

  @Test func `a task that is cancelled stops a download, which can go on`() async throws {
    let server = try LoopbackServer(
      answering: [
        .part(of: "0123", "Content-Length: 10", "ETag: \"a\"", waits: true),
        .part(of: "456789", "Content-Length: 6", "Content-Range: bytes 4-9/10", status: 206),
      ])
    let client = try HTTPClient(.unhurried)
    let download = try HTTPDownload(server.address, to: folder.target, overwrite: true)
    let attempt = Task { try await download.attempt(by: client) }
    while await download.partial.length < 4 { try await Task.sleep(for: .milliseconds(2)) }
    let second = await #expect(throws: FieldpackError.self) {
      try await download.attempt(by: client)
    }
    #expect(second?.code == .busy)
    attempt.cancel()
    let error = await #expect(throws: FieldpackError.self) { try await attempt.value }
    #expect(error?.code == .interrupted && folder.content == DownloadFolder.old)
    _ = try await download.attempt(by: client)
    #expect(folder.content == bytes("0123456789") && folder.names == ["wells.gpkg"])
  }

  @Test func `a file that appears meanwhile stays`() async throws {
    let server = try LoopbackServer { _ in .text(200, "abc") }
    let target = folder.path("new.gpkg")
    do {
      let download = try HTTPDownload(server.address, to: target)
      try Data("theirs".utf8).write(to: URL(filePath: target))
      let error = await #expect(throws: FieldpackError.self) {
        try await download.attempt(by: HTTPClient(.unhurried))
      }
      #expect(error?.code == .cannotCreate)
    }
    #expect(folder.names == ["new.gpkg", "wells.gpkg"])
    #expect(try Data(contentsOf: URL(filePath: target)) == Data("theirs".utf8))
  }

  @Test(arguments: [
    ("bytes 4-9/10", 4..<10, 10), ("Bytes 0-0/*", 0..<1, nil),
  ])
  func `ranges of partial answers are read`(text: String, bytes: Range<Int>, total: Int?) throws {
    let range = try #require(HTTPContentRange(text))
    #expect(range.bytes == bytes && range.total == total)
  }

  @Test(arguments: [
    "", "bytes", "bytes 4-9", "bytes */10", "bytes 9-4/10", "bytes 4-10/10", "bytes -4-9/10",
    "bytes +4-9/10", "bytes 4-9/ten", "items 4-9/10", "bytes  4-9/10", "bytes 4-9/10/10",
    "bytes 0-9223372036854775807/*", "bytes 0-99999999999999999999/*", "bytes 4-9-10/20",
  ])
  func `ranges that are none are refused`(text: String) {
    #expect(HTTPContentRange(text) == nil)
  }
}
