#if Server
  import Fieldpack
  import FieldpackCore
  import FieldpackField
  import FieldpackHTTP
  import FieldpackServices
  import FieldpackTestSupport
  import Foundation
  import Testing

  @testable import FieldpackServer

  @Suite struct OldServerTests {
    private static let now = Instant("2026-06-01T12:00:00Z")!

    @Test func `our own client signs in, and its submissions are kept once`() async throws {
      let server = try await AppServer()
      let remote = RemoteConfig(uri: server.address)
      let authentication = AuthenticationService(remote, folder: server.folder.file("tokens").path)
      try await authentication.signIn(user: "me@example.org", password: "word")
      #expect(await authentication.status == .authenticated)
      let expiry = try #require(await authentication.expiry)
      #expect(expiry > Instant.now.advanced(by: .seconds(13 * 86_400)))
      let transport = try FormTransport(remote, signedIn: authentication)
      let edit = OutgoingEdit(
        id: "E1", store: FormStore.id, layer: "potholes", operation: .insert,
        feature: Feature(geometry: .point(x: 13.5, y: 52), attributes: ["severity": "deep"]),
        time: Self.now, author: "me", device: "D2", form: 7)
      var bad = edit
      bad.id = "E2"
      bad.feature.attributes = ["colour": "red"]
      let answers = await transport.send([edit, edit, bad])
      #expect(
        answers.map(Self.line) == [
          "accepted 1", "accepted 1",
          "refused: 127.0.0.1 refuses the feature with status 422: the submission to form "
            + "'potholes' is refused: severity: value is required; colour: the form has no such field",
        ])
      let token = try #require(try await authentication.token())
      let results = try await server.ask(
        "/api/forms/potholes/results/1", fields: ["Authorization": "Token \(token)"])
      let features = try results.json["result"]?["features"]
      guard case .array(let list)? = features else {
        throw FieldpackError(.invalidData, results.text)
      }
      #expect(list.count == 1)
      #expect(list.first?["properties"] == ["severity": "deep"])
      await server.close()
    }

    private static func line(_ answer: EditAnswer) -> String {
      switch answer {
      case .accepted(let id): "accepted \(id ?? "-")"
      case .refused(let error): "refused: \(error.message)"
      case .later(let error): "later: \(error.message)"
      }
    }

    /// Requests in turn, and what is answered.
    private static let requests: [(method: String, path: String, body: String?, answer: String)] = [
      ("GET", "ping", nil, #"200 {"result":"pong","error":null}"#),
      (
        "GET", "stores", nil,
        #"200 {"result":[{"id":"field","name":"Field","store_type":"gpkg","version":"1","#
          + #""uri":"field.gpkg"}],"error":null}"#
      ),
      (
        "GET", "stores/none", nil,
        #"404 {"result":null,"error":"No store found for id none"}"#
      ),
      (
        "POST", "stores", #"{"id":"b","store_type":"gpkg","version":"1","uri":"field.gpkg"}"#,
        #"200 {"result":{"id":"b","store_type":"gpkg","version":"1","uri":"field.gpkg"},"error":null}"#
      ),
      (
        "PUT", "stores/b", #"{"store_type":"gpkg","version":"1","uri":"field.gpkg","name":"B"}"#,
        #"200 {"result":{"store_type":"gpkg","version":"1","uri":"field.gpkg","name":"B","id":"b"},"error":null}"#
      ),
      (
        "GET", "stores/b", nil,
        #"200 {"result":{"store_type":"gpkg","version":"1","uri":"field.gpkg","name":"B","id":"b"},"error":null}"#
      ),
      ("DELETE", "stores/b", nil, #"200 {"result":"success","error":null}"#),
      (
        "DELETE", "stores/b", nil, #"400 {"result":null,"error":"no config has a store 'b'"}"#
      ),
      ("POST", "stores", "x", #"400 {"result":null,"error":"The body is no JSON."}"#),
      (
        "GET", "forms/potholes", nil,
        #"200 {"result":{"id":7,"form_key":"potholes","form_label":"Potholes","version":1,"#
          + #""fields":[{"field_key":"severity","field_label":"Severity","type":"string","#
          + #""position":0,"is_required":true,"constraints":{}}]},"error":null}"#
      ),
      (
        "POST", "forms",
        #"{"id":8,"form_key":"visit","form_label":"V","fields":[{"id":1,"field_key":"k","#
          + #""field_label":"K","type":"string"}]}"#,
        #"200 {"result":{"id":8,"form_key":"visit","form_label":"V","fields":[{"id":1,"#
          + #""field_key":"k","field_label":"K","type":"string"}],"version":1},"error":null}"#
      ),
      (
        "PUT", "forms/visit",
        #"{"id":8,"form_label":"W","version":2,"fields":[{"id":1,"field_key":"k","#
          + #""field_label":"K","type":"string"}]}"#,
        #"200 {"result":{"id":8,"form_label":"W","version":2,"fields":[{"id":1,"#
          + #""field_key":"k","field_label":"K","type":"string"}],"form_key":"visit"},"error":null}"#
      ),
      (
        "PUT", "forms/none", #"{"id":9}"#,
        #"400 {"result":null,"error":"no config has a form 'none'"}"#
      ),
      (
        "GET", "form/8/sample", nil,
        #"200 {"result":{"form_key":"visit","form_id":8,"feature":{"type":"Feature","#
          + #""id":"sample","properties":{"k":null},"geometry":null}},"error":null}"#
      ),
      (
        "POST", "form/8/submit",
        #"{"form_id":8,"feature":{"type":"Feature","id":"x","properties":{"k":"v"},"geometry":null}}"#,
        #"200 {"result":{"id":"1"},"error":null}"#
      ),
      ("DELETE", "forms/visit", nil, #"200 {"result":"success","error":null}"#),
      (
        "POST", "form/8/submit", "{}",
        #"404 {"result":null,"error":"No form found for form-id 8"}"#
      ),
      (
        "GET", "devices", nil,
        #"200 {"result":[{"identifier":"D1","device_info":{"os":"linux"},"name":"mobile:"}],"error":null}"#
      ),
      (
        "GET", "devices/D1", nil,
        #"200 {"result":{"identifier":"D1","device_info":{"os":"linux"},"name":"mobile:"},"error":null}"#
      ),
      ("GET", "devices/D2", nil, #"404 {"result":null,"error":"No device found"}"#),
      (
        "GET", "locations", nil,
        #"200 {"result":{"type":"FeatureCollection","features":[]},"error":null}"#
      ),
      ("GET", "notifications", nil, #"200 {"result":[],"error":null}"#),
      ("GET", "teams", nil, #"200 {"result":[],"error":null}"#),
      ("GET", "none", nil, #"404 {"result":null,"error":"There is no such address."}"#),
    ]

    @Test func `each address answers as the old server did`() async throws {
      let server = try await AppServer()
      let signedIn = try await server.ask(
        "/api/authenticate", "POST", body: #"{"email":"me","password":"word"}"#)
      let token = try #require(try signedIn.json["result"]?["token"]?.string)
      for (method, path, body, expected) in Self.requests {
        let answer = try await server.ask(
          "/api/" + path, method, fields: ["Authorization": "Token \(token)"], body: body)
        #expect("\(answer.status) \(answer.text)" == expected, "\(method) \(path)")
      }
      let config = try await server.ask(
        "/api/config", fields: ["Authorization": "Token \(token)"])
      #expect(
        try config.json["result"]?["stores"]
          == .array([
            [
              "id": "field", "name": "Field", "store_type": "gpkg", "version": "1",
              "uri": "field.gpkg",
            ]
          ]))
      // The document of OGC API Features is where it was.
      #expect(try await server.ask("/api").json["openapi"] == "3.0.3")
      await server.close()
    }

    @Test func `nothing is told without a token that was given here`() async throws {
      let server = try await AppServer(isWritable: false)
      let refused = #"{"result":null,"error":"Request failed auth check."}"#
      let other = OldTokens().token(for: "me", at: .now)
      for field in ["", "Token", "Token x", "Token a.b.c", "Token \(other)", "Basic bTp3"] {
        for path in ["config", "stores", "forms", "devices", "locations", "form/7/submit"] {
          let answer = try await server.ask("/api/" + path, fields: ["Authorization": field])
          #expect("\(answer.status) \(answer.text)" == "401 " + refused, "\(field) \(path)")
        }
      }
      let none = try await server.ask(
        "/api/authenticate", "POST", body: #"{"email":"","password":""}"#)
      #expect(
        "\(none.status) \(none.text)" == #"401 {"result":null,"error":"Authentication failed"}"#)
      let signedIn = try await server.ask(
        "/api/authenticate", "POST", body: #"{"email":"me","password":"word"}"#)
      let token = try #require(try signedIn.json["result"]?["token"]?.string)
      let write = try await server.ask(
        "/api/stores", "POST", fields: ["Authorization": "Token \(token)"], body: "{}")
      #expect(
        "\(write.status) \(write.text)" == #"403 {"result":null,"error":"This server only reads."}"#
      )
      let elsewhere = try await server.ask(
        "/api/authenticate", "POST", fields: ["Origin": "https://evil.example"],
        body: #"{"email":"me","password":"word"}"#)
      #expect(elsewhere.status == 403)
      await server.close()
    }

    @Test func `a token is what the standard says, and holds for two weeks`() throws {
      let tokens = OldTokens()
      let token = tokens.token(for: "m\u{e4}@x", at: Self.now)
      let parts = token.split(separator: ".")
      #expect(token.utf8.allSatisfy { $0 > 0x2C && $0 < 0x7F } && !token.contains("="))
      let claims = try #require(Base64.decode(parts[1].utf8))
      #expect(
        String(decoding: claims, as: UTF8.self)
          == "{\"user\":{\"email\":\"m\u{e4}@x\"},\"iat\":1780315200,\"exp\":1781524800}")
      #expect(tokens.user(of: token, at: Self.now) == "m\u{e4}@x")
      #expect(tokens.user(of: token, at: Self.now.advanced(by: .seconds(14 * 86_400 - 1))) != nil)
      #expect(tokens.user(of: token, at: Self.now.advanced(by: .seconds(14 * 86_400))) == nil)
      let forged = Base64.encode(#"{"alg":"none"}"#.utf8) + "." + parts[1] + "."
      #expect(tokens.user(of: forged, at: Self.now) == nil)
      #expect(tokens.user(of: String(token.dropLast(2)) + "AA", at: Self.now) == nil)
    }
  }
#endif
