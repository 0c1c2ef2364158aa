import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackHTTP

@Suite struct HTTPClientTests {
  private static let quick: HTTPConfiguration = {
    var configuration = HTTPConfiguration()
    configuration.timeout = .milliseconds(300)
    return configuration
  }()

  /// What the error of a request is.
  private func failure(
    _ client: HTTPClient, _ request: HTTPRequest
  ) async -> FieldpackError? {
    do throws(FieldpackError) {
      _ = try await client.send(request)
      return nil
    } catch { return error }
  }

  @Test func `a response has status, fields and body`() async throws {
    let server = try LoopbackServer { request in
      let fields = [["X-Word", " two words "], ["x-word", "again"]]
      return .text(201, "seen \(request.target)", fields: fields)
    }
    let client = try HTTPClient(.unhurried)
    let response = try await client.send(
      HTTPRequest(.get, server.address + "/a%20b?c=d&e=1", fields: ["X-Mine": "7", "X-Empty": ""]))
    #expect(response.status == 201 && response.isSuccess)
    #expect(String(decoding: response.body, as: UTF8.self) == "seen /a%20b?c=d&e=1")
    #expect(response.fields.values(of: "X-WORD") == ["two words", "again"])
    #expect(response.url == server.address + "/a%20b?c=d&e=1")
    let sent = try #require(server.requests.first)
    #expect(
      sent.fields == [
        ["Host", "127.0.0.1:\(server.port)"], ["User-Agent", "fieldpack/0.1"], ["Accept", "*/*"],
        ["X-Mine", "7"], ["X-Empty", ""],
      ])
  }

  @Test(arguments: [
    (200, "ok"), (204, "ok"), (400, "invalidData"), (401, "permission"), (404, "notFound"),
    (429, "unavailable"), (503, "unavailable"),
  ])
  func `a status is an error only when asked`(status: Int, code: String) async throws {
    let server = try LoopbackServer { _ in .text(status, "") }
    let response = try await HTTPClient(.unhurried).send(HTTPRequest(.get, server.address))
    #expect(response.status == status)
    var found = "ok"
    do throws(FieldpackError) { _ = try response.checked("the page") } catch {
      found = error.code.name
      #expect(error.message == "the page: the server answers with status \(status)")
    }
    #expect(found == code)
  }

  @Test func `bodies are sent from bytes and files`() async throws {
    let server = try LoopbackServer { request in
      .text(200, "\(request.method) \(request["Content-Type"] ?? "none") \(request.body.count)")
    }
    let folder = try TemporaryFolder()
    let file = folder.file("large")
    let content = Data((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try content.write(to: file)
    let client = try HTTPClient(.unhurried)
    let bytes = try await client.send(
      HTTPRequest(
        .post, server.address, fields: ["Content-Type": "text/plain"], body: .bytes([1, 2, 3])))
    let put = try await client.send(HTTPRequest(.put, server.address, body: .file(file.path)))
    let none = try await client.send(HTTPRequest(.post, server.address))
    let deleted = try await client.send(HTTPRequest(.delete, server.address))
    #expect(
      [bytes, put, none, deleted].map { String(decoding: $0.body, as: UTF8.self) }
        == ["POST text/plain 3", "PUT none 3000000", "POST none 0", "DELETE none 0"])
    #expect(Data(server.requests[1].body) == content)
    // One that was not used for two minutes is not used again, which a busy machine can make of it.
    #expect(Set(server.requests.map(\.connection)).count < 4)
  }

  @Test func `a form is sent part by part with its progress`() async throws {
    let server = try LoopbackServer { _ in .text(200, "") }
    let folder = try TemporaryFolder()
    let file = try folder.write("{}", to: "info.json")
    let form = MultipartForm(
      [
        .init(
          "media_file", fileName: "a\"b.jpg", contentType: "image/jpeg",
          .bytes([UInt8](repeating: 7, count: 200_000))),
        .init("info", .file(file.path)),
      ], boundary: "XX")
    let progress = Locked([[Int64]]())
    _ = try await HTTPClient(.unhurried).send(
      HTTPRequest(.post, server.address, body: .multipart(form))
    ) {
      sent, total in progress.withLock { $0.append([sent, total]) }
    }
    let request = try #require(server.requests.first)
    #expect(request["Content-Type"] == "multipart/form-data; boundary=XX")
    let head =
      "--XX\r\nContent-Disposition: form-data; name=\"media_file\"; filename=\"a%22b.jpg\"\r\n"
      + "Content-Type: image/jpeg\r\n\r\n"
    let tail =
      "\r\n--XX\r\nContent-Disposition: form-data; name=\"info\"\r\n\r\n{}\r\n--XX--\r\n"
    #expect(
      request.body == Array(head.utf8) + [UInt8](repeating: 7, count: 200_000) + Array(tail.utf8))
    let steps = progress.withLock { $0 }
    let total = Int64(request.body.count)
    #expect(steps.last == [total, total])
    #expect(steps.map { $0[0] } == steps.map { $0[0] }.sorted())
  }

  @Test func `no name of a part ends where it goes on`() async throws {
    let server = try LoopbackServer { _ in .text(200, "") }
    let name = "x\"\u{301}; name=\"admin"
    let form = MultipartForm([.init(name, fileName: name, .bytes([]))], boundary: "XX")
    _ = try await HTTPClient(.unhurried).send(
      HTTPRequest(.post, server.address, body: .multipart(form)))
    let quoted = "x%22\u{301}; name=%22admin"
    let text =
      "--XX\r\nContent-Disposition: form-data; name=\"\(quoted)\"; filename=\"\(quoted)\"\r\n\r\n"
      + "\r\n--XX--\r\n"
    #expect(try #require(server.requests.first).body == Array(text.utf8))
  }

  @Test func `a slow answer ends at the time limit`() async throws {
    let server = try LoopbackServer { _ in .silence }
    let error = await failure(try HTTPClient(Self.quick), HTTPRequest(.get, server.address))
    #expect(error?.code == .unavailable && error?.httpFailure == .timeout)
  }

  @Test func `no server is no connection`() async throws {
    var port: UInt16 = 0
    do { port = try LoopbackServer { _ in .nothing }.port }
    let error = await failure(
      try HTTPClient(), HTTPRequest(.get, "http://127.0.0.1:\(port)/photos?key=secret"))
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains("secret") == false)
    #expect(error?.message.hasPrefix("http://127.0.0.1:\(port)/photos: ") == true)
  }

  /// An answer that is none, and what is said of it.
  struct Bad: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let answer: String
    let code: FieldpackError.Code
    let reason: HTTPFailure

    init(
      _ name: String, _ answer: String, _ code: FieldpackError.Code, _ reason: HTTPFailure
    ) {
      (testDescription, self.answer, self.code, self.reason) = (name, answer, code, reason)
    }

    static let all: [Bad] = [
      Bad("cut", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", .unavailable, .cutShort),
      Bad("nothing", "", .unavailable, .cutShort),
      Bad("no HTTP", "no HTTP at all\r\n\r\n", .invalidData, .malformed),
      Bad("announced", "HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n", .invalidData, .tooLong),
      Bad(
        "endless", "HTTP/1.1 200 OK\r\n\r\n" + String(repeating: "x", count: 101), .invalidData,
        .tooLong),
      Bad(
        "header", "HTTP/1.1 200 OK\r\n" + String(repeating: "A: \(line)\r\n", count: 300),
        .invalidData, .tooLong),
      Bad(
        "chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", .unavailable,
        .connection),
    ]
    private static let line = String(repeating: "x", count: 900)
  }

  @Test(arguments: Bad.all)
  func `an answer that is none is refused`(bad: Bad) async throws {
    let server = try LoopbackServer { _ in .raw(Array(bad.answer.utf8)) }
    let error = await failure(
      try HTTPClient(.unhurried), HTTPRequest(.get, server.address, maximumLength: 100))
    #expect(error?.code == bad.code)
    #expect(error?.httpFailure == bad.reason)
  }

  @Test func `a body of exactly the limit is taken`() async throws {
    let server = try LoopbackServer { _ in .response(200, body: [UInt8](repeating: 1, count: 100)) }
    let response = try await HTTPClient(.unhurried).send(
      HTTPRequest(.get, server.address, maximumLength: 100))
    #expect(response.body.count == 100)
  }

  @Test func `a body is never unpacked`() async throws {
    let packed: [UInt8] = [0x1f, 0x8b, 8, 0, 0]
    let server = try LoopbackServer { _ in
      .response(200, fields: [["Content-Encoding", "gzip"]], body: packed)
    }
    let response = try await HTTPClient(.unhurried).send(HTTPRequest(.get, server.address))
    #expect(response.body == packed)
    #expect(server.requests[0]["Accept-Encoding"] == nil)
  }

  @Test(arguments: [
    HTTPRequest(.get, "file:///etc/passwd"), HTTPRequest(.get, "ftp://127.0.0.1/"),
    HTTPRequest(.get, "no address"), HTTPRequest(.get, ""), HTTPRequest(.get, "/relative"),
    HTTPRequest(.get, "http://user:word@127.0.0.1/"),
    HTTPRequest(.get, "http://127.0.0.1/\r\nX: y"),
    HTTPRequest(.get, "http://127.0.0.1/", fields: ["X-A": "b\r\nX-C: d"]),
    HTTPRequest(.get, "http://127.0.0.1/", fields: ["X A": "b"]),
    HTTPRequest(.get, "http://127.0.0.1/", fields: ["X:": "b"]),
    HTTPRequest(.init(rawValue: "GET /x"), "http://127.0.0.1/"),
    HTTPRequest(.post, "http://127.0.0.1/", body: .file("/dev/zero")),
    HTTPRequest(
      .post, "http://127.0.0.1/",
      body: .multipart(.init([.init("a\r\nb", .bytes([]))], boundary: "X"))),
    HTTPRequest(
      .post, "http://127.0.0.1/", body: .multipart(.init([], boundary: "a\r\nb"))),
  ])
  func `a request that would be another is refused`(request: HTTPRequest) async throws {
    let error = await failure(try HTTPClient(.unhurried), request)
    #expect(error?.code == .invalidArgument)
  }
}
