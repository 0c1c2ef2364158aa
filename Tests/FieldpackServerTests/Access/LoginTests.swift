import FieldpackCore
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Signing in with a browser.
  @Suite struct LoginTests {
    private func server(
      publicURL: String? = nil
    ) async throws -> (server: TestServer, token: String) {
      var text = ""
      let server = try await TestServer(publicURL: publicURL) { options, folder in
        let tokens = AccessTokens(folder.file("tokens.json").path)
        text = try tokens.add("browser", [.read(nil)])
        options.tokens = tokens
      }
      return (server, text)
    }

    private func signIn(
      _ server: TestServer, _ token: String, to: String = "", origin: String? = nil
    ) async throws -> TestServer.Answer {
      var fields: HTTPFields = ["Content-Type": "application/x-www-form-urlencoded"]
      fields["Origin"] = origin
      let body = "to=\(PercentText.encode(to))&token=\(PercentText.encode(token))"
      return try await server.raw("POST", "/login", fields: fields, body: body)
    }

    private func session(_ answer: TestServer.Answer) throws -> HTTPFields {
      let cookie = try #require(answer.fields["Set-Cookie"])
      return ["Cookie": "other=1; " + cookie.prefix { $0 != ";" }]
    }

    @Test func `a browser signs in, reads, and signs out`() async throws {
      let (server, token) = try await server()
      let page = try await server.get("/collections/wells", fields: ["Accept": "text/html"])
      #expect(page.status == 401)
      #expect(page.fields["WWW-Authenticate"] == #"Bearer realm="fieldpack""#)
      let target = server.address + "/collections/wells"
      #expect(page.text.contains(#"name="to" value="\#(target)""#))
      let answer = try await signIn(server, token + "\n", to: target, origin: server.address)
      #expect(answer.status == 303)
      #expect(answer.fields["Location"] == target)
      let cookie = try #require(answer.fields["Set-Cookie"])
      #expect(cookie.hasSuffix("; Path=/; Max-Age=43200; HttpOnly; SameSite=Strict"))
      #expect(!cookie.contains(token))
      let fields = try session(answer)
      let read = try await server.get("/collections/wells", fields: fields)
      #expect(read.status == 200)
      #expect(read.fields["Cache-Control"] == "private, no-cache")
      let out = try await server.raw("POST", "/logout", fields: fields)
      #expect(out.status == 303)
      #expect(out.fields["Set-Cookie"]?.contains("Max-Age=0") == true)
      #expect(try await server.get("/collections/wells", fields: fields).status == 401)
      await server.close()
    }

    @Test func `a session ends with its token`() async throws {
      let (server, token) = try await server()
      let fields = try session(try await signIn(server, token))
      #expect(try await server.get("/", fields: fields).status == 200)
      try AccessTokens(server.folder.file("tokens.json").path).revoke("browser")
      #expect(try await server.get("/", fields: fields).status == 401)
      await server.close()
    }

    @Test func `pages of other sites sign nobody in`() async throws {
      let (server, token) = try await server()
      for origin in ["https://other.example", "null", server.address + ".example"] {
        let answer = try await signIn(server, token, origin: origin)
        #expect(answer.status == 403)
        #expect(answer.fields["Set-Cookie"] == nil)
      }
      let foreign = try await server.raw(
        "POST", "/login", fields: ["Sec-Fetch-Site": "cross-site"], body: "token=\(token)")
      #expect(foreign.status == 403)
      await server.close()
    }

    @Test(arguments: [
      "https://other.example/", "//other.example", "/\\other.example", "javascript:alert(1)",
      "x\r\ny",
      "HOST@other.example/", "HOST.example/", "HOST/../x", "HOST/\r\nSet-Cookie: a=b", "HOST//x",
    ])
    func `signing in leads nowhere else`(target: String) async throws {
      let (server, token) = try await server()
      let to = target.replacingOccurrences(of: "HOST", with: server.address)
      let answer = try await signIn(server, token, to: to)
      #expect(answer.status == 303)
      #expect(answer.fields["Location"] == server.address + "/")
      await server.close()
    }

    @Test func `what was sent is a text in the page`() async throws {
      let (server, _) = try await server()
      let target = #""><script>alert(1)</script>"#
      let answer = try await signIn(server, "wrong", to: target)
      #expect(answer.status == 401)
      #expect(!answer.text.contains("<script"))
      #expect(answer.text.contains("There is no such token."))
      #expect(
        answer.fields["Content-Security-Policy"]
          == "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'")
      #expect(try await signIn(server, String(repeating: "x", count: 5_000)).status == 413)
      await server.close()
    }

    @Test(arguments: ["https", "HTTPS"])
    func `behind a proxy cookies go by TLS alone`(scheme: String) async throws {
      let (server, token) = try await server(publicURL: "\(scheme)://fields.example/data")
      let page = try await server.get("/login", fields: ["Host": "fields.example"])
      #expect(page.text.contains(#"action="/data/login""#))
      let answer = try await server.raw(
        "POST", "/login", fields: ["Host": "fields.example", "Origin": "https://fields.example"],
        body: "token=\(token)")
      #expect(answer.fields["Location"] == "https://fields.example/data/")
      #expect(answer.fields["Set-Cookie"]?.hasSuffix("; SameSite=Strict; Secure") == true)
      await server.close()
    }

    // MARK: Too often

    private func gate(
      _ server: TestServer, perSecond: Int, isBehindProxy: Bool = false
    ) -> ServerGate {
      let router = ServerRouter(
        PublishedStore(server.store, .init(title: "field")) { .zero }, publicBase: nil, hosts: nil,
        logger: .silent)
      var rules = ServerGate.Rules()
      rules.tokens = AccessTokens(server.folder.file("tokens.json").path)
      rules.perSecond = perSecond
      rules.isBehindProxy = isBehindProxy
      return ServerGate(router, rules) { .zero }
    }

    private func admit(
      _ gate: ServerGate, _ fields: HTTPFields, from address: String = "192.0.2.1"
    ) -> Int {
      var head = ServerRequest("GET", [], fields: fields)
      return gate.admit(&head) { address }?.status ?? 200
    }

    @Test func `wrong tokens are few, and keep no right one waiting`() async throws {
      let (server, token) = try await server()
      let gate = gate(server, perSecond: 1_000)
      let wrong: HTTPFields = ["Host": "localhost", "Authorization": "Bearer wrong"]
      let right: HTTPFields = ["Host": "localhost", "Authorization": "Bearer \(token)"]
      let statuses = (0..<12).map { _ in admit(gate, wrong) }
      #expect(statuses == Array(repeating: 401, count: 10) + [429, 429])
      #expect(admit(gate, right) == 200)
      #expect(admit(gate, wrong, from: "192.0.2.2") == 401)
      // All addresses of a network of version 6 are one.
      for index in 0..<10 { _ = admit(gate, wrong, from: "2001:db8::\(index)") }
      #expect(admit(gate, wrong, from: "2001:db8::ffff") == 429)
      #expect(admit(gate, wrong, from: "2001:db8:0:1::1") == 401)
      var head = ServerRequest("GET", [], fields: wrong)
      #expect(gate.admit(&head) { "192.0.2.1" }?.fields["Retry-After"] == "11")
      await server.close()
    }

    @Test func `a token asks so often and no more`() async throws {
      let (server, token) = try await server()
      let gate = gate(server, perSecond: 2)
      let fields: HTTPFields = ["Host": "localhost", "Authorization": "Bearer \(token)"]
      let statuses = (0..<21).map { index in admit(gate, fields, from: "192.0.2.\(index)") }
      #expect(statuses == Array(repeating: 200, count: 20) + [429])
      await server.close()
    }

    @Test func `a proxy alone tells who asks`() async throws {
      let (server, _) = try await server()
      func count(_ isBehindProxy: Bool, _ name: String, _ value: (Int) -> String) -> Int {
        let gate = gate(server, perSecond: 1_000, isBehindProxy: isBehindProxy)
        return (0..<11).count { index in
          let fields: HTTPFields = ["Authorization": "Bearer wrong", name: value(index)]
          return admit(gate, fields) == 401
        }
      }
      #expect(count(false, "X-Forwarded-For") { "198.51.100.\($0)" } == 10)
      #expect(count(true, "X-Forwarded-For") { "198.51.100.\($0)" } == 11)
      // What the client itself has written stands first.
      #expect(count(true, "X-Forwarded-For") { "198.51.100.\($0), 203.0.113.1" } == 10)
      #expect(count(true, "Forwarded") { "for=\"[2001:db8:\($0)::1]:80\";proto=https" } == 11)
      #expect(count(true, "X-Forwarded-For") { "nobody \($0)" } == 10)
      await server.close()
    }
  }
#endif
