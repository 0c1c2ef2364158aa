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

  @Test func `a uri that was edited means another file`() async throws {
    _ = try await survey.run("fetch", "far.scfg")
    _ = try survey.folder.write(
      config.replacing("/wells.geojson?", with: "/wells-2.geojson?"), to: "far.scfg")
    let info = try await survey.run("info", "far.scfg", "--store", "far", "--json")
    #expect(info.output.contains(#""state":"not_downloaded""#))
    #expect(info.output.contains(#""downloaded_bytes":null"#))
    let query = try await survey.run("query", "far.scfg", "--store", "far", "--count")
    #expect(query.status == 69 && query.output == "")
    let fetch = try await survey.run("fetch", "far.scfg")
    #expect(fetch.output == "far: downloaded (far.stores/far.geojson, \(size) B)\n")
    #expect(
      server.requests.map(\.target) == [
        "/wells.geojson?token=secret", "/wells-2.geojson?token=secret",
      ])
    let after = try await survey.run("info", "far.scfg", "--store", "far")
    #expect(after.output.hasPrefix("far: open (geojson.1, \(server.address)/wells-2.geojson, "))
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

  @Test func `a disk that is full is told, and leaves nothing`() async throws {
    let large = try LoopbackServer { _ in
      .text(
        200, SurveyFolder.wells + String(repeating: " ", count: 1 << 20),
        fields: [["ETag", "\"a\""]])
    }
    let text = #"{"stores":[{"id":"a","store_type":"geojson","uri":"\#(large.address)/a"}]}"#
    _ = try survey.folder.write(text, to: "large.scfg")
    let script = #"ulimit -f 500; "$0" fetch large.scfg"#
    let result = try await Program.run(
      "bash", ["-c", script, Tool.path], folder: survey.folder.url)
    #expect(
      result.output == """
        a: failed
          \(survey.folder.file("large.stores/a.geojson").path): the disk is full; the file was not \
        stored

        """)
    #expect(result.status == 74)
    let left = try? FileManager.default.contentsOfDirectory(
      atPath: survey.folder.file("large.stores").path)
    #expect(left ?? [] == [])
  }

  /// 8 MB, or as many as `FIELDPACK_DOWNLOAD_MB` says.
  @Test func `a large file needs little memory`() async throws {
    let megabytes =
      ProcessInfo.processInfo.environment["FIELDPACK_DOWNLOAD_MB"].flatMap { Int($0) } ?? 8
    _ = try await survey.run("import", "wells.geojson", "--into", "small.gpkg")
    // SQLite looks at no byte behind the pages that the head of the file counts.
    let begin = Array(try Data(contentsOf: survey.folder.file("small.gpkg")))
    let piece = [UInt8](repeating: 0, count: 1 << 20)
    let length = begin.count + piece.count * megabytes
    let large = try LoopbackServer { _ in
      .pieces(length: length) { number in
        switch number {
        case 0: begin
        case 1...megabytes: piece
        default: nil
        }
      }
    }
    let text = #"{"stores":[{"id":"a","store_type":"gpkg","uri":"\#(large.address)/a"}]}"#
    _ = try survey.folder.write(text, to: "large.scfg")
    let peak = Locked(0)
    let program = try Tool.start(["fetch", "large.scfg"], folder: survey.folder.url)
    try? await program.wait(for: "its end") {
      let status = try? String(contentsOfFile: "/proc/\(program.processID)/status", encoding: .utf8)
      let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
      let kilobytes = line?.split(separator: " ").dropLast().last.flatMap { Int($0) }
      peak.withLock { $0 = max($0, kilobytes ?? 0) }
      return false
    }
    let result = try await program.result()
    #expect(result.output.hasPrefix("a: downloaded (large.stores/a.gpkg, "))
    #expect(FileSystem.size(survey.folder.file("large.stores/a.gpkg").path) == length)
    #expect(peak.withLock { $0 } < 65_536)
  }
}
