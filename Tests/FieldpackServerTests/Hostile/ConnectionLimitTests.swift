import FieldpackCore
import FieldpackField
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Clients that take, or hold, more than they need.
  @Suite struct ConnectionLimitTests {
    /// A clock that stands until it is set.
    private final class Hands: Sendable {
      let moment = Locked(Duration.zero)

      var clock: FieldClock {
        FieldClock(
          wall: { .zero }, uptime: { self.moment.withLock { $0 } },
          sleep: { _ in try await Task.sleep(for: .seconds(3600)) })
      }
    }

    /// Answers what it is told to at the moment that it is told.
    private struct Held: RequestHandling {
      let isFree: @Sendable () async -> Void
      /// More than the system takes at once.
      private let large = [UInt8](repeating: 0x41, count: 32 << 20)

      init(isFree: @escaping @Sendable () async -> Void) { self.isFree = isFree }

      func refusal(of head: ServerRequest, bodyLength: Int?) -> ServerResponse? { nil }
      func answerAtOnce(_ request: ServerRequest) -> ServerResponse? {
        switch request.path {
        case []: ServerResponse(200, "text/plain", [])
        case ["large"]: ServerResponse(200, "text/plain", large)
        default: nil
        }
      }
      func answer(_ request: ServerRequest) async -> ServerResponse {
        await isFree()
        return ServerResponse(201, "text/plain", [])
      }
    }

    private static let get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"

    private func listener(
      _ limits: ServerListener.Limits, clock: FieldClock = Hands().clock,
      isFree: @escaping @Sendable () async -> Void = {}
    ) throws -> (ServerListener, String) {
      // However slow the machine is, nobody is idle for too long.
      var limits = limits
      limits.timeout = .seconds(3600)
      let listener = try ServerListener(
        ListenAddress(port: 0), limits: limits, clock: clock, handler: Held(isFree: isFree))
      return (listener, "http://127.0.0.1:\(listener.port)")
    }

    /// An answer that is whole, for a connection that stays open.
    private func ask(_ connection: RawConnection) async -> [Int] {
      guard connection.send(Self.get) else { return [] }
      return statuses(await connection.receive { $0.hasSuffix("\r\n\r\n") } ?? "")
    }

    /// `FIELDPACK_CONNECTIONS=10000` asks for as many as a server takes.
    @Test func `beyond the limit the oldest idle connection goes`() async throws {
      let wanted = ProcessInfo.processInfo.environment["FIELDPACK_CONNECTIONS"].flatMap { Int($0) }
      let count = wanted ?? 50
      if wanted != nil { OpenFiles.allowMost() }
      var limits = ServerListener.Limits()
      limits.connections = count
      let (listener, address) = try listener(limits)
      var connections: [RawConnection] = []
      for _ in 0..<count {
        let connection = try RawConnection(address)
        #expect(await ask(connection) == [200])
        connections.append(connection)
      }
      // The first is used again, so that the second has been idle longest.
      #expect(await ask(connections[0]) == [200])
      let another = try RawConnection(address)
      #expect(await ask(another) == [200])
      #expect(await connections[1].receive() == "")
      #expect(listener.peers.count == count)
      for connection in [connections[0], connections[2], connections[count - 1]] {
        #expect(await ask(connection) == [200])
      }
      await listener.close()
    }

    @Test func `a listener that closes waits for a large answer`() async throws {
      let (listener, address) = try listener(.init())
      let client = try RawConnection(address)
      client.send("GET /large HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
      let first = try #require(await client.receive { $0.contains("\r\n\r\nA") })
      async let closed: Void = listener.close(grace: .seconds(3600))
      let rest = await client.receive() ?? ""
      #expect((first + rest).utf8.count > 32 << 20)
      await closed
    }

    @Test func `a connection that waits for its answer stays`() async throws {
      let freed = Locked(false)
      let (begun, begin) = AsyncStream<Void>.makeStream()
      var limits = ServerListener.Limits()
      limits.connections = 2
      let (listener, address) = try listener(limits) {
        begin.yield()
        while !freed.withLock({ $0 }) { await Task.yield() }
      }
      let waiting = try RawConnection(address)
      waiting.send("GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n")
      for await _ in begun { break }
      let idle = try RawConnection(address)
      #expect(await ask(idle) == [200])
      let another = try RawConnection(address)
      #expect(await ask(another) == [200])
      #expect(await idle.receive() == "")
      freed.withLock { $0 = true }
      #expect(statuses(await waiting.receive { $0.hasSuffix("\r\n\r\n") } ?? "") == [201])
      await listener.close()
    }

    @Test func `who takes too long over a request is told, and goes`() async throws {
      let hands = Hands()
      let (listener, address) = try listener(.init(), clock: hands.clock)
      let head = try RawConnection(address)
      head.send("GET / HTTP/1.1\r\nHost: loc")
      let body = try RawConnection(address)
      body.send(
        "POST /held HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n"
          + "Expect: 100-continue\r\n\r\n")
      #expect(statuses(await body.receive { $0.hasSuffix("\r\n\r\n") } ?? "") == [100])
      body.send("{")
      let silent = try RawConnection(address)
      while listener.peers.count < 3 { await Task.yield() }
      hands.moment.withLock { $0 = .seconds(59) }
      listener.peers.sweep()
      #expect(listener.peers.count == 3)
      // An idle client that begins a request now has its time.
      hands.moment.withLock { $0 = .seconds(62) }
      listener.peers.sweep()
      for connection in [head, body, silent] {
        #expect(statuses(await connection.receive() ?? "") == [408])
      }
      await listener.close()
    }

    @Test func `those who never end a request keep nobody from an answer`() async throws {
      let server = try await TestServer { options, _ in options.health = ListenAddress(port: 0) }
      let health = try #require(server.server.healthAddress)
      var slow: [RawConnection] = []
      for index in 0..<200 {
        let connection = try RawConnection(server.address)
        connection.send(index % 2 == 0 ? "GET / HTTP/1.1\r\nX" : "POST /sync/edits HTTP/1.1\r\n")
        slow.append(connection)
      }
      #expect(try await server.get("/collections/wells/items").status == 200)
      let close = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
      let answer = await (try RawConnection("http://\(health)")).exchange(close)
      #expect(statuses(answer) == [200])
      withExtendedLifetime(slow) {}
      await server.close()
    }

    /// `FIELDPACK_UPLOAD=1024` asks for an upload of so many MiB.
    @Test func `a long upload keeps nobody from an answer`() async throws {
      let wanted = ProcessInfo.processInfo.environment["FIELDPACK_UPLOAD"].flatMap { Int($0) }
      let pieces = wanted ?? 8
      let server = try await TestServer(isWritable: true) { options, _ in
        options.health = ListenAddress(port: 0)
      }
      let health = try #require(server.server.healthAddress)
      let count = pieces << 20
      let upload = try RawConnection(server.address)
      upload.send(
        "PUT /uploads/long HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(count)\r\n"
          + "Content-Range: bytes 0-\(count - 1)/\(count + 1)\r\n"
          + "Content-Type: multipart/form-data; boundary=x\r\nConnection: close\r\n\r\n")
      let piece = [UInt8](repeating: 7, count: 1 << 20)
      for number in 0..<pieces {
        #expect(upload.send(piece))
        guard number % max(1, pieces / 8) == 0 else { continue }
        let close = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        let answer = await (try RawConnection("http://\(health)")).exchange(close)
        #expect(statuses(answer) == [200])
        #expect(try await server.get("/collections/wells/items").status == 200)
      }
      #expect(statuses(await upload.receive() ?? "") == [202])
      let head = try await server.get("/uploads/long", "HEAD")
      #expect(head.fields["Upload-Offset"] == "\(count)")
      await server.close()
    }

    /// Nobody looks after connections where there are none.
    @Test func `a server that nobody uses sleeps`() async throws {
      let naps = Locked<[CheckedContinuation<Void, Never>]>([])
      let tidied = Locked(0)
      let clock = FieldClock(
        wall: { .zero }, uptime: { .zero },
        sleep: { _ in
          await withCheckedContinuation { nap in naps.withLock { $0.append(nap) } }
        })
      let listener = try ServerListener(
        ListenAddress(port: 0), clock: clock, handler: Held(isFree: {})
      ) { tidied.withLock { $0 += 1 } }
      /// Ends a sleep, and waits for what follows.
      func wake() async {
        let before = tidied.withLock { $0 }
        while naps.withLock({ $0.isEmpty }) { await Task.yield() }
        naps.withLock { $0.removeLast() }.resume()
        while tidied.withLock({ $0 }) == before { await Task.yield() }
      }
      for _ in 0..<2 { await wake() }
      #expect(!listener.isSwept)
      var client: RawConnection? = try RawConnection("http://127.0.0.1:\(listener.port)")
      if let client { #expect(await ask(client) == [200]) }
      await wake()
      #expect(listener.isSwept)
      client = nil
      while !listener.peers.isEmpty { await Task.yield() }
      for _ in 0..<2 { await wake() }
      #expect(!listener.isSwept)
      #expect(naps.withLock { $0.isEmpty })
      await listener.close()
    }

    @Test func `requests that come at once are answered in their order`() async throws {
      let server = try await TestServer()
      var text = ""
      let items = "/collections/wells/items"
      for path in [items + "/1", "/nothing", "/conformance", items] {
        text += "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n"
      }
      text += "HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
      let answer = await (try RawConnection(server.address)).exchange(text)
      #expect(statuses(answer) == [200, 404, 200, 200, 200])
      await server.close()
    }

    @Test func `who sends no more still gets the answer`() async throws {
      let server = try await TestServer()
      let connection = try RawConnection(server.address)
      connection.send("GET /collections/wells/items HTTP/1.1\r\nHost: localhost\r\n\r\n")
      connection.endSending()
      #expect(statuses(await connection.receive() ?? "") == [200])
      await server.close()
    }

    private static let sizes: [(head: String, status: Int)] = [
      ("GET / HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "x", count: 12_000))", 200),
      ("GET / HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "x", count: 16_500))", 431),
      ("GET / HTTP/1.1\r\nHost: localhost\r\nX: \(String(repeating: "x", count: 40_000))", 431),
      (
        "GET / HTTP/1.1\r\nHost: localhost\r\n"
          + (0..<4_000).map { "X\($0): abcdef" }.joined(separator: "\r\n"), 431
      ),
      ("GET /\(String(repeating: "x", count: 40_000)) HTTP/1.1\r\nHost: localhost", 414),
      ("POST /sync/edits HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20000000", 413),
    ]

    @Test(arguments: sizes)
    func `what is too long is refused before it is read`(
      head: String, status: Int
    ) async throws {
      let server = try await TestServer()
      let connection = try RawConnection(server.address)
      connection.send(head + "\r\n\r\n")
      let answer = await connection.receive { !statuses($0).isEmpty }
      #expect(statuses(answer ?? "") == [status])
      await server.close()
    }

    @Test func `chunks without end are refused once they are too many`() async throws {
      let server = try await TestServer()
      let connection = try RawConnection(server.address)
      connection.send(
        "POST /sync/edits HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
      let chunk = "10000\r\n" + String(repeating: "x", count: 1 << 16) + "\r\n"
      for _ in 0..<260 { connection.send(chunk) }
      connection.send("0\r\n\r\n")
      #expect(statuses(await connection.receive { !statuses($0).isEmpty } ?? "") == [413])
      await server.close()
    }

    @Test func `one address has so many connections`() async throws {
      var limits = ServerListener.Limits()
      limits.connectionsPerAddress = 3
      let (listener, address) = try listener(limits)
      var connections: [RawConnection] = []
      for _ in 0..<3 {
        let connection = try RawConnection(address)
        #expect(await ask(connection) == [200])
        connections.append(connection)
      }
      let another = try RawConnection(address)
      #expect(await ask(another) == [])
      #expect(await ask(connections[0]) == [200])
      await listener.close()
    }
  }
#endif
