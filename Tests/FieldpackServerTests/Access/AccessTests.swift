import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServer

#if Server
  /// Who may do what, as clients see it.
  @Suite struct AccessTests {
    /// A server with a token for each list of rights.
    private func server(
      _ rights: String..., others: [LayerID] = ["roads", "bio_pulse"], isWritable: Bool = true,
      configure: (inout FieldServer.Options) -> Void = { _ in }
    ) async throws -> (TestServer, [String]) {
      var texts: [String] = []
      let server = try await TestServer(isWritable: isWritable, others: others) { options, folder in
        let tokens = AccessTokens(folder.file("tokens.json").path)
        for (index, words) in rights.enumerated() {
          let rights = try words.split(separator: " ").map { try AccessRight(String($0)) }
          texts.append(try tokens.add("\(index)", rights))
        }
        options.tokens = tokens
        configure(&options)
      }
      return (server, texts)
    }

    private func bearer(_ token: String) -> HTTPFields { ["Authorization": "Bearer \(token)"] }

    private func collections(_ server: TestServer, _ token: String) async throws -> [String] {
      let answer = try await server.get("/collections", fields: bearer(token))
      guard case .array(let items)? = try answer.json["collections"] else { return [] }
      return items.compactMap { $0["id"]?.string }
    }

    @Test func `without a token nothing is answered`() async throws {
      let (server, tokens) = try await server("read")
      for path in ["/", "/api", "/collections/wells/items", "/sync/layers", "/nothing"] {
        let answer = try await server.get(path)
        #expect(answer.status == 401, "\(path)")
        #expect(
          answer.fields.values(of: "WWW-Authenticate") == [
            #"Bearer realm="fieldpack""#, #"Basic realm="fieldpack", charset="UTF-8""#,
          ])
      }
      let basic = Base64.encode(Array("anybody:\(tokens[0])".utf8))
      for value in ["Bearer \(tokens[0])", "bearer  \(tokens[0])", "Basic \(basic)"] {
        #expect(try await server.get("/", fields: ["Authorization": value]).status == 200)
      }
      for value in [
        "Bearer", "Bearer x", "Basic ?", "Basic \(Base64.encode(Array("x".utf8)))", tokens[0],
        "Digest \(tokens[0])", "Bearer \(tokens[0])x",
      ] {
        let answer = try await server.get("/", fields: ["Authorization": value])
        #expect(answer.status == 401, "\(value)")
      }
      await server.close()
    }

    @Test func `layers that a token may not read are not there`() async throws {
      let (server, tokens) = try await server("read:wells", "read", "read bio", "ingest")
      // One after the other, so that none gets what was kept for another.
      for _ in 0..<2 {
        #expect(try await collections(server, tokens[0]) == ["wells"])
        #expect(try await collections(server, tokens[1]) == ["wells", "roads"])
        #expect(try await collections(server, tokens[2]) == ["wells", "roads", "bio_pulse"])
        #expect(try await collections(server, tokens[3]) == [])
      }
      let paths = ["", "/items", "/items/1", "/schema", "/queryables"]
      for (layer, statuses) in [
        ("roads", [404, 200, 200, 404]), ("bio_pulse", [404, 404, 200, 404]),
      ] {
        for path in paths where path != "/items/1" {
          for (token, status) in zip(tokens, statuses) {
            let answer = try await server.get(
              "/collections/\(layer)\(path)", fields: bearer(token))
            #expect(answer.status == status, "\(layer)\(path) \(status)")
          }
        }
      }
      let api = try await server.get("/api", fields: bearer(tokens[0])).text
      #expect(!api.contains("bio_pulse") && !api.contains("roads"))
      await server.close()
    }

    @Test func `edits take the right to write the layer`() async throws {
      let (server, tokens) = try await server("read", "write:wells", "write:roads", "write")
      let path = "/sync/edits?layer=wells"
      let body = #"{"edits": []}"#
      let statuses = try await tokens.asyncMap { token in
        try await server.get(path, "POST", fields: self.bearer(token), body: body).status
      }
      // The layer is not logged, which only those learn who may write it.
      #expect(statuses == [403, 404, 403, 404])
      #expect(try await server.get(path, "POST", body: body).status == 401)
      await server.close()
    }

    /// OGC 20-002: `Allow` names the methods that are allowed in the context of the request.
    @Test func `OPTIONS names what this caller may do`() async throws {
      let (server, tokens) = try await server("read", "read write:roads", "read write:wells") {
        $0.isOpen = true
      }
      let callers = [[:]] + tokens.map { bearer($0) }
      for (path, methods) in [("items", ", POST"), ("items/1", ", PUT, PATCH, DELETE")] {
        let allowed = try await callers.asyncMap { fields in
          try await server.get("/collections/wells/\(path)", "OPTIONS", fields: fields)
            .fields["Allow"]
        }
        let read = "GET, HEAD, OPTIONS"
        #expect(allowed == [read, read, read, read + methods])
      }
      await server.close()
    }

    @Test func `without the word that allows it nobody writes`() async throws {
      let (server, tokens) = try await server("write", isWritable: false)
      let answer = try await server.get(
        "/sync/edits?layer=wells", "POST", fields: bearer(tokens[0]), body: "{}")
      #expect(answer.status == 403)
      await server.close()
    }

    @Test func `the layers to synchronise are those that a token reads`() async throws {
      let (server, tokens) = try await server("read:wells", "read", "read bio", "ingest")
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        for layer in ["wells", "roads", "bio_pulse"] as [LayerID] {
          _ = try writer.logEdits(of: layer)
        }
      }
      let names = try await tokens.asyncMap { token -> [String] in
        let answer = try await server.get("/sync/layers", fields: self.bearer(token))
        guard case .array(let layers)? = try answer.json["layers"] else { return [answer.text] }
        return layers.compactMap { $0["name"]?.string }
      }
      #expect(names == [["wells"], ["wells", "roads"], ["wells", "roads", "bio_pulse"], []])
      let edits = try await server.get("/sync/edits?layer=bio_pulse", fields: bearer(tokens[1]))
      #expect(edits.status == 403)
      await server.close()
    }

    @Test func `a server can be open for reading, and ask for a token to write`() async throws {
      let (server, tokens) = try await server("write") { $0.isOpen = true }
      #expect(try await server.get("/collections/wells/items").status == 200)
      #expect(try await server.get("/collections/bio_pulse/items").status == 404)
      let path = "/sync/edits?layer=wells"
      #expect(try await server.get(path, "POST", body: "{}").status == 401)
      #expect(
        try await server.get(path, "POST", fields: bearer(tokens[0]), body: #"{"edits":[]}"#)
          .status == 404)
      // A page of another site is not asked for one.
      let foreign = try await server.get(
        path, "POST", fields: ["Origin": "https://other.example"], body: "{}")
      #expect(foreign.status == 403)
      await server.close()
    }

    @Test func `a token that is revoked counts no longer`() async throws {
      let (server, tokens) = try await server("read", "read")
      #expect(try await server.get("/", fields: bearer(tokens[0])).status == 200)
      try AccessTokens(server.folder.file("tokens.json").path).revoke("0")
      #expect(try await server.get("/", fields: bearer(tokens[0])).status == 401)
      #expect(try await server.get("/", fields: bearer(tokens[1])).status == 200)
      await server.close()
    }

    @Test func `what tells of people is kept from others under each spelling`() async throws {
      let (server, tokens) = try await server(
        "read", "read bio", others: ["media", "conflict", "bio_pulse"])
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        _ = try writer.logEdits(of: "media")
      }
      #expect(try await collections(server, tokens[0]) == ["wells"])
      #expect(
        try await collections(server, tokens[1]) == ["wells", "media", "conflict", "bio_pulse"])
      for name in ["media", "MEDIA"] {
        let statuses = try await tokens.asyncMap { token in
          try await server.get("/sync/edits?layer=\(name)", fields: self.bearer(token)).status
        }
        #expect(statuses == [403, 200], "\(name)")
      }
      await server.close()
    }

    @Test func `events end with their token, and are of the layers that it reads`() async throws {
      let (server, tokens) = try await server("read", "read:wells")
      for layer in ["wells", "roads"] as [LayerID] {
        try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
          _ = try writer.logEdits(of: layer)
        }
      }
      let all = try await EventClient(server, "/events", token: tokens[0])
      let some = try await EventClient(server, "/events", token: tokens[1])
      try await all.begin()
      try await some.begin()
      try await server.store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
        try writer.create(Feature(geometry: nil, attributes: ["name": "a"]), in: "roads")
        try writer.update(1, in: "wells", set: ["name": "b"])
      }
      // In the order of the layers' logs, which is nobody's.
      #expect(try await Set(all.next(2).map(\.short)) == ["created 1", "updated 1"])
      #expect(try await some.next(1).map(\.short) == ["updated 1"])
      try AccessTokens(server.folder.file("tokens.json").path).revoke("0")
      try await server.set("c", of: 1)
      #expect(try await some.next(1).map(\.short) == ["updated 1"])
      #expect(try await all.next() == nil)
      await server.close()
    }

    @Test func `a server without its file of tokens does not start`() async throws {
      let error = await #expect(throws: FieldpackError.self) {
        _ = try await TestServer { options, folder in
          options.tokens = AccessTokens(folder.file("none.json").path)
        }
      }
      #expect(error?.code == .notFound)
    }

    // MARK: Pages of other sites

    @Test func `pages of allowed sites may ask, and no others`() async throws {
      let (server, tokens) = try await server("write") { $0.origins = ["https://map.example"] }
      let path = "/sync/edits?layer=wells"
      var asked: HTTPFields = [
        "Origin": "https://map.example", "Access-Control-Request-Method": "POST",
      ]
      let allowed = try await server.get(path, "OPTIONS", fields: asked)
      #expect(allowed.status == 204)
      #expect(allowed.fields["Access-Control-Allow-Origin"] == "https://map.example")
      #expect(allowed.fields["Access-Control-Allow-Headers"]?.contains("Authorization") == true)
      #expect(allowed.fields["Vary"] == "Origin")
      for origin in ["https://other.example", "null", "https://map.example.evil", "*"] {
        asked["Origin"] = origin
        let refused = try await server.get(path, "OPTIONS", fields: asked)
        #expect(!refused.fields.fields.contains { $0.name.hasPrefix("Access-Control") })
        var fields = bearer(tokens[0])
        fields["Origin"] = origin
        #expect(try await server.get(path, "POST", fields: fields, body: "{}").status == 403)
      }
      var fields = bearer(tokens[0])
      fields["Origin"] = "https://map.example"
      let answer = try await server.get(path, "POST", fields: fields, body: #"{"edits":[]}"#)
      #expect(answer.status == 404)
      #expect(answer.fields["Access-Control-Allow-Origin"] == "https://map.example")
      // A cookie is no part of it.
      #expect(answer.fields["Access-Control-Allow-Credentials"] == nil)
      await server.close()
    }
  }

  extension Array {
    fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async throws -> [T] {
      var found: [T] = []
      for element in self { found.append(try await body(element)) }
      return found
    }
  }
#endif
