import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

/// `fieldpack fetch`, and what `fieldpack info` says before and after.
@Suite(.programs) struct FetchCommandTests {
  private let survey: SurveyFolder
  private let server: LoopbackServer
  private let config: String

  init() throws {
    survey = try SurveyFolder()
    server = try LoopbackServer { request in
      request.target.hasPrefix("/wells") ? .text(200, SurveyFolder.wells) : .text(404, "none")
    }
    config = """
      {"stores":[
        {"id":"far","store_type":"geojson","uri":"\(server.address)/wells.geojson?token=secret"},
        {"id":"sights","store_type":"geojson","uri":"sights.geojson"}]}
      """
    _ = try survey.folder.write(config, to: "far.scfg")
  }

  private var size: Int { SurveyFolder.wells.utf8.count }

  @Test func `a file is downloaded once, and info tells so`() async throws {
    let before = try await survey.run("info", "far.scfg", "--store", "far")
    let uri = "\(server.address)/wells.geojson"
    #expect(
      before.output == """
        far: not downloaded (geojson.1, \(uri))
          Try: fieldpack fetch far.scfg

        """)
    let first = try await survey.run("fetch", "far.scfg")
    #expect(
      first.output
        == "far: downloaded (far.stores/far.geojson, \(size) B)\n")
    #expect([first.error, "\(first.status)"] == ["", "0"])
    let second = try await survey.run("fetch", "far.scfg", "--json")
    #expect(
      second.output
        == #"{"source":"far.scfg","stores":[{"store":"far","uri":"\#(uri)","#
        + #""state":"already_there","output":"far.stores/far.geojson","#
        + #""size_bytes":\#(size),"error":null}]}"# + "\n")
    #expect(server.requests.count == 1)
    let after = try await survey.run("info", "far.scfg", "--store", "far")
    #expect(after.output.hasPrefix("far: open (geojson.1, \(uri), downloaded: \(size) B)\n"))
    let again = try await survey.run("fetch", "far.scfg", "--again", "--store", "far")
    #expect(again.output == first.output)
    #expect(server.requests.count == 2)
  }

  @Test func `what fails stops no other`() async throws {
    let stores = config.replacing(
      "{\"id\":\"sights\"",
      with:
        "{\"id\":\"no\",\"store_type\":\"gpkg\",\"uri\":\"\(server.address)/no\"},{\"id\":\"sights\""
    )
    _ = try survey.folder.write(stores, to: "far.scfg")
    let some = try await survey.run("fetch", "far.scfg", "--store-folder", "kept")
    #expect(some.status == 2)
    #expect(
      some.output == """
        far: downloaded (kept/far.geojson, \(size) B)
        no: failed
          \(server.address)/no: the server answers with status 404

        """)
    let none = try await survey.run("fetch", "far.scfg", "--store", "no")
    #expect(none.status == 66)
    #expect(try survey.names.contains("far.stores") == false)
    let query = try await survey.run(
      "query", "far.scfg", "--store", "far", "--count", "--store-folder", "kept")
    #expect(query.output.contains("2"))
  }

  @Test func `a store without a file is refused, and so is an unknown one`() async throws {
    let local = try await survey.run("fetch", "far.scfg", "--store", "sights")
    #expect(local.output == "sights: failed\n  store 'sights' has no file to download\n")
    #expect(local.status == 1)
    let unknown = try await survey.run("fetch", "far.scfg", "--store", "x")
    #expect(unknown.error == "fieldpack: far.scfg has no store 'x' (it has: far, sights)\n")
    let nothing = try await survey.run("fetch", "survey.scfg")
    #expect([nothing.output, "\(nothing.status)"] == ["no store has a file to download\n", "0"])
    #expect(server.requests.isEmpty)
  }

  @Test func `a download that is interrupted leaves nothing`() async throws {
    let silent = try LoopbackServer { _ in .silence }
    let text = #"{"stores":[{"id":"a","store_type":"gpkg","uri":"\#(silent.address)/a"}]}"#
    _ = try survey.folder.write(text, to: "silent.scfg")
    let result = try await interrupted(["fetch", "silent.scfg"], in: survey.folder.url)
    #expect([result.error, "\(result.status)"] == ["fieldpack: interrupted\n", "130"])
    #expect(result.output == "")
    let left = try? FileManager.default.contentsOfDirectory(
      atPath: survey.folder.file("silent.stores").path)
    #expect(left ?? [] == [])
  }
}
