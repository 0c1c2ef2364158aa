import FieldpackCore
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

@Suite struct WebSocketTests {
  /// A frame as clients send it.
  private static func frame(
    _ first: UInt8, _ payload: [UInt8], mask: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
  ) -> [UInt8] {
    var bytes = [first]
    switch payload.count {
    case ...125: bytes.append(0x80 | UInt8(payload.count))
    case ...0xFFFF: bytes += [0xFE, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
    default:
      bytes += [0xFF] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> ((7 - $0) * 8)) }
    }
    return bytes + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
  }

  @Test func `the examples of the standard are read and written`() throws {
    // RFC 6455, 1.3 and 5.7.
    #expect(
      WebSocketHandshake.accept("dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    var reader = WebSocketReader()
    let hello: [UInt8] = [
      0x81, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58,
    ]
    #expect(try reader.take(hello) == [.text("Hello")])
    #expect(WebSocketReader.text("Hello") == [0x81, 0x05, 0x48, 0x65, 0x6c, 0x6c, 0x6f])
    #expect(
      WebSocketReader.text(String(repeating: "x", count: 256)).prefix(4) == [0x81, 0x7E, 1, 0])
    #expect(
      WebSocketReader.text(String(repeating: "x", count: 65_536)).prefix(10)
        == [0x81, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0])
    #expect(
      String(hex: SHA1.digest(Array("abc".utf8))) == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(
      String(hex: SHA1.digest([UInt8](repeating: 0x61, count: 1000)))
        == "291e9a6c66994949b57ba5e650361e98fc36b1ba")
  }

  @Test func `frames are read wherever they are cut`() throws {
    let long = String(repeating: "\u{e4}x", count: 30_000)
    let stream =
      Self.frame(0x01, Array("Hel".utf8)) + Self.frame(0x89, [1, 2])
      + Self.frame(0x80, Array("lo".utf8))
      + Self.frame(0x81, Array(long.utf8)) + Self.frame(0x8A, []) + Self.frame(0x81, [])
      + Self.frame(0x88, [0x03, 0xE9] + Array("bye".utf8))
    let expected: [WebSocketReader.Event] = [
      .ping([1, 2]), .text("Hello"), .text(long), .pong, .text(""), .close(.goingAway),
    ]
    for size in [1, 2, 3, 7, 4096, stream.count] {
      var reader = WebSocketReader()
      var events: [WebSocketReader.Event] = []
      for start in stride(from: 0, to: stream.count, by: size) {
        events += try reader.take(stream[start..<min(start + size, stream.count)])
      }
      #expect(events == expected, "in pieces of \(size)")
    }
  }

  private static let violations: [(name: String, bytes: [UInt8], close: WebSocketClose)] = [
    ("no mask", [0x81, 0x01, 0x61], .protocolError),
    ("a reserved bit", frame(0xC1, [0x61]), .protocolError),
    ("an unknown kind", frame(0x83, []), .protocolError),
    ("bytes", frame(0x82, [1]), .noText),
    ("a ping in pieces", frame(0x09, []), .protocolError),
    ("a long ping", frame(0x89, [UInt8](repeating: 0, count: 126)), .protocolError),
    ("a length in too long a form", [0x81, 0xFE, 0, 5, 0, 0, 0, 0], .protocolError),
    ("a length in far too long a form", [0x81, 0xFF, 0, 0, 0, 0, 0, 0, 1, 0], .protocolError),
    ("a length below zero", [0x81, 0xFF, 0xFF, 0, 0, 0, 0, 0, 1, 0], .tooLong),
    ("a long message", frame(0x81, [UInt8](repeating: 0x61, count: 1001)), .tooLong),
    (
      "a long message in pieces",
      frame(0x01, [UInt8](repeating: 0x61, count: 600))
        + frame(0x80, [UInt8](repeating: 0x61, count: 600)),
      .tooLong
    ),
    ("a continuation of nothing", frame(0x80, []), .protocolError),
    ("a message in a message", frame(0x01, []) + frame(0x81, []), .protocolError),
    ("what is not UTF-8", frame(0x81, [0xC3, 0x28]), .notUTF8),
    ("half a code", frame(0x88, [0x03]), .protocolError),
    ("a code that is not sent", frame(0x88, [0x03, 0xED]), .protocolError),
    ("a reason that is not UTF-8", frame(0x88, [0x03, 0xE8, 0xFF]), .notUTF8),
  ]

  @Test(arguments: violations.map(\.name)) func `what breaks the rules ends the connection`(
    name: String
  ) throws {
    let violation = try #require(Self.violations.first { $0.name == name })
    var reader = WebSocketReader(limit: 1000)
    #expect(throws: violation.close) { try reader.take(violation.bytes) }
  }

  @Test func `random bytes give messages or an end, never a trap`() {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<20_000 {
      var reader = WebSocketReader(limit: 1000)
      let count = Int.random(in: 0..<40, using: &generator)
      var bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
      if count > 1 { (bytes[0], bytes[1]) = (bytes[0] & 0x8F, bytes[1] | 0x80) }
      for byte in bytes { guard (try? reader.take([byte])) != nil else { break } }
    }
  }
}

#if Server
  @Suite(.programs) struct WebSocketServingTests {
    private static let hasNode: Bool = {
      let paths = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      return paths.contains { FileManager.default.isExecutableFile(atPath: "\($0)/node") }
    }()

    private func node(_ script: String, _ address: String) async throws -> RunResult {
      try await Program.run(
        "node",
        [
          "--no-warnings", "--experimental-websocket", "-e", script,
          "ws" + address.dropFirst("http".count) + "/bridge",
        ])
    }

    @Test(.enabled(if: hasNode, "there is no Node.js"))
    func `another program talks with the bridge`() async throws {
      let server = try await AppServer()
      let script = """
        const socket = new WebSocket(process.argv[1]);
        let text = 'x'.repeat(300000);
        socket.onopen = () => {
          socket.send(JSON.stringify({type: 0, responseId: text}));
          socket.send(JSON.stringify({type: 110, responseId: 'q',
            payload: {filter: {limit: 2}, storeId: ['field']}}));
        };
        socket.onmessage = event => {
          const message = JSON.parse(event.data);
          const name = message.event.replace(text, text.length);
          console.log(name, message.data.payload?.properties?.name ?? '');
          if (name === 'q_completed') { socket.close(3001, 'done'); }
        };
        socket.onerror = event => console.log('error', event.message);
        socket.onclose = event => console.log('closed', event.code, event.wasClean);
        """
      let result = try await node(script, server.address)
      #expect(
        result.output == """
          300000_completed\u{20}
          q well 0
          q well 1
          q_completed\u{20}
          closed 3001 true

          """)
      #expect([result.error, "\(result.status)"] == ["", "0"])
      await server.close()
    }

    @Test(.enabled(if: hasNode, "there is no Node.js"))
    func `a server that ends says good-bye`() async throws {
      let server = try await AppServer()
      let script = """
        const socket = new WebSocket(process.argv[1]);
        socket.onopen = () => socket.send('{"type":100,"responseId":"s"}');
        socket.onmessage = event => console.log(JSON.parse(event.data).event);
        socket.onclose = event => console.log('closed', event.code, event.wasClean);
        """
      let program = try Program(
        "node",
        [
          "--no-warnings", "--experimental-websocket", "-e", script,
          "ws" + server.address.dropFirst("http".count) + "/bridge",
        ])
      try await program.wait(for: "the list") { program.outputSoFar == "s\n" }
      await server.close()
      #expect(try await program.result().output == "s\ns_completed\nclosed 1001 true\n")
    }

    @Test func `what opens no connection is refused`() async throws {
      let server = try await AppServer()
      let good: HTTPFields = [
        "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
      ]
      for (name, value) in [
        ("Connection", "keep-alive"), ("Sec-WebSocket-Version", "8"),
        ("Sec-WebSocket-Key", "short"),
      ] {
        var fields = good
        fields[name] = value
        let answer = try await server.ask("/bridge", fields: fields)
        #expect(answer.status == 400, "\(name)")
        #expect(answer.fields["Sec-WebSocket-Version"] == "13")
      }
      var foreign = good
      foreign["Origin"] = "https://evil.example"
      #expect(try await server.ask("/bridge", fields: foreign).status == 403)
      await server.close()
    }
  }
#endif
