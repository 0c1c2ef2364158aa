import FieldpackHTTP
import FieldpackTestSupport
import Foundation
import Testing

#if Server
  /// Captures that come to `fieldpack serve`, and go from it.
  @Suite(.programs) struct ServeIngestTests {
    private let survey: SurveyFolder
    private static let boundary = "abcdef"
    private static let type = "multipart/form-data; boundary=\(boundary)"

    init() async throws {
      survey = try SurveyFolder()
      _ = try await survey.run("import", "wells.geojson", "--into", "field.gpkg")
    }

    private func body(_ token: String) -> [UInt8] {
      let info =
        #"{"token":"\#(token)","media_type":"image","created_at":1000,"coords":[1,2],"heading":0}"#
      var text = ""
      for (name, file, content) in [
        ("media_file", "\(token).jpg", String(repeating: "media \(token) ", count: 20_000)),
        ("thumbnail", "\(token).png", "PNG"), ("capture_info", "capture-info.json", info),
        ("geo_data", "\(token).json", #"{"points":[{"timestamp":0,"coords":[1,2]}]}"#),
      ] {
        text += "--\(Self.boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"; "
        text += "filename=\"\(file)\"\r\n\r\n\(content)\r\n"
      }
      return Array((text + "--\(Self.boundary)--\r\n").utf8)
    }

    /// A server, and its address.
    private func serve(_ more: String...) throws -> (program: Program, address: String) {
      let program = try Program(
        Tool.path, ["serve", "field.gpkg", "--listen", "127.0.0.1:0", "--writable"] + more,
        folder: survey.folder.url)
      return (program, try program.servedAddress())
    }

    @Test func `clients show a server its token`() async throws {
      _ = try await survey.run("log", "enable", "field.gpkg:wells")
      try FileManager.default.copyItem(
        at: survey.folder.file("field.gpkg"), to: survey.folder.file("laptop.gpkg"))
      _ = try await survey.run("update", "laptop.gpkg:wells", "11", "--set", "name=Mid")
      for name in ["tablet", "guest"] {
        let rights = name == "tablet" ? ["--allow", "write", "--allow", "ingest"] : []
        let made = try await survey.run(["token", "add", "t.json", name] + rights)
        _ = try survey.folder.write(made.output, to: "\(name).token")
      }
      let (program, address) = try serve("--token-file", "t.json")
      // A capture that a device sends without this tool.
      let token = try survey.text("tablet.token").dropLast()
      let sent = try await HTTPClient().send(
        HTTPRequest(
          .post, address + "upload",
          fields: ["Content-Type": Self.type, "Authorization": "Bearer \(token)"],
          body: .bytes(body("c1"))))
      #expect(sent.status == 200)
      let fetch = ["capture", "fetch", address, "c1", "--into", "got"]
      let refused = try await survey.run(fetch)
      #expect(refused.error == "fieldpack: 127.0.0.1: the server answers with status 401\n")
      let fetched = try await survey.run(fetch + ["--token-from", "guest.token"])
      #expect([fetched.output, fetched.error] == ["got/c1\n", ""])
      _ = try await survey.run("import", "got/c1", "--into", "other.gpkg")
      let upload = ["capture", "upload", "other.gpkg", "--to", address + "upload", "--token-from"]
      #expect(try await survey.run(upload + ["guest.token"]).status == 1)
      #expect(try await survey.run(upload + ["tablet.token"]).status == 0)
      let sync = ["sync", "laptop.gpkg", address + "sync"]
      #expect(try await survey.run(sync).status == 77)
      _ = try survey.folder.write("fp_other\n", to: "other.token")
      let wrong = try await survey.run(sync + ["--token-from", "other.token"])
      #expect(wrong.error == "fieldpack: the server does not take the token\n")
      #expect(try await survey.run(sync + ["--token-from", "tablet.token"]).status == 0)
      let name = try await survey.run(
        "sql", "field.gpkg", "SELECT name FROM wells WHERE fid = 11", "--format", "csv")
      #expect(name.output == "name\r\nMid\r\n", "\(name)")
      program.send(SIGTERM)
      let log = try await program.result()
      #expect(log.status == 0 && !log.error.contains(token))
    }

    @Test func `a token goes to no server that others could read it from`() async throws {
      _ = try survey.folder.write("fp_secret\n", to: "a.token")
      _ = try survey.folder.write("fp secret\n", to: "b.token")
      for (address, file, error, status) in [
        (
          "http://example.org", "a.token",
          "example.org is asked by http, so that others on the way could read the token", 77
        ),
        ("https://example.org", "b.token", "the first line of b.token is no token", 64),
        ("https://example.org", "none.token", "cannot read none.token", 66),
      ] as [(String, String, String, Int32)] {
        let result = try await survey.run(
          "capture", "fetch", address, "c1", "--token-from", file)
        #expect(result.error.contains(error), "\(result.error)")
        #expect(result.status == status)
      }
    }

    @Test func `a capture arrives once, however often the server is killed`() async throws {
      let client = try HTTPClient()
      var acknowledged: [String: String] = [:]
      for round in 0..<6 {
        let (token, body) = ("c\(round)", body("c\(round)"))
        var known = 0
        for attempt in 0... {
          let (program, address) = try serve()
          // All that was acknowledged is there.
          for (token, receipt) in acknowledged {
            let kept = try await client.send(HTTPRequest(.get, address + "uploads/\(token)"))
            #expect(String(decoding: kept.body, as: UTF8.self) == receipt)
          }
          let head = try await client.send(HTTPRequest(.head, address + "uploads/\(token)"))
          let offset = head.fields["Upload-Offset"].flatMap { Int($0) } ?? 0
          #expect(offset >= known)
          var end = min(offset + 90_000, body.count)
          let isLast = attempt >= 3
          if isLast { end = body.count }
          let range = "bytes \(min(offset, body.count - 1))-\(end - 1)/\(body.count)"
          let request = HTTPRequest(
            .put, address + "uploads/\(token)",
            fields: ["Content-Type": Self.type, "Content-Range": range],
            body: .bytes(Array(body[min(offset, body.count - 1)..<end])))
          async let answer = client.send(request)
          if !isLast {
            try await Task.sleep(for: .milliseconds(round * 3 + attempt * 2))
            program.send(SIGKILL)
          }
          let response = try? await answer
          if response?.status == 202 { known = end }
          if response?.status == 201 || response?.status == 200 {
            acknowledged[token] = response.map { String(decoding: $0.body, as: UTF8.self) }
          }
          program.send(SIGKILL)
          _ = try await program.result()
          if acknowledged[token] != nil { break }
          #expect(!isLast)
        }
      }
      #expect(acknowledged.count == 6)
      let listed = try await survey.run("capture", "list", "field.gpkg", "--json")
      let json = try JSONSerialization.jsonObject(with: listed.outputBytes) as? [String: Any]
      let captures = json?["captures"] as? [[String: Any]] ?? []
      #expect(captures.compactMap { $0["token"] as? String }.sorted() == (0..<6).map { "c\($0)" })
      #expect(captures.allSatisfy { ($0["missing_files"] as? [String]) == [] })
      let check = try await survey.run("check", "field.gpkg")
      #expect(check.status == 0, "\(check)")
    }

    @Test func `a capture is fetched into a folder and into a file`() async throws {
      let (program, address) = try serve()
      let sent = try await HTTPClient().send(
        HTTPRequest(
          .post, address + "upload", fields: ["Content-Type": Self.type], body: .bytes(body("c1"))))
      #expect(sent.status == 200)
      let folder = try await survey.run("capture", "fetch", address, "c1", "--into", "got")
      #expect([folder.output, folder.error] == ["got/c1\n", ""])
      for text in ["1 capture stored in copy.gpkg\n", "copy.gpkg has the capture already\n"] {
        let file = try await survey.run("capture", "fetch", address, "c1", "--into", "copy.gpkg")
        #expect([file.output, file.error] == [text, ""])
      }
      let json = try await survey.run(
        "capture", "fetch", address, "c1", "--into", "copy.gpkg", "--json")
      #expect(
        try JSONSerialization.jsonObject(with: json.outputBytes) as? NSDictionary
          == ["token": "c1", "target": "copy.gpkg", "is_new": false])
      let missing = try await survey.run("capture", "fetch", address, "c2")
      #expect(missing.status == 66)
      #expect(
        missing.error == "fieldpack: 127.0.0.1: the server answers with status 404\n")
      program.send(SIGTERM)
      _ = try await program.result()
    }
  }
#endif
