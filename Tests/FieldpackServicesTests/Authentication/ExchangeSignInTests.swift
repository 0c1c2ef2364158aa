import Fieldpack
import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

/// Signing in by OAuth 2, and new tokens for old ones.
@Suite struct ExchangeSignInTests {
  private static let method = RemoteConfig.Authentication.exchange(clientID: "app 1")

  private func form(_ request: LoopbackServer.Request) -> String {
    String(decoding: request.body, as: UTF8.self)
  }

  @Test func `an Exchange gets the user as a form, and the client as its user`() async throws {
    let backend = try Backend(Backend.oauth("t1", refresh: "r1", seconds: 36_000))
    let service = try await backend.signedIn(Self.method)
    let request = try #require(backend.server.requests.first)
    #expect([request.method, request.target] == ["POST", "/o/token/"])
    #expect(request["Authorization"] == "Basic " + Base64.encode("app 1:".utf8))
    #expect(request["Content-Type"] == "application/x-www-form-urlencoded")
    #expect(
      form(request)
        == "grant_type=password&username=me%2Byou%40example.org"
        + "&password=p%22%26%3D%2B%20%25%C3%A4%5Cw")
    #expect(try await service.token() == "t1")
    #expect(await service.expiry == Instant("2026-06-01T22:00:00Z"))
  }

  @Test func `a token with less than an hour left is renewed, once for all who ask`() async throws {
    let backend = try Backend(Backend.oauth("t1", refresh: "r1", seconds: 36_000))
    let service = try await backend.signedIn(Self.method)
    backend.time.advance(by: .seconds(36_000 - 3_601))
    #expect(try await service.token() == "t1")
    #expect(backend.server.requests.count == 1)
    backend.time.advance(by: .seconds(1))
    backend.answer(Backend.oauth("t2", seconds: 36_000))
    let tokens = try await withThrowingTaskGroup(of: String?.self) { group in
      for _ in 0..<20 { group.addTask { try await service.token() } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(tokens == ["t2"])
    #expect(
      backend.server.requests.dropFirst().map(form)
        == ["grant_type=refresh_token&refresh_token=r1"])
    // The token for renewal holds on where the answer has none, also after a start.
    backend.time.advance(by: .seconds(40_000))
    backend.answer(Backend.oauth("t3", refresh: "r3"))
    let next = backend.service(Self.method)
    try await next.start()
    #expect(await next.status == .authenticated)
    #expect(try await next.token() == "t3")
    #expect(backend.server.requests.map(form).last?.hasSuffix("=r1") == true)
    #expect(await next.expiry == nil)
  }

  @Test func `a token for a short time is not renewed each time`() async throws {
    let backend = try Backend(Backend.oauth("t1", refresh: "r1", seconds: 600))
    let service = try await backend.signedIn(Self.method)
    backend.time.advance(by: .seconds(299))
    #expect(try await service.token() == "t1")
    backend.answer(Backend.oauth("t2", seconds: 600))
    backend.time.advance(by: .seconds(1))
    #expect(try await service.token() == "t2")
    #expect(backend.server.requests.count == 2)
  }

  @Test func `a failure of the network signs nobody out`() async throws {
    let backend = try Backend(Backend.oauth("t1", refresh: "r1", seconds: 36_000))
    let service = try await backend.signedIn(Self.method)
    backend.answer(.nothing)
    backend.time.advance(by: .seconds(35_000))
    #expect(try await service.token() == "t1")
    let asked = backend.server.requests.count
    // For a minute the server is left alone.
    #expect(try await service.token() == "t1")
    #expect(backend.server.requests.count == asked)
    backend.time.advance(by: .seconds(1_000))
    for reply in [LoopbackServer.Reply.nothing, .text(503, ""), .text(200, "<html>")] {
      backend.answer(reply)
      let error = await #expect(throws: FieldpackError.self) { try await service.token() }
      #expect([.unavailable, .invalidData].contains(error?.code))
      #expect(await service.status == .authenticated)
    }
    backend.answer(Backend.oauth("t2", refresh: "r2", seconds: 36_000))
    #expect(try await service.token() == "t2")
  }

  @Test(arguments: [
    (400, #"{"error":"invalid_grant"}"#), (401, #"{"error":"invalid_client"}"#), (403, ""),
  ])
  func `a renewal that is refused signs out`(status: Int, body: String) async throws {
    let backend = try Backend(Backend.oauth("t1", refresh: "r1", seconds: 36_000))
    let service = try await backend.signedIn(Self.method)
    backend.time.advance(by: .seconds(35_000))
    backend.answer(.text(status, body))
    let error = await #expect(throws: FieldpackError.self) { try await service.token() }
    #expect(error?.code == .permission && error?.advice == .signIn(config: nil))
    #expect(
      error?.message
        == (status == 401
          ? "127.0.0.1 does not take the 'client_id' of the config"
          : "127.0.0.1 takes the sign-in no longer"))
    #expect(await service.status == .notAuthenticated)
    #expect(await service.user == nil)
    #expect(backend.names == [])
  }

  @Test func `what another program has renewed is used, and not asked for again`() async throws {
    let backend = try Backend(Backend.oauth("t1", refresh: "r1", seconds: 36_000))
    let first = try await backend.signedIn(Self.method)
    let second = backend.service(Self.method)
    try await second.start()
    backend.time.advance(by: .seconds(35_000))
    backend.answer(Backend.oauth("t2", refresh: "r2", seconds: 36_000), .text(400, ""))
    #expect(try await first.token() == "t2")
    #expect(try await second.token() == "t2")
    #expect(backend.server.requests.count == 2)
    backend.time.advance(by: .seconds(35_000))
    try await first.signOut()
    await #expect(throws: FieldpackError.self) { try await second.token() }
    #expect(backend.server.requests.count == 2 && backend.names == [])
  }

  @Test func `a token that is signed out during its renewal stays so`() async throws {
    let renews = Locked(false)
    let answer = DispatchSemaphore(value: 0)
    let folder = try TemporaryFolder()
    let server = try LoopbackServer { _ in
      if renews.withLock({ $0 }) { answer.wait() }
      return Backend.oauth("t", refresh: "r", seconds: 1)
    }
    let backend = try Backend()
    let service = AuthenticationService(
      RemoteConfig(uri: server.address, authentication: Self.method), clock: backend.time.clock,
      folder: folder.url.path)
    try await service.signIn(user: "me", password: "word")
    backend.time.advance(by: .seconds(1))
    renews.withLock { $0 = true }
    let token = Task { try await service.token() }
    while server.requests.count < 2 { await Task.yield() }
    try await service.signOut()
    answer.signal()
    await #expect(throws: FieldpackError.self) { try await token.value }
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == [])
    #expect(await service.status == .notAuthenticated)
    #expect(await service.user == nil)
  }

  @Test func `a token that was refused is renewed before its time`() async throws {
    let backend = try Backend(Backend.oauth("t1", refresh: "r1", seconds: 36_000))
    let service = try await backend.signedIn(Self.method)
    backend.answer(Backend.oauth("t2", refresh: "r2", seconds: 36_000))
    #expect(try await service.token(after: "t1") == "t2")
    #expect(try await service.token(after: "t1") == "t2")
    #expect(backend.server.requests.count == 2)
    let server = try Backend(Backend.token("a.b.c"))
    let other = try await server.signedIn()
    let error = await #expect(throws: FieldpackError.self) {
      try await other.token(after: "a.b.c")
    }
    #expect(error?.message == "127.0.0.1 takes the token no longer")
    #expect(try await other.token() == "a.b.c")
  }
}
