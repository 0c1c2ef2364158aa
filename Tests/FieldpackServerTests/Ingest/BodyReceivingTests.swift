import FieldpackCore
import FieldpackHTTP
import Testing

@testable import FieldpackServer

#if Server
  /// Bodies that are handed on while they come.
  @Suite struct BodyReceivingTests {
    private final class Handler: RequestHandling, BodyReceiving {
      let most: Int
      let taken = Locked((count: 0, largest: 0))

      init(most: Int) { self.most = most }

      func refusal(of head: ServerRequest, bodyLength: Int?) -> ServerResponse? { nil }
      func receiver(of head: ServerRequest) -> (any BodyReceiving)? { self }
      func answerAtOnce(_ request: ServerRequest) -> ServerResponse? { nil }

      func take(_ bytes: UnsafeRawBufferPointer) -> ServerResponse? {
        taken.withLock { taken in
          taken.count += bytes.count
          taken.largest = max(taken.largest, bytes.count)
          return taken.count <= most ? nil : ServerResponse(507, "text/plain", Array("full".utf8))
        }
      }

      func answer(_ request: ServerRequest) async -> ServerResponse {
        #expect(request.body.isEmpty)
        return ServerResponse(200, "text/plain", Array("\(taken.withLock { $0.count })".utf8))
      }
    }

    @Test(arguments: [(50_000_000, 200, "50000000"), (1_000_000, 507, "full")])
    func `a long body never lies in memory, and ends where it is refused`(
      most: Int, status: Int, text: String
    ) async throws {
      let handler = Handler(most: most)
      let listener = try ServerListener(ListenAddress(port: 0), handler: handler)
      let request = HTTPRequest(
        .post, "http://127.0.0.1:\(listener.port)/",
        body: .bytes([UInt8](repeating: 7, count: 50_000_000)))
      let answer = try await HTTPClient().send(request)
      #expect(answer.status == status)
      #expect(String(decoding: answer.body, as: UTF8.self) == text)
      // What comes at once fits into the memory of the connection.
      #expect(handler.taken.withLock { $0.largest } <= 64 << 10)
      await listener.close()
    }
  }
#endif
