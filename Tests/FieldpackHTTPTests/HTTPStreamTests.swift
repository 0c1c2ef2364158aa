import FieldpackCore
import FieldpackTestSupport
import Testing

@testable import FieldpackHTTP

@Suite struct HTTPStreamTests {
  private static let large = (0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 9) }

  @Test func `the head comes first, and the body in pieces`() async throws {
    let server = try LoopbackServer { _ in
      .response(200, fields: [["Content-Type", "Text/Plain; charset=utf-8"]], body: Self.large)
    }
    let stream = try await HTTPClient(.unhurried).stream(HTTPRequest(.get, server.address))
    #expect(stream.head.status == 200 && stream.head.body == [])
    #expect(stream.head.contentType == "text/plain")
    var body: [UInt8] = []
    var longest = 0
    for try await bytes in stream {
      body += bytes
      longest = max(longest, bytes.count)
    }
    #expect(body == Self.large)
    #expect(longest <= 1 << 20 + 1 << 14)
    #expect(try await stream.next() == nil)
  }

  @Test func `what a reader has not taken is bounded, and waits`() async throws {
    let reception = Reception()
    let piece = [UInt8](repeating: 7, count: 1 << 14)
    let taken = (0..<100).prefix { _ in piece.withUnsafeBytes { reception.take(body: $0) } }.count
    #expect(taken == 64)
    let resumed = Locked(0)
    let bytes = try await reception.body { resumed.withLock { $0 += 1 } }
    #expect(bytes?.count == 1 << 20 && resumed.withLock { $0 } == 1)
    #expect(piece.withUnsafeBytes { reception.take(body: $0) })
    reception.end(nil)
    #expect(try await reception.body { resumed.withLock { $0 += 1 } } == piece)
    #expect(try await reception.body {} == nil)
    #expect(resumed.withLock { $0 } == 1)
  }

  @Test func `a reader waits on where another took what came`() async throws {
    let pieces = (1...16).map { [UInt8($0)] }
    for _ in 0..<50 {
      let reception = Reception()
      let taken = try await withThrowingTaskGroup(of: [UInt8]?.self) { readers in
        for _ in pieces { readers.addTask { try await reception.body {} } }
        var taken: [[UInt8]?] = []
        for piece in pieces {
          _ = piece.withUnsafeBytes { reception.take(body: $0) }
          taken.append(try await readers.next() ?? nil)
        }
        return taken
      }
      #expect(taken == pieces)
    }
  }

  @Test func `a stream that is released ends its exchange`() async throws {
    let server = try LoopbackServer { _ in
      let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      return .raw(Array((head + "3\r\nabc\r\n").utf8), waits: true)
    }
    let client = try HTTPClient(.unhurried)
    var stream: HTTPStream? = try await client.stream(HTTPRequest(.get, server.address))
    #expect(try await stream?.next() == Array("abc".utf8))
    #expect(server.left == 0)
    stream = nil
    while server.left == 0 { try await Task.sleep(for: .milliseconds(2)) }
  }

  @Test func `a task that is cancelled stops waiting for the body`() async throws {
    let server = try LoopbackServer { _ in
      .raw(Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".utf8), waits: true)
    }
    let client = try HTTPClient(.unhurried)
    let stream = try await client.stream(HTTPRequest(.get, server.address))
    #expect(try await stream.next() == Array("abc".utf8))
    let reader = Task { () async -> FieldpackError? in
      do throws(FieldpackError) {
        _ = try await stream.next()
        return nil
      } catch { return error }
    }
    reader.cancel()
    #expect(await reader.value?.code == .interrupted)
  }

  @Test func `a body that ends too soon is an error after its bytes`() async throws {
    let server = try LoopbackServer { _ in
      .raw(Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc".utf8))
    }
    let stream = try await HTTPClient(.unhurried).stream(HTTPRequest(.get, server.address))
    #expect(try await stream.next() == Array("abc".utf8))
    let error = await #expect(throws: FieldpackError.self) { try await stream.next() }
    #expect(error?.httpFailure == .cutShort)
  }

  @Test func `another server is followed to where asked, without secrets`() async throws {
    let other = try LoopbackServer { .text(200, "there \($0.target)") }
    let server = try LoopbackServer { _ in
      .text(302, "", fields: [["Location", other.address + "/b"]])
    }
    let client = try HTTPClient(.unhurried)
    var request = HTTPRequest(
      .get, server.address, fields: ["Authorization": "Basic x", "X-Key": "k", "Range": "bytes=0-"])
    let refusal = await #expect(throws: FieldpackError.self) { try await client.send(request) }
    #expect(refusal?.httpFailure == .redirect && other.requests.isEmpty)
    request.followsToOtherServers = true
    let response = try await client.send(request)
    #expect(String(decoding: response.body, as: UTF8.self) == "there /b")
    let seen = try #require(other.requests.first)
    #expect(seen["Authorization"] == nil && seen["X-Key"] == nil && seen["Range"] == "bytes=0-")
    request.body = .bytes([1])
    request.method = .post
    let again = await #expect(throws: FieldpackError.self) { try await client.send(request) }
    #expect(again?.httpFailure == .redirect && other.requests.count == 1)
  }
}
