import Fieldpack
import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What must not be believed, and what must not be told.
@Suite struct SecretTests {
  private static let exchange = RemoteConfig.Authentication.exchange(clientID: "app")

  private static let wrong: [(RemoteConfig.Authentication, LoopbackServer.Reply, String)] = [
    (.server, .text(200, "<html>\(Backend.password)</html>"), "gives an answer that is no JSON"),
    (.server, .text(204, ""), "gives an answer that is no JSON"),
    (.server, .text(200, "[]"), "gives an answer without a 'result'"),
    (.server, .text(200, #"{"result":true,"error":null}"#), "gives no 'token' that is a token"),
    (.server, Backend.token(""), "gives no 'token' that is a token"),
    (.server, .text(200, #"{"result":{"token":7}}"#), "gives no 'token' that is a token"),
    (.server, Backend.token(#"a\r\nX-Evil: 1"#), "gives no 'token' that is a token"),
    (.server, Backend.token("a b"), "gives no 'token' that is a token"),
    (.server, Backend.token("\u{e4}"), "gives no 'token' that is a token"),
    (
      .server, Backend.token(String(repeating: "a", count: 20_000)),
      "gives no 'token' that is a token"
    ),
    (
      .server, Backend.token(String(repeating: "a", count: 1 << 16)),
      "gives an answer that is too long"
    ),
    (.server, .raw(Array("no HTTP \(Backend.password)".utf8)), "gives an answer that is not HTTP"),
    (
      .server, .text(307, "", fields: [["Location", "http://secret.invalid/"]]),
      "leads elsewhere, and is not followed there"
    ),
    (.server, .text(404, ""), ": the server answers with status 404"),
    (exchange, .text(200, "{}"), "gives no 'access_token' that is a token"),
    (exchange, .text(200, #"{"access_token":["a"]}"#), "gives no 'access_token' that is a token"),
    (
      exchange, .text(200, #"{"access_token":"a","token_type":"mac"}"#),
      "gives a 'token_type' other than Bearer"
    ),
    (
      exchange, .text(200, #"{"access_token":"a","refresh_token":7}"#),
      "gives no 'refresh_token' that is a token"
    ),
    (exchange, Backend.oauth("a", refresh: #"\n"#), "gives no 'refresh_token' that is a token"),
    (
      exchange, Backend.oauth("a", seconds: -1),
      "gives an 'expires_in' that is no number of seconds to come"
    ),
    (
      exchange, Backend.oauth("a", seconds: .max),
      "gives an 'expires_in' that is no number of seconds to come"
    ),
    (
      exchange, .text(200, #"{"access_token":"a","expires_in":1e999}"#),
      "gives an 'expires_in' that is no number of seconds to come"
    ),
    (
      exchange, .text(200, #"{"access_token":"a","expires_in":"3600"}"#),
      "gives an 'expires_in' that is no number of seconds to come"
    ),
    (exchange, .text(400, #"{"error":"invalid_grant"}"#), "refuses the user or the password"),
    (
      exchange, .text(400, #"{"error":"\#("secret")"}"#), ": the server answers with status 400"
    ),
  ]

  @Test(arguments: wrong.indices)
  func `an answer that is no token is an error that names the server alone`(
    index: Int
  ) async throws {
    let (method, reply, reason) = Self.wrong[index]
    let backend = try Backend(reply)
    let service = backend.service(method)
    let error = await #expect(throws: FieldpackError.self) {
      try await service.signIn(user: Backend.user, password: Backend.password)
    }
    #expect(error?.message == "127.0.0.1" + (reason.hasPrefix(":") ? "" : " ") + reason)
    #expect(backend.server.requests.count == 1 && backend.names == [])
    #expect(await service.user == nil)
  }

  @Test func `no description, reflection or error has a token or a password`() async throws {
    let backend = try Backend(Backend.oauth("hush1", refresh: "hush2", seconds: 36_000))
    let service = try await backend.signedIn(Self.exchange)
    var shown = ""
    dump(service, to: &shown)
    let kept = try #require(
      try TokenFile(
        of: BackendAddress(backend.remote(Self.exchange)), Self.exchange, in: backend.tokens.path
      ).load())
    dump(kept, to: &shown)
    shown += "\(kept) \(String(reflecting: kept)) \(String(reflecting: service))"
    #expect(kept.token.text == "hush1" && shown.contains("(hidden)"))
    #expect(!shown.contains("hush") && !shown.contains(Backend.password))
    // A server that says again what it was told; the last answer signs out.
    backend.time.advance(by: .seconds(36_000))
    for reply in [
      LoopbackServer.Reply.text(500, "hush2"),
      .text(302, "", fields: [["Location", "https://hush2.invalid/hush2"]]),
      .raw(Array("HTTP/1.1 2x0 hush2\r\nhush2\r\n\r\n".utf8)),
      .text(400, #"{"error":"hush2","error_description":"hush2"}"#), .text(401, "hush1 hush2"),
    ] {
      backend.answer(reply)
      let error = await #expect(throws: FieldpackError.self) { try await service.token() }
      var text = "\(String(describing: error)) "
      dump(error, to: &text)
      #expect(text.contains("127.0.0.1") && !text.contains("hush"), "\(text)")
    }
    #expect(await service.user == nil)
  }

  // MARK: The file

  @Test func `a file that somebody else may have read or written is not used`() async throws {
    let backend = try Backend(Backend.token("a.b.c"))
    _ = try await backend.signedIn()
    let path = backend.file.path
    func refusal() async -> String? {
      let service = backend.service()
      let error = await #expect(throws: FieldpackError.self) { try await service.start() }
      #expect(error?.code == .permission && error?.position?.file != nil)
      return error?.message
    }
    let ending = ", so the token in it is not used. Try: remove it, and sign in again"
    chmod(path, 0o640)
    #expect(await refusal() == "others may read \(path)" + ending)
    chmod(path, 0o600)
    chmod(backend.tokens.path, 0o777)
    #expect(await refusal() == "others may change what is in \(backend.tokens.path)" + ending)
    chmod(backend.tokens.path, 0o755)
    try await backend.service().start()
    try FileManager.default.moveItem(atPath: path, toPath: backend.folder.file("t").path)
    try FileManager.default.createSymbolicLink(
      atPath: path, withDestinationPath: backend.folder.file("t").path)
    #expect(await refusal() == "\(path) is a link" + ending)
    // To sign in replaces the link, not what it leads to.
    _ = try await backend.signedIn()
    try await backend.service().start()
    #expect(FileManager.default.fileExists(atPath: backend.folder.file("t").path))
    try FileManager.default.removeItem(atPath: path)
    let link = backend.folder.file("link")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: backend.tokens)
    let linked = AuthenticationService(backend.remote(), folder: link.path)
    let unkept = await #expect(throws: FieldpackError.self) {
      try await linked.signIn(user: "me", password: "word")
    }
    #expect(
      unkept?.message == "\(link.path) is no folder of this user, so no token is kept in it")
    #expect(backend.names == [])
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    #expect(await refusal() == "\(path) is no regular file" + ending)
  }

  @Test(.enabled(if: geteuid() == 0, "only root can give a file to another user"))
  func `a file of another user is not used`() async throws {
    let backend = try Backend(Backend.token("a.b.c"))
    _ = try await backend.signedIn()
    chown(backend.file.path, 1, 1)
    let service = backend.service()
    let error = await #expect(throws: FieldpackError.self) { try await service.start() }
    #expect(error?.message.hasPrefix("\(backend.file.path) belongs to another user") == true)
  }

  @Test(arguments: [
    "", "{}", #"{"user":"me","token":"a","received_at":"soon"}"#,
    #"{"user":"me","token":"a\nb","received_at":"2026-06-01T12:00:00Z"}"#,
    #"{"user":"me","token":"a","received_at":"2026-06-01T12:00:00Z","expires_at":"never"}"#,
    String(repeating: " ", count: 70_000),
  ])
  func `a file that holds something else is an error, and replaced by a sign-in`(
    text: String
  ) async throws {
    let backend = try Backend(Backend.token("a.b.c"))
    _ = try await backend.signedIn()
    let file = backend.file
    try Data(text.utf8).write(to: file)
    chmod(file.path, 0o600)
    let service = backend.service()
    let error = await #expect(throws: FieldpackError.self) { try await service.start() }
    #expect(error?.code == .invalidData)
    #expect(
      error?.message == "\(file.path) does not hold who is signed in. Try: remove it")
    _ = try await backend.signedIn()
    try await service.start()
    #expect(try await service.token() == "a.b.c")
  }
}
