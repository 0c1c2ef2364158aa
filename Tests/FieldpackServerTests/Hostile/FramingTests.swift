import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Requests that a proxy and the server could take for different ones: the server answers one request
  /// and closes the connection, or the requests are what the standard says.
  @Suite struct FramingTests {
    private static let hidden = "GET /collections HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private static let pairs: [(name: String, head: String)] = [
      ("two lengths", "Content-Length: 0\r\nContent-Length: \(hidden.count)"),
      ("two lengths, the other way", "Content-Length: \(hidden.count)\r\nContent-Length: 0"),
      ("two lengths in one field", "Content-Length: 0, \(hidden.count)"),
      ("a length with a sign", "Content-Length: +\(hidden.count)"),
      ("a length below zero", "Content-Length: -1"),
      ("a length in hexadecimal", "Content-Length: 0x10"),
      ("a length beyond all numbers", "Content-Length: 99999999999999999999999"),
      ("no length in its field", "Content-Length:"),
      ("length and chunks", "Content-Length: \(hidden.count)\r\nTransfer-Encoding: chunked"),
      ("chunks and length", "Transfer-Encoding: chunked\r\nContent-Length: 4"),
      ("chunks twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"),
      ("another coding", "Transfer-Encoding: xchunked"),
      ("a list of codings", "Transfer-Encoding: gzip, chunked"),
      ("a coding in quotes", "Transfer-Encoding: \"chunked\""),
      ("a tab before the coding", "Transfer-Encoding:\u{B}chunked"),
      ("a blank before the colon", "Content-Length : \(hidden.count)"),
      ("a blank before the colon of chunks", "Transfer-Encoding : chunked"),
      ("a fold", "X: a\r\n Content-Length: \(hidden.count)"),
      ("a fold before chunks", "Transfer-Encoding: \r\n chunked"),
      ("a return without a line feed", "X: a\rContent-Length: \(hidden.count)"),
      ("two hosts", "Host: other.example"),
    ]

    @Test(arguments: pairs)
    func `what a proxy could read in two ways is refused`(
      name: String, head: String
    ) async throws {
      let server = try await TestServer()
      let text = "POST /sync/edits HTTP/1.1\r\nHost: localhost\r\n\(head)\r\n\r\n\(Self.hidden)"
      let answer = await (try RawConnection(server.address)).exchange(text)
      // libmicrohttpd writes the head of its own refusals twice.
      let found = Set(statuses(answer))
      #expect(
        found.count <= 1 && found.allSatisfy { (400..<500).contains($0) }, "\(name): \(answer)")
      #expect(!answer.contains("collections"), "\(name)")
      await server.close()
    }

    private static let bodies: [(name: String, body: String, statuses: [Int])] = [
      ("an extension of a chunk", "2;a=\"b\"\r\n{}\r\n0\r\n\r\n", [403, 200]),
      ("a size in capitals", "02\r\n{}\r\n00\r\n\r\n", [403, 200]),
      ("a field after the chunks", "0\r\nContent-Length: 99\r\n\r\n", [403, 200]),
      ("a size that is none", "x\r\n{}\r\n0\r\n\r\n", [400]),
      ("a size in two ways", "0x2\r\n{}\r\n0\r\n\r\n", [400]),
      ("a size below zero", "-2\r\n{}\r\n0\r\n\r\n", [400]),
      ("a size beyond all numbers", "fffffffffffffffff2\r\n{}\r\n0\r\n\r\n", [413]),
      ("a chunk that is longer", "1\r\n{}\r\n0\r\n\r\n", [400]),
    ]

    @Test(arguments: bodies)
    func `chunks are read as the standard says, or the connection ends`(
      name: String, body: String, expected: [Int]
    ) async throws {
      let server = try await TestServer()
      let text =
        "POST /sync/edits HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n\(body)"
        + "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
      let found = statuses(await (try RawConnection(server.address)).exchange(text))
      #expect(found == expected, "\(name)")
      await server.close()
    }

    /// RFC 9112 lets a server take a line feed for the end of a line.
    @Test func `a line feed ends a line`() async throws {
      let server = try await TestServer()
      let feeds = "GET /nothing HTTP/1.1\nHost: localhost\nConnection: close\n\n"
      #expect(statuses(await (try RawConnection(server.address)).exchange(feeds)) == [404])
      await server.close()
    }

    private static let targets: [String] = [
      "GET http://other.example/ HTTP/1.1", "CONNECT other.example:80 HTTP/1.1",
      "OPTIONS * HTTP/1.1", "PRI * HTTP/2.0", "GET / HTTP/9.9", "GET /",
      "\u{16}\u{3}\u{1}", "GET /%2e%2e/ HTTP/1.1", "GET \\..\\ HTTP/1.1",
      "GET /collections/..;/..;/etc HTTP/1.1", "GET /collections%2F..%2F..%2Fetc%2Fpasswd HTTP/1.1",
      "GET /collections/wells%2F..%2F..%2Fetc HTTP/1.1", "GET /#x HTTP/1.1",
    ]

    @Test(arguments: targets)
    func `what is no request of this server is none`(line: String) async throws {
      let server = try await TestServer()
      let connection = try RawConnection(server.address)
      connection.send("\(line)\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      connection.endSending()
      let answer = await connection.receive() ?? "nothing came"
      let found = statuses(answer)
      #expect(found.count <= 1, "\(answer)")
      #expect(found.allSatisfy { (400..<500).contains($0) || $0 == 505 }, "\(answer)")
      #expect(!answer.contains(server.folder.url.path))
      await server.close()
    }
  }
#endif
