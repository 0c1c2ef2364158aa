import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

/// `fieldpack serve`.
@Suite(.programs) struct ServeCommandTests {
  private let survey: SurveyFolder

  init() async throws {
    survey = try SurveyFolder()
    _ = try await survey.run("import", "wells.geojson", "--into", "field.gpkg")
  }

  #if Server
    /// A database has nothing of what these options are for.
    @Test(arguments: [
      ["--sensors"], ["--camera", "/dev/video0"], ["--public-captures"], ["--config", "a.scfg"],
      ["--bundles", "apps"], ["--regions", "zones"], ["--distance", "5"], ["--allow-triggers"],
    ])
    func `options of files are refused for a store of a config`(options: [String]) async throws {
      _ = try survey.folder.write(#"{"stores": []}"#, to: "team.scfg")
      let run = try await Tool.run(["serve", "team.scfg:db"] + options, folder: survey.folder.url)
      #expect(run.status == 64)
      #expect(
        run.error.hasPrefix(
          "fieldpack: \(options[0]) is for GeoPackages alone, and team.scfg:db is a store of a config"
        ),
        "\(run.error)")
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func `it serves until it is interrupted, and leaves the file as it was`(
      signal: Int32
    ) async throws {
      let file = survey.folder.file("field.gpkg")
      let before = try Data(contentsOf: file)
      let program = try Program(
        Tool.path, ["serve", "field.gpkg", "--listen", "127.0.0.1:0"], folder: survey.folder.url)
      let address = try program.servedAddress()
      #expect(address.hasPrefix("http://127.0.0.1:"))
      #expect(program.outputSoFar == "serving field.gpkg at \(address)\nmap at \(address)map\n")
      let client = try HTTPClient()
      let answer = try await client.send(HTTPRequest(.get, address + "collections/wells/items/11"))
      #expect(answer.status == 200)
      #expect(String(decoding: answer.body, as: UTF8.self).contains(#""name":"Mitte""#))
      program.send(signal)
      let result = try await program.result()
      #expect([result.error, "\(result.status)"] == ["", "0"])
      #expect(try Data(contentsOf: file) == before)
      let left = try FileManager.default.contentsOfDirectory(atPath: survey.folder.url.path)
      #expect(left.filter { $0.hasPrefix("field.gpkg") } == ["field.gpkg"])
    }

    @Test func `it outlives a file that is cut short, and goes on when it is whole`() async throws {
      let file = survey.folder.file("field.gpkg")
      let whole = try Data(contentsOf: file)
      let program = try Program(
        Tool.path, ["serve", "field.gpkg", "--listen", "127.0.0.1:0"], folder: survey.folder.url)
      let request = HTTPRequest(.get, try program.servedAddress() + "collections/wells/items")
      let client = try HTTPClient()
      #if os(Linux)
        let maps = URL(filePath: "/proc/\(program.processID)/maps")
        let mapped = try FileHandle(forReadingFrom: maps).readToEnd() ?? Data()
        let lines = String(decoding: mapped, as: UTF8.self).split(separator: "\n")
        #expect(
          lines.contains { $0.hasSuffix("/field.gpkg") } == TemporaryFolder.areFilesMapped)
      #endif
      let writing = try FileHandle(forWritingTo: file)
      try writing.truncate(atOffset: 4096)
      #expect(try await client.send(request).status == 500)
      try writing.seek(toOffset: 0)
      try writing.write(contentsOf: whole)
      try writing.close()
      let answer = try await client.send(request)
      #expect(answer.status == 200)
      #expect(String(decoding: answer.body, as: UTF8.self).contains(#""name":"Mitte""#))
      program.send(SIGTERM)
      #expect(try await program.result().status == 0)
    }

    /// An imported file's ids are in a column of their own, and lead to no feature.
    @Test func `features have the ids of their addresses, and edits an author`() async throws {
      _ = try await survey.run("import", "sights.geojson", "--into", "field.gpkg")
      _ = try await survey.run("log", "enable", "field.gpkg:sights")
      let program = try Program(
        Tool.path,
        [
          "serve", "field.gpkg", "--writable", "--require-if-match", "--author", "Ada", "--listen",
          "127.0.0.1:0",
        ], folder: survey.folder.url)
      let address = try program.servedAddress()
      let client = try HTTPClient()
      let items = address + "collections/sights/items"
      let page = try await client.send(HTTPRequest(.get, items))
      let feature = #""id":1,"properties":{"id":"dom","name":"Dom","depth":3.5}"#
      #expect(String(decoding: page.body, as: UTF8.self).contains(feature))
      let item = try await client.send(HTTPRequest(.get, "\(items)/1"))
      #expect(String(decoding: item.body, as: UTF8.self).contains(feature))
      func patch(_ fields: HTTPFields) async throws -> Int {
        var fields = fields
        fields["Content-Type"] = "application/merge-patch+json"
        return try await client.send(
          HTTPRequest(
            .init(rawValue: "PATCH"), "\(items)/1", fields: fields,
            body: .bytes(Array(#"{"id":1,"properties":{"id":"dom","depth":4}}"#.utf8)))
        ).status
      }
      #expect(try await patch([:]) == 428)
      #expect(try await patch(["If-Match": item.fields["ETag"] ?? ""]) == 204)
      program.send(SIGTERM)
      #expect(try await program.result().status == 0)
      let log = try await survey.run(
        "sql", "field.gpkg", "SELECT id, depth, author FROM sights_audit WHERE audit_op > 0",
        "--format", "csv")
      #expect(log.output == "id,depth,author\r\ndom,4,Ada\r\n", "\(log)")
    }
  #else
    @Test func `a build without the trait says how to get it`() async throws {
      let result = try await survey.run("serve", "field.gpkg")
      #expect(result.error.contains("Try: install libmicrohttpd-dev"))
      #expect(result.status == 1)
    }
  #endif

  #if Server
    @Test func `a config brings the bridge and the bundles`() async throws {
      try FileManager.default.createDirectory(
        at: survey.folder.file("apps"), withIntermediateDirectories: true)
      let program = try Program(
        Tool.path,
        [
          "serve", "field.gpkg", "--config", "survey.scfg", "--bundles", "apps", "--listen",
          "127.0.0.1:0",
        ], folder: survey.folder.url)
      let address = try program.servedAddress()
      let client = try HTTPClient()
      let stores = try await client.send(
        HTTPRequest(
          .post, address + "bridge",
          body: .bytes(Array(#"{"type":101,"payload":{"storeId":"sights"}}"#.utf8))))
      #expect(String(decoding: stores.body, as: UTF8.self).contains(#""storeId":"sights""#))
      let bundles = try await client.send(HTTPRequest(.get, address + "bundles"))
      #expect(String(decoding: bundles.body, as: UTF8.self) == #"{"bundles":[]}"#)
      program.send(SIGTERM)
      #expect(try await program.result().status == 0)
    }
  #endif

  @Test func `cameras are for the page of an operator`() async throws {
    let without = try await survey.run("serve", "field.gpkg", "--camera", "/dev/video0")
    #expect(without.error.contains("Try: --sensors"))
    #expect(without.status == 64)
  }

  @Test func `apps need a config, and it stays on this machine`() async throws {
    let without = try await survey.run("serve", "field.gpkg", "--bundles", "apps")
    #expect(without.error.contains("Try: --config survey.scfg"))
    #expect(without.status == 64)
    let open = try await survey.run(
      "serve", "field.gpkg", "--config", "survey.scfg", "--open", "--listen", "0.0.0.0:0")
    #expect(open.error.contains("--config is for addresses of this machine alone"))
    #expect(open.status == 64)
    let none = try await survey.run(
      "serve", "field.gpkg", "--config", "survey.scfg", "--bundles", "none")
    #expect(none.error.contains("there is no folder none"))
    #expect(none.status == 66)
  }

  @Test func `other addresses need a word of their own`() async throws {
    let open = try await survey.run("serve", "field.gpkg", "--listen", "0.0.0.0:0")
    #expect(
      open.error
        == "fieldpack: 0.0.0.0 can be reached from other machines, and whoever reaches it could "
        + "read 'field.gpkg'. Try: --token-file, or --open where that is wanted\n")
    #expect(open.status == 64)
    let none = try await survey.run("serve", "field.gpkg", "--listen", "example.org:80")
    #expect(none.error.contains("is no address of this machine"))
    #expect(none.status == 64)
  }

  private static let refusals: [(options: String, reason: String)] = [
    ("--listen 0.0.0.0:0 --open --writable", "--writable beyond this machine needs --token-file"),
    ("--listen 0.0.0.0:0 --token-file t.json", "tokens go to other machines encrypted alone"),
    (
      "--listen 0.0.0.0:0 --token-file t.json --behind-proxy --public-url http://a.example",
      "tokens go to other machines encrypted alone"
    ),
    (
      "--listen 0.0.0.0:0 --token-file t.json --public-url https://a.example",
      "tokens go to other machines encrypted alone"
    ),
    ("--behind-proxy", "--behind-proxy needs --public-url"),
    ("--public-url https://a.example --writable", "--writable with a --public-url needs"),
    ("--public-url a.example", "no absolute address"),
    ("--tls-cert c.pem", "--tls-cert and --tls-key are given together"),
    ("--cors *", "'*' is no site"), ("--cors https://a.example/", "is no site"),
    ("--cors https://a.example:443", "is no site"), ("--cors null", "'null' is no site"),
  ]

  @Test(arguments: refusals)
  func `what would let in others is refused`(options: String, reason: String) async throws {
    let words = options.split(separator: " ").map(String.init)
    let result = try await survey.run(["serve", "field.gpkg"] + words)
    #expect(result.error.contains(reason), "\(result.error)")
    #expect(result.status == 64)
  }

  #if Server
    @Test func `a server without its files does not start`() async throws {
      let tokens = try await survey.run("serve", "field.gpkg", "--token-file", "none.json")
      #expect([tokens.status] == [66])
      let pair = try await survey.run(
        "serve", "field.gpkg", "--tls-cert", "wells.geojson", "--tls-key", "wells.geojson")
      #expect(pair.status == 77)
    }

    @Test func `a token that is made is taken, and one that is revoked is not`() async throws {
      let made = try await survey.run("token", "add", "t.json", "tablet", "--json")
      let token = try #require(made.output.firstMatch(of: #/"token":"(fp_[^"]+)"/#)?.output.1)
      let program = try Program(
        Tool.path,
        [
          "serve", "field.gpkg", "--listen", "127.0.0.1:0", "--token-file", "t.json", "--verbose",
          "--health", "127.0.0.1:0", "--json",
        ], folder: survey.folder.url)
      try program.block(for: "its address") { program.outputSoFar.hasSuffix("}\n") }
      let places = program.outputSoFar.matches(of: #/http:[^"]+/#).map { String($0.output) }
      #expect(places.count == 3)
      let client = try HTTPClient()
      let fields: HTTPFields = ["Authorization": "Bearer \(token)"]
      func status(_ fields: HTTPFields = [:]) async throws -> Int {
        try await client.send(HTTPRequest(.get, places[0] + "collections", fields: fields)).status
      }
      #expect([try await status(), try await status(fields)] == [401, 200])
      let revoked = try await survey.run("token", "revoke", "t.json", "tablet")
      #expect(revoked.output == "revoked tablet\n")
      #expect(try await status(fields) == 401)
      let ready = try await client.send(HTTPRequest(.get, places[2] + "readyz"))
      #expect(String(decoding: ready.body, as: UTF8.self) == "ready\n")
      program.send(SIGTERM)
      let result = try await program.result()
      #expect(result.status == 0)
      // Without the times.
      let lines = result.error.split(separator: "\n").map {
        $0.split(separator: " ").dropLast(2).joined(separator: " ")
      }
      #expect(
        lines == ["GET /collections 401", "GET /collections 200", "GET /collections 401"])
      #expect(!result.error.contains(token))
    }
  #endif
}
