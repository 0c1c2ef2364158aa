import FieldpackCore
import FieldpackHTTP
import FieldpackTestSupport
import Testing

@testable import FieldpackServer

#if Server
  /// Work for clients that have gone, and work that takes too long.
  @Suite struct LeavingClientTests {
    /// Answers when its task is cancelled, and not before.
    private final class Endless: RequestHandling {
      let begun = AsyncStream.makeStream(of: Void.self)
      let cancelled = AsyncStream.makeStream(of: Void.self)

      func refusal(of head: ServerRequest, bodyLength: Int?) -> ServerResponse? { nil }
      func answerAtOnce(_ request: ServerRequest) -> ServerResponse? { nil }
      func answer(_ request: ServerRequest) async -> ServerResponse {
        begun.continuation.yield()
        let wait = AsyncStream.makeStream(of: Void.self)
        for await _ in wait.stream {}
        cancelled.continuation.yield()
        return ServerResponse(503, "text/plain", [])
      }
    }

    @Test(.timeLimit(.minutes(2)))
    func `the task of a client that leaves before its answer is cancelled`() async throws {
      let handler = Endless()
      let listener = try ServerListener(ListenAddress(port: 0), handler: handler)
      let client = try HTTPClient()
      let asking = Task { [port = listener.port] in
        _ = try? await client.send(HTTPRequest(.get, "http://127.0.0.1:\(port)/"))
      }
      for await _ in handler.begun.stream { break }
      asking.cancel()
      for await _ in handler.cancelled.stream { break }
      await listener.close()
    }

    @Test func `a count that takes too long is left out`() async throws {
      let server = try await TestServer(wells: 3_000)
      var options = ServerDocuments.Options(title: "field")
      for (time, isCounted) in [(Duration.zero, false), (.seconds(3_600), true)] {
        options.countingTime = time
        let router = ServerRouter(
          PublishedStore(server.store, options) { .zero }, publicBase: nil, hosts: nil,
          logger: .silent)
        let answer = await router.answer(
          ServerRequest(
            "GET", ["collections", "wells", "items"],
            query: [.init("limit", "2"), .init("filter", "depth+1>2")]))
        guard answer.status == 200, case .bytes(let bytes) = answer.body else {
          throw TestFailure()
        }
        let page = try JSONValueReader.read(String(decoding: bytes, as: UTF8.self))
        #expect(page["numberReturned"] == .integer(2))
        #expect((page["numberMatched"] != nil) == isCounted)
        #expect(String(decoding: bytes, as: UTF8.self).contains(#""rel":"next""#))
      }
      await server.close()
    }
  }
#endif
