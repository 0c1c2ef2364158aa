import Fieldpack
import FieldpackCore
import FieldpackFieldTestSupport
import FieldpackGeometry
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

@Suite struct FormTransportTests {
  private static let edit = OutgoingEdit(
    id: "E1", store: "FORM_STORE", layer: "potholes", operation: .insert,
    feature: Feature(
      key: KeyTuple(store: "FORM_STORE", layer: "potholes", feature: 42),
      geometry: .point(x: 13.5, y: 52),
      attributes: ["name": "\"<&>\"", "depth": 2.5, "count": 3, "open": true, "note": nil]),
    time: Instant("2026-06-01T12:00:00Z"), author: "me", device: "D1", form: 7)

  private let time = TestClock(at: Instant("1994-11-06T08:49:00Z")!)

  private func transport(
    _ server: LoopbackServer, _ signedIn: any SignedIn = SignedInFake("hush")
  ) throws -> FormTransport {
    try FormTransport(
      RemoteConfig(uri: server.address + "/config"), signedIn: signedIn, clock: time.clock)
  }

  private static let taken = LoopbackServer.Reply.text(200, #"{"result":true,"error":null}"#)

  @Test func `a feature is sent with the token and what tells of its edit`() async throws {
    let server = try LoopbackServer { _ in Self.taken }
    let transport = try transport(server)
    #expect(await transport.send([Self.edit]).map(\.line) == ["accepted -"])
    let request = try #require(server.requests.first)
    #expect([request.method, request.target] == ["POST", "/api/form/7/submit"])
    #expect(request["Authorization"] == "Token hush")
    #expect(request["Content-Type"] == "application/json")
    #expect(
      String(decoding: request.body, as: UTF8.self)
        == #"{"type":"Feature","id":"42","properties":{"name":"\"<&>\"","depth":2.5,"count":3,"#
        + #""open":true,"note":null},"metadata":{"created_at":"2026-06-01 12:00:00 GMT","#
        + #""client":"D1","storeId":"FORM_STORE","layerId":"potholes","edit_id":"E1","#
        + #""author":"me"},"geometry":{"type":"Point","coordinates":[13.5,52]},"#
        + #""bbox":[13.5,52,13.5,52],"#
        + #""crs":{"type":"name","properties":{"name":"EPSG:4326"}}}"#)
  }

  private static let answers: [(Int, String, String)] = [
    (200, #"{"result":{"id":9,"name":"x"},"error":null}"#, "accepted 9"),
    (201, #"{"result":{"id":"nine"}}"#, "accepted nine"),
    (200, #"{"result":{"id":null},"error":null}"#, "accepted -"),
    (200, #"{"result":false,"error":null}"#, "refused constraint: 127.0.0.1 refuses the feature"),
    (
      200, #"{"result":null,"error":"too\n deep"}"#,
      "refused constraint: 127.0.0.1 refuses the feature: too deep"
    ),
    (
      200, #"{"result":true,"error":{"why":"hush"}}"#,
      "refused constraint: 127.0.0.1 refuses the feature"
    ),
    (
      200, #"{"result":null,"error":"not with hush"}"#,
      "refused constraint: 127.0.0.1 refuses the feature"
    ),
    (
      200, #"{"result":null,"error":null}"#,
      "later invalidData: 127.0.0.1 does not say what became of the feature"
    ),
    (
      200, "<html>Sign in to this network</html>",
      "later invalidData: 127.0.0.1 does not say what became of the feature"
    ),
    (200, "", "later invalidData: 127.0.0.1 does not say what became of the feature"),
    (
      200, #"{"result":"\#(String(repeating: "x", count: 70_000))"}"#,
      "later invalidData: 127.0.0.1 gives an answer that is too long"
    ),
    (400, "", "refused constraint: 127.0.0.1 refuses the feature with status 400"),
    (
      403, #"{"result":null,"error":"no"}"#,
      "refused constraint: 127.0.0.1 refuses the feature with status 403: no"
    ),
    (404, "", "refused constraint: 127.0.0.1 refuses the feature with status 404"),
    (409, "", "refused constraint: 127.0.0.1 refuses the feature with status 409"),
    (422, "[]", "refused constraint: 127.0.0.1 refuses the feature with status 422"),
    (408, "", "later unavailable: 127.0.0.1: the server answers with status 408"),
    (429, "", "later unavailable: 127.0.0.1: the server answers with status 429"),
    (500, "hush", "later unavailable: 127.0.0.1: the server answers with status 500"),
    (503, "", "later unavailable: 127.0.0.1: the server answers with status 503"),
    (304, "", "later invalidData: 127.0.0.1: the server answers with status 304"),
  ]

  @Test(arguments: answers)
  func `each answer says what becomes of the edit`(
    status: Int, body: String, line: String
  ) async throws {
    let server = try LoopbackServer { _ in .text(status, body) }
    let answers = try await transport(server).send([Self.edit])
    #expect(answers.map(\.line) == [line])
    let location = answers.first?.error?.location
    #expect(
      location == nil || location == .init(store: "FORM_STORE", layer: "potholes", feature: 42))
  }

  @Test func `after an edit that has to wait no other one is sent`() async throws {
    let count = Locked(0)
    let server = try LoopbackServer { _ in
      let number = count.withLock { count in
        count += 1
        return count
      }
      return [.text(400, ""), Self.taken, .text(503, ""), Self.taken][min(number, 4) - 1]
    }
    let client = try HTTPClient()
    let transport = try FormTransport(
      RemoteConfig(uri: server.address), signedIn: SignedInFake(nil), client: client)
    let edits = (1...4).map { number in
      var edit = Self.edit
      edit.id = "E\(number)"
      return edit
    }
    let answers = await transport.send(edits).map { $0.line.prefix { $0 != " " } }
    #expect(answers == ["refused", "accepted", "later"])
    #expect(server.requests.allSatisfy { $0["Authorization"] == nil })
    // Sent again, an edit has the id that it had.
    let again = await transport.send([edits[2]])
    #expect(again.map(\.line) == ["accepted -"])
    let ids = server.requests.map { request in
      String(decoding: request.body, as: UTF8.self).firstMatch(of: #/"edit_id":"(E.)"/#)?.output.1
    }
    #expect(ids.first == "E1" && ids.last == "E3" && Set(ids) == ["E1", "E2", "E3"])
  }

  @Test func `a server tells how long it wants to be left alone`() async throws {
    for (text, pause) in [
      ("120", Duration.seconds(120)), ("Sun, 06 Nov 1994 08:49:37 GMT", .seconds(37)),
    ] {
      let server = try LoopbackServer { _ in .text(503, "", fields: [["Retry-After", text]]) }
      let answers = try await transport(server).send([Self.edit])
      #expect(answers.first?.error?.askedPause == pause)
    }
  }

  @Test func `a token that is refused is renewed once`() async throws {
    let server = try LoopbackServer { request in
      request["Authorization"] == "Token second" ? Self.taken : .text(401, "")
    }
    let renewed = try await transport(server, SignedInFake("first", "second", "third"))
      .send([Self.edit, Self.edit])
    #expect(renewed.map(\.line) == ["accepted -", "accepted -"])
    #expect(
      server.requests.map { $0["Authorization"] }
        == ["Token first", "Token second", "Token second"])
    let refused = try await transport(server, SignedInFake("a", "b", "c")).send([Self.edit])
    #expect(
      refused.map(\.line) == ["later permission: 127.0.0.1: the server answers with status 401"])
    let alone = try await transport(server, SignedInFake("a")).send([Self.edit])
    #expect(alone.map(\.line) == ["later permission: there is no other token"])
    #expect(server.requests.count == 6)
    let none = try await transport(
      server, SignedInFake(failure: FieldpackError(.permission, "nobody is signed in"))
    ).send([Self.edit])
    #expect(none.map(\.line) == ["later permission: nobody is signed in"])
    #expect(server.requests.count == 6)
  }

  @Test func `the token of who is signed in is sent, and no other server gets it`() async throws {
    let other = try LoopbackServer { _ in Self.taken }
    let backend = try Backend(Backend.token("a.b.c"))
    let service = try await backend.signedIn()
    backend.answer(.text(307, "", fields: [["Location", other.address + "/api/form/7/submit"]]))
    let transport = try FormTransport(backend.remote(), signedIn: service)
    #expect(
      await transport.send([Self.edit]).map(\.line)
        == ["later invalidData: 127.0.0.1 leads elsewhere, and is not followed there"])
    #expect(backend.server.requests.last?["Authorization"] == "Token a.b.c")
    // A page that the server leads to is no acknowledgement.
    backend.answer(.text(302, "", fields: [["Location", "/welcome"]]), Self.taken)
    #expect(
      await transport.send([Self.edit]).map(\.line)
        == ["later invalidData: 127.0.0.1 does not say what became of the feature"])
    #expect(other.requests.isEmpty)
  }

  @Test func `changes, and layers without a form, are refused and not sent`() async throws {
    let server = try LoopbackServer { _ in Self.taken }
    var (update, deletion, plain, broken) = (Self.edit, Self.edit, Self.edit, Self.edit)
    (update.operation, deletion.operation, plain.form) = (.update, .delete, nil)
    broken.feature.geometry = .point(x: .infinity, y: 1)
    let answers = try await transport(server).send([update, deletion, plain, broken, Self.edit])
    let refusal = "refused unsupported: 127.0.0.1 takes new features of forms only"
    #expect(answers.prefix(3).map(\.line) == [refusal, refusal, refusal])
    #expect(answers[3].line.hasPrefix("refused invalidData: "))
    #expect(answers[4].line == "accepted -" && server.requests.count == 1)
  }

  @Test func `features go to no other machine without encryption`() throws {
    let remote = RemoteConfig(uri: "http://192.0.2.1")
    let error = #expect(throws: FieldpackError.self) {
      try FormTransport(remote, signedIn: SignedInFake())
    }
    #expect(error?.code == .permission && error?.advice == .allowUnencrypted)
    _ = try FormTransport(remote, signedIn: SignedInFake(), allowsUnencrypted: true)
    _ = try FormTransport(RemoteConfig(uri: "https://a.invalid"), signedIn: SignedInFake())
  }
}
