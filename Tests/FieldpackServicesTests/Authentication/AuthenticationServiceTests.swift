import Fieldpack
import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

@Suite struct AuthenticationServiceTests {
  /// The first so many statuses.
  private func statuses(
    _ service: AuthenticationService, _ count: Int
  ) async -> [AuthenticationStatus] {
    var statuses: [AuthenticationStatus] = []
    for await status in service.loginStatus.prefix(count) { statuses.append(status) }
    return statuses
  }

  @Test func `the numbers of the statuses are those of bridges`() {
    #expect(AuthenticationStatus.allCases.map(\.rawValue) == [0, 1, 2])
  }

  @Test func `a server gets the user as JSON and gives a token, which is kept for its user alone`()
    async throws
  {
    let backend = try Backend(Backend.token("a.b.c"))
    let service = try await backend.signedIn()
    let request = try #require(backend.server.requests.first)
    #expect([request.method, request.target] == ["POST", "/api/authenticate"])
    #expect(
      try JSONSerialization.jsonObject(with: Data(request.body)) as? [String: String]
        == ["email": Backend.user, "password": Backend.password])
    #expect(try await service.token() == "a.b.c")
    #expect(await service.user == Backend.user)
    #expect(await statuses(service, 1) == [.authenticated])
    #expect(
      try String(contentsOf: backend.file, encoding: .utf8)
        == #"{"user":"me+you@example.org","token":"a.b.c","refresh_token":null,"#
        + #""received_at":"2026-06-01T12:00:00.000Z","expires_at":null}"# + "\n")
    for (url, mode) in [(backend.file, 0o600), (backend.tokens, 0o700)] {
      let attributes = try FileManager.default.attributesOfItem(atPath: url.path)
      #expect(attributes[.posixPermissions] as? Int == mode)
    }
    #expect(backend.names == [SHA256.hex(Array("\(backend.server.address) server".utf8))])
  }

  @Test func `who was signed in is so after a start, without the network`() async throws {
    let backend = try Backend(Backend.token("a.b.c"))
    _ = try await backend.signedIn()
    backend.answer(.nothing)
    let service = backend.service()
    #expect(await service.status == .notAuthenticated)
    try await service.start()
    #expect(await statuses(service, 1) == [.authenticated])
    #expect(try await service.token() == "a.b.c")
    await service.stop()
    #expect(await service.user == nil)
    try await service.start()
    #expect(await service.user == Backend.user)
    #expect(backend.server.requests.count == 1)
  }

  @Test func `to sign out removes the token, and what a killed program left of it`() async throws {
    let backend = try Backend(Backend.token("a.b.c"))
    let service = try await backend.signedIn()
    let left = ".\(backend.names[0]).fieldpack-0123456789abcdef"
    _ = try backend.folder.write("a token", to: "tokens/\(left)")
    try await service.signOut()
    #expect(backend.names == [])
    #expect(await service.user == nil)
    #expect(await statuses(service, 1) == [.notAuthenticated])
    let error = await #expect(throws: FieldpackError.self) { try await service.token() }
    #expect(error?.code == .permission && error?.advice == .signIn(config: nil))
    #expect(error?.message == "nobody is signed in to 127.0.0.1")
    // Once more, and where nothing was ever kept.
    try await service.signOut()
    try await Backend().service().signOut()
  }

  @Test func `another program's sign-in and sign-out count`() async throws {
    let backend = try Backend(Backend.token("a.b.c"))
    let service = backend.service()
    try await service.start()
    let other = try await backend.signedIn()
    #expect(try await service.token() == "a.b.c")
    #expect(await service.status == .authenticated)
    backend.answer(Backend.token("d.e.f"))
    try await other.signIn(user: "you", password: "word")
    #expect(try await service.token() == "d.e.f")
    #expect(await service.user == "you")
    try await other.signOut()
    await #expect(throws: FieldpackError.self) { try await service.token() }
    #expect(await service.status == .notAuthenticated)
  }

  @Test func `where nobody needs to sign in there is no token, and all are signed in`()
    async throws
  {
    let backend = try Backend()
    let service = backend.service(.none)
    #expect(await statuses(service, 1) == [.authenticated])
    try await service.start()
    try await service.signIn(user: "me", password: "word")
    try await service.signOut()
    await service.stop()
    #expect(try await service.token() == nil)
    #expect(try await service.token(after: "x") == nil)
    #expect(await service.status == .authenticated)
    #expect(backend.server.requests.isEmpty && backend.names == [])
  }

  @Test(arguments: [401, 403])
  func `who is refused is signed out`(status: Int) async throws {
    let backend = try Backend(Backend.token("a.b.c"))
    let service = try await backend.signedIn()
    backend.answer(.text(status, #"{"result":null,"error":"no"}"#))
    let error = await #expect(throws: FieldpackError.self) {
      try await service.signIn(user: "me", password: "word")
    }
    #expect(error?.code == .permission)
    #expect(error?.message == "127.0.0.1 refuses the user or the password")
    #expect(await statuses(service, 1) == [.failed])
    #expect(backend.names == [])
    await #expect(throws: FieldpackError.self) { try await service.token() }
    #expect(await service.status == .notAuthenticated)
  }

  @Test func `a failure of the server leaves the one who is signed in`() async throws {
    let backend = try Backend(Backend.token("a.b.c"))
    let service = try await backend.signedIn()
    backend.answer(.text(503, ""))
    let error = await #expect(throws: FieldpackError.self) {
      try await service.signIn(user: "me", password: "word")
    }
    #expect(error?.code == .unavailable)
    #expect(error?.message == "127.0.0.1: the server answers with status 503")
    #expect(try await service.token() == "a.b.c")
    #expect(await service.user == Backend.user)
  }

  @Test func `a token of a server holds as long as its claims tell`() async throws {
    let claims = Base64.encode(#"{"iat":1000,"exp":1209601000}"#.utf8).replacing("=", with: "")
    let backend = try Backend(Backend.token("e30.\(claims).c2ln"))
    let service = try await backend.signedIn()
    // Two weeks from now on, though the clock of the server is another.
    #expect(await service.expiry == Instant("2064-09-29T12:00:00Z"))
    let short = Base64.encode(#"{"iat":1000,"exp":1210600}"#.utf8).replacing("=", with: "")
    backend.answer(Backend.token("e30.\(short).c2ln"))
    try await service.signIn(user: "me", password: "word")
    #expect(await service.expiry == Instant("2026-06-15T12:00:00Z"))
    backend.time.advance(by: .seconds(14 * 86_400 - 1))
    #expect(try await service.token() == "e30.\(short).c2ln")
    backend.time.advance(by: .seconds(1))
    let error = await #expect(throws: FieldpackError.self) { try await service.token() }
    #expect(error?.message == "the time of the sign-in to 127.0.0.1 is over")
    #expect(await service.status == .notAuthenticated)
    let next = backend.service()
    try await next.start()
    #expect(await next.status == .notAuthenticated)
    #expect(await next.user == "me")
  }

  @Test func `a password goes to no other machine without encryption`() async throws {
    let folder = try TemporaryFolder()
    for uri in ["http://192.0.2.1:8085", "http://127.0.0.1.nowhere.invalid", "http://localhost."] {
      let service = AuthenticationService(RemoteConfig(uri: uri), folder: folder.url.path)
      try await service.start()
      let error = await #expect(throws: FieldpackError.self) {
        try await service.signIn(user: "me", password: "word")
      }
      #expect(error?.code == .permission && error?.advice == .allowUnencrypted)
      let other = await #expect(throws: FieldpackError.self) { try await service.token() }
      #expect(other?.advice == .allowUnencrypted)
    }
    let service = AuthenticationService(
      RemoteConfig(uri: "http://nowhere.invalid"), folder: folder.url.path, allowsUnencrypted: true)
    let error = await #expect(throws: FieldpackError.self) {
      try await service.signIn(user: "me", password: "word")
    }
    #expect(error?.code == .unavailable)
  }

  @Test func `it is a service of the graph`() async throws {
    let service = try Backend().service(.none)
    let graph = try ServiceGraph([service])
    #expect(await graph.startAll().isEmpty)
    #expect(await graph.status(.authentication) == .running)
    try await graph.pause(.authentication)
    await graph.stopAll()
    #expect(service.requires == [])
  }
}
