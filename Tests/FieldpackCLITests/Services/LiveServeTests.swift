import FieldpackTestSupport
import Foundation
import Testing

/// What `fieldpack serve` tells while the file changes.
@Suite(.programs) struct LiveServeTests {
  private let survey: SurveyFolder

  init() async throws {
    survey = try SurveyFolder()
    _ = try await survey.run("import", "wells.geojson", "--into", "field.gpkg")
    _ = try await survey.run("log", "enable", "field.gpkg:wells")
  }

  #if Server
    private func serve(_ port: String) throws -> (program: Program, port: String) {
      let program = try Program(
        Tool.path, ["serve", "field.gpkg", "--listen", "127.0.0.1:\(port)"],
        folder: survey.folder.url)
      let port = try program.servedAddress().dropLast().split(separator: ":").last
      return (program, String(port ?? ""))
    }

    /// The names in events, and the last id.
    private func read(_ text: String) -> (names: [String], last: String?) {
      let lines = text.split(separator: "\n")
      let names = lines.filter { $0.hasPrefix("data: ") }.compactMap { line -> String? in
        let parts = line.split(separator: "\"")
        return parts.firstIndex(of: "name").map { String(parts[$0 + 2]) }
      }
      return (names, lines.last { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) })
    }

    /// A client that goes on by the id of its last event sees each edit once, however often the server is
    /// killed.
    @Test(.enabled(if: Programs.curl != nil, Comment(rawValue: Programs.noCurl)))
    func `clients lose nothing where the server is killed`() async throws {
      var (seen, made): ([String], [String]) = ([], [])
      var last: String?
      var port = "0"
      func edit() async throws {
        let name = "edit-\(made.count)"
        let result = try await survey.run(
          "update", "field.gpkg:wells", "11", "--set", "name=\(name)")
        #expect(result.status == 0, "\(result)")
        made.append(name)
      }
      for round in 0..<5 {
        let server: Program
        (server, port) = try serve(port)
        let field = last.map { ["-H", "Last-Event-ID: \($0)"] } ?? []
        let client = try Program(
          Programs.curl ?? "", ["-sN"] + field + ["http://127.0.0.1:\(port)/events"],
          folder: survey.folder.url)
        try client.block(for: "its place") { client.outputSoFar.contains("id: ") }
        try await edit()
        try await edit()
        if round == 4 {
          try client.block(for: "the last edit") {
            client.outputSoFar.contains("\"edit-\(made.count - 1)\"")
          }
        }
        server.send(SIGKILL)
        _ = try? await server.result()
        let (names, id) = read(try await client.result().output)
        seen += names
        last = id ?? last
        if round < 4 { try await edit() }
      }
      #expect(seen == made)
    }

    @Test func `webhooks that may not be told are refused`() async throws {
      let plain = try await survey.run(
        "serve", "field.gpkg", "--listen", "127.0.0.1:0", "--webhook", "http://192.0.2.1/")
      #expect(plain.error.contains("events would go to 192.0.2.1 without encryption"))
      #expect(plain.status == 77)
      let missing = try await survey.run("serve", "field.gpkg", "--webhooks", "none.json")
      #expect(missing.error.contains("none.json is not there"))
      let regions = try await survey.run(
        "serve", "field.gpkg", "--regions", "wells", "--distance", "5")
      #expect(regions.error.contains("--distance has a meaning only without --regions"))
      #expect(regions.status == 64)
    }
  #endif
}
