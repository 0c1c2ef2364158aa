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
    @Test(arguments: [SIGINT, SIGTERM])
    func `it serves until it is interrupted, and leaves the file as it was`(
      signal: Int32
    ) async throws {
      let file = survey.folder.file("field.gpkg")
      let before = try Data(contentsOf: file)
      let program = try Program(
        Tool.path, ["serve", "field.gpkg", "--listen", "127.0.0.1:0"], folder: survey.folder.url)
      try program.block(for: "its address") { program.outputSoFar.hasSuffix("/\n") }
      let line = program.outputSoFar
      #expect(line.hasPrefix("serving field.gpkg at http://127.0.0.1:"))
      let address = String(line.dropFirst("serving field.gpkg at ".count).dropLast())
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
      try program.block(for: "its address") { program.outputSoFar.hasSuffix("/\n") }
      let address = String(
        program.outputSoFar.dropFirst("serving field.gpkg at ".count).dropLast())
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
        + "read 'field.gpkg'. Try: --open, where that is wanted\n")
    #expect(open.status == 64)
    let writable = try await survey.run(
      "serve", "field.gpkg", "--listen", "0.0.0.0:0", "--open", "--writable")
    #expect(writable.error.contains("--writable is for addresses of this machine alone"))
    #expect(writable.status == 64)
    let none = try await survey.run("serve", "field.gpkg", "--listen", "example.org:80")
    #expect(none.error.contains("is no address of this machine"))
    #expect(none.status == 64)
  }
}
