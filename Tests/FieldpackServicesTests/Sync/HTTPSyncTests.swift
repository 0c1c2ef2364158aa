import FieldpackCore
import FieldpackGeoPackage
import FieldpackGeometry
import FieldpackHTTP
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackServices

/// The receiver by HTTP, and the device that asks it.
@Suite struct HTTPSyncTests {
  private func device(
    _ survey: SyncSurvey, _ name: String = "a", edits: Int = 0
  ) async throws -> GeoPackageStore {
    let store = try await survey.open(name)
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      for number in 0..<edits {
        try writer.create(
          Feature(
            geometry: .point(x: 1, y: 2),
            attributes: ["name": .text("new \(number)"), "depth": 3.0]), in: "wells")
      }
    }
    return store
  }

  // MARK: Both together

  @Test func `two files come to the same state by HTTP, with a token`() async throws {
    let survey = try await SyncSurvey()
    let office = try await survey.open("office")
    let server = try SyncServer(SyncService(of: office))
    let a = try await device(survey, edits: 3)
    let b = try await survey.open("b")
    try await b.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.update(1, in: "wells", set: ["note": "von b"])
      try writer.delete(2, in: "wells")
    }
    let peer = try HTTPSyncPeer(server.address, signedIn: SignedInFake("secret"))
    #expect(peer.name == "\(server.address)/sync")
    var report = try await SyncRun(of: a, with: peer).run()
    #expect([report.layers[0].sent, report.layers[0].received] as [Int] == [3, 0])
    report = try await SyncRun(of: b, with: peer).run()
    #expect([report.layers[0].sent, report.layers[0].received] as [Int] == [2, 3])
    report = try await SyncRun(of: a, with: peer).run()
    #expect([report.layers[0].sent, report.layers[0].received] as [Int] == [0, 2])
    let expected = try await office.contents()
    #expect(try await a.contents() == expected)
    #expect(try await b.contents() == expected)
    #expect(server.tokens == ["Bearer secret"])
    for store in [office, a, b] { await store.close() }
  }

  @Test func `each value comes as it was`() async throws {
    let survey = try await SyncSurvey()
    let (office, a) = (try await survey.open("office"), try await survey.open("a"))
    let server = try SyncServer(SyncService(of: office))
    try await a.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      for (name, depth) in [
        ("a\"\\\u{1}ü\n", 1.0), ("", -.infinity), ("%20+&=", 2.5e-308), ("", .infinity),
      ] {
        try writer.create(
          Feature(
            geometry: .point(x: 0.1, y: -1e300),
            attributes: ["name": name, "depth": depth, "state": Int64.min]),
          in: "wells")
      }
    }
    _ = try await SyncRun(of: a, with: HTTPSyncPeer(server.address)).run()
    #expect(try await office.contents() == a.contents())
    for store in [office, a] { await store.close() }
  }

  @Test func `batches end at 1 MiB, and large pages too`() async throws {
    let survey = try await SyncSurvey()
    let (office, a) = (try await survey.open("office"), try await survey.open("a"))
    let server = try SyncServer(SyncService(of: office))
    let note = String(repeating: "n", count: 300_000)
    try await a.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      for _ in 0..<7 {
        try writer.create(
          Feature(geometry: .point(x: 1, y: 2), attributes: ["note": .text(note)]), in: "wells")
      }
    }
    let peer = try HTTPSyncPeer(server.address)
    #expect(try await SyncRun(of: a, with: peer).run().layers[0].sent == 7)
    let posts = server.requests.filter { $0.method == "POST" }.map(\.body.count)
    #expect(posts.count == 3 && posts.allSatisfy { $0 <= 1 << 20 })
    let b = try await survey.open("b")
    #expect(try await SyncRun(of: b, with: peer).run().layers[0].received == 7)
    #expect(try await b.contents() == a.contents())
    for store in [office, a, b] { await store.close() }
  }

  @Test func `an edit larger than a receiver takes is parked`() async throws {
    let survey = try await SyncSurvey()
    let (office, a) = (try await survey.open("office"), try await device(survey, edits: 1))
    let server = try SyncServer(SyncService(of: office))
    let note = String(repeating: "n", count: 17 << 20)
    try await a.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try writer.update(1, in: "wells", set: ["note": .text(note)])
      try writer.update(1, in: "wells", set: ["note": "short"])
      try writer.update(2, in: "wells", set: ["note": "short"])
    }
    let report = try await SyncRun(of: a, with: HTTPSyncPeer(server.address)).run()
    #expect([report.layers[0].sent, report.layers[0].parked] as [Int] == [2, 2])
    for store in [office, a] { await store.close() }
  }

  // MARK: What a receiver refuses

  private static let badRequests: [(String, String, String, String, Int, String)] = [
    ("GET", "/sync", "", "", 404, "notFound"),
    ("DELETE", "/sync/edits", "layer=wells", "", 405, "invalidArgument"),
    ("GET", "/sync/edits", "", "", 400, "invalidArgument"),
    ("GET", "/sync/edits", "layer=%zz", "", 400, "invalidArgument"),
    ("GET", "/sync/edits", "layer=%ff", "", 400, "invalidArgument"),
    ("GET", "/sync/edits", "layer=none", "", 404, "notFound"),
    ("GET", "/sync/edits", "layer=wells&limit=0", "", 400, "invalidArgument"),
    ("GET", "/sync/edits", "layer=wells&limit=10001", "", 400, "invalidArgument"),
    ("GET", "/sync/edits", "layer=wells&after=-1", "", 400, "invalidArgument"),
    ("GET", "/sync/edit", "layer=wells&position=-9223372036854775808", "", 400, "invalidArgument"),
    ("GET", "/sync/edit", "layer=wells", "", 400, "invalidArgument"),
    ("POST", "/sync/edits", "layer=wells", "", 400, "invalidData"),
    ("POST", "/sync/edits", "layer=wells", "{", 400, "invalidData"),
    ("POST", "/sync/edits", "layer=wells", String(repeating: "[", count: 99), 400, "invalidData"),
    ("POST", "/sync/edits", "layer=wells", "[]", 422, "invalidData"),
    ("POST", "/sync/edits", "layer=wells", #"{"edits":[7]}"#, 422, "invalidData"),
    (
      "POST", "/sync/edits", "layer=wells",
      #"{"edits":[{"edit_id":"","op":1,"identity":"x","position":1,"changed":[],"values":[]}]}"#,
      422, "invalidData"
    ),
    (
      "POST", "/sync/edits", "layer=wells",
      #"{"edits":[{"edit_id":"e","op":1,"identity":"x","position":1,"changed":[],"values":[]}]}"#,
      422, "invalidData"
    ),
    (
      "POST", "/sync/edits", "layer=wells",
      #"{"edits":[\#(String(repeating: "0,", count: 10_000))0]}"#, 413, "invalidArgument"
    ),
    (
      "POST", "/sync/edits", "layer=wells", String(repeating: " ", count: 16 << 20 + 1), 413,
      "invalidArgument"
    ),
  ]

  @Test func `what is no request is answered with its status, and changes nothing`() async throws {
    let survey = try await SyncSurvey()
    let office = try await survey.open("office")
    let service = SyncService(of: office)
    let before = try Data(contentsOf: survey.folder.file("office.gpkg")).count
    for (method, path, query, body, status, code) in Self.badRequests {
      let answer = await service.respond(
        to: method, path: path, query: query, body: Array(body.utf8))
      let error = try SyncJSON.read(answer.body)["error"]
      #expect(
        answer.status == status && error?["code"]?.string == code,
        "\(method) \(path) \(query) \(String(decoding: answer.body, as: UTF8.self))")
    }
    await office.close()
    // The one batch that was read as far as its edits began a transaction, which is undone.
    let after = try Data(contentsOf: survey.folder.file("office.gpkg")).count
    #expect(after == before)
  }

  @Test func `errors keep their codes on the other side`() async throws {
    let survey = try await SyncSurvey()
    let office = try await survey.open("office")
    let server = try SyncServer(SyncService(of: office))
    let peer = try HTTPSyncPeer(server.address)
    let error = try await #require(throws: FieldpackError.self) {
      _ = try await peer.edits(of: "Brunnen & Schächte", after: 0, limit: 5)
    }
    #expect(error.code == .notFound)
    #expect(error.message == "\(peer.name): the edits of layer 'Brunnen & Schächte' are not logged")
    #expect(server.requests.count == 1)
    await office.close()
  }

  // MARK: Receivers that mean harm

  private static let statuses: [(Int, FieldpackError.Code)] = [
    (401, .permission), (403, .permission), (404, .notFound), (409, .invalidData),
    (429, .unavailable), (500, .unavailable), (503, .unavailable),
  ]

  @Test func `statuses become errors, and a pause that is asked for is kept`() async throws {
    let status = Locked(0)
    let server = try LoopbackServer { _ in
      .text(status.withLock { $0 }, "<html>", fields: [["Retry-After", "7"]])
    }
    let peer = try HTTPSyncPeer(server.address)
    for (number, code) in Self.statuses {
      status.withLock { $0 = number }
      let error = try await #require(throws: FieldpackError.self) { _ = try await peer.layers() }
      #expect(error.code == code, "\(number)")
      #expect(error.askedPause == .seconds(7))
    }
  }

  /// Pages that are none.
  private static let pages = [
    "", "null", "[]", "<html>", #"{"edits":[],"position":"7","last":true}"#,
    // It does not go on, or goes backwards.
    #"{"edits":[],"position":0,"last":false}"#, #"{"edits":[],"position":-5,"last":true}"#,
    #"{"edits":[\#(edit(5)),\#(edit(5))],"position":5,"last":true}"#,
    #"{"edits":[\#(edit(9))],"position":5,"last":true}"#,
    // Values of other types, and of other numbers.
    #"{"edits":[\#(edit(5, values: "[{}]"))],"position":5,"last":true}"#,
    #"{"edits":[\#(edit(5)),\#(edit(6, values: "[1]"))],"position":6,"last":true}"#,
    #"{"edits":[\#(edit(5)),\#(edit(6, operation: 9))],"position":6,"last":true}"#,
    #"{"edits":[\#(edit(5)),\#(edit(6).replacing("e6", with: String(repeating: "e", count: 256)))],"#
      + #""position":6,"last":true}"#,
  ]

  private static func edit(
    _ position: Int, operation: Int = 1, values: String = #"[null,"x",1.5,null,0]"#
  ) -> String {
    #"{"edit_id":"e\#(position)","op":\#(operation),"identity":"e\#(position)","#
      + #""position":\#(position),"changed":["name"],"values":\#(values)}"#
  }

  @Test func `a page that is none is an error, and nothing of it is applied`() async throws {
    let survey = try await SyncSurvey()
    let (office, a) = (try await survey.open("office"), try await survey.open("a"))
    let service = SyncService(of: office)
    let page = Locked("")
    let server = try SyncServer(service) { request in
      guard request.target.hasPrefix("/sync/edits?") else { return nil }
      return .text(200, page.withLock { $0 })
    }
    let before = try await a.contents()
    let run = SyncRun(of: a, with: try HTTPSyncPeer(server.address))
    for text in Self.pages {
      page.withLock { $0 = text }
      let error = try await #require(throws: FieldpackError.self, "\(text)") {
        _ = try await run.run()
      }
      #expect(error.code == .invalidData, "\(text)")
      #expect(try await a.contents() == before, "\(text)")
    }
    for store in [office, a] { await store.close() }
  }

  /// Answers to an edit that are none, where ID stands for its UUID.
  private static let answers = [
    #"{"answers":[]}"#, #"{"answers":{}}"#, #"{"answers":[{"edit_id":"ID"}]}"#,
    #"{"answers":[{"edit_id":"other","verdict":"applied","position":1}]}"#,
    #"{"answers":[{"edit_id":"ID","verdict":"fine","position":1}]}"#,
    #"{"answers":[{"edit_id":"ID","verdict":"applied","position":"1"}]}"#,
    #"{"answers":[{"edit_id":"ID","verdict":"applied","position":1},"#
      + #"{"edit_id":"ID","verdict":"applied","position":1}]}"#,
    #"{"answers":[{"edit_id":"ID","verdict":"conflict","position":1,"conflicts":[{"kind":"?"}]}]}"#,
  ]

  @Test func `an answer to what was not sent marks nothing as sent`() async throws {
    let survey = try await SyncSurvey()
    let (office, a) = (try await survey.open("office"), try await device(survey, edits: 1))
    let answer = Locked("")
    let server = try SyncServer(SyncService(of: office)) { request in
      guard request.method == "POST" else { return nil }
      let sent = (try? SyncJSON.read(request.body))?["edits"]
      guard case .array(let edits)? = sent, let id = edits.first?["edit_id"]?.string else {
        return nil
      }
      return .text(200, answer.withLock { $0 }.replacing("ID", with: id))
    }
    let run = SyncRun(of: a, with: try HTTPSyncPeer(server.address))
    for text in Self.answers {
      answer.withLock { $0 = text }
      let error = try await #require(throws: FieldpackError.self, "\(text)") {
        _ = try await run.run()
      }
      #expect(error.code == .invalidData, "\(text)")
      let pending = try await a.texts("SELECT count(*) FROM wells_audit WHERE sent IS NULL")
      #expect(pending == ["1"], "\(text)")
    }
    for store in [office, a] { await store.close() }
  }

  @Test func `a body without an end is given up`() async throws {
    let blanks = [UInt8](repeating: 0x20, count: 1 << 20)
    let server = try LoopbackServer { _ in
      .pieces(length: 100 << 20) { $0 < 100 ? blanks : nil }
    }
    let peer = try HTTPSyncPeer(server.address)
    let error = try await #require(throws: FieldpackError.self) { _ = try await peer.layers() }
    #expect([error.code] == [.invalidData])
    #expect(error.httpFailure == .tooLong)
  }

  @Test func `another machine is asked by https alone, unless that is allowed`() throws {
    #expect(throws: FieldpackError.self) { try HTTPSyncPeer("http://office.example.org/sync") }
    #expect(throws: FieldpackError.self) { try HTTPSyncPeer("https://example.org/sync?key=7") }
    let far = try HTTPSyncPeer("http://office.example.org/a/", allowsUnencrypted: true)
    #expect(far.name == "http://office.example.org:80/a")
    #expect(try HTTPSyncPeer("https://example.org").name == "https://example.org:443/sync")
  }
}

/// A receiver that listens on 127.0.0.1.
final class SyncServer: Sendable {
  private let server: LoopbackServer
  var address: String { server.address }
  var requests: [LoopbackServer.Request] { server.requests }
  /// All that came as `Authorization`.
  var tokens: Set<String> { Set(server.requests.compactMap { $0["Authorization"] }) }

  /// - Parameter instead: answers that are not the receiver's.
  init(
    _ service: SyncService,
    instead: @escaping @Sendable (LoopbackServer.Request) -> LoopbackServer.Reply? = { _ in nil }
  ) throws {
    server = try LoopbackServer { request in
      if let reply = instead(request) { return reply }
      let response = Self.answer(request, by: service)
      return .response(
        response.status, fields: [["Content-Type", response.contentType]], body: response.body)
    }
  }

  /// Waits on the thread of the connection.
  static func answer(
    _ request: LoopbackServer.Request, by service: SyncService
  ) -> SyncResponse {
    let parts = request.target.split(separator: "?", maxSplits: 1)
    let done = DispatchSemaphore(value: 0)
    let answer = Locked<SyncResponse?>(nil)
    Task.detached {
      let response = await service.respond(
        to: request.method, path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : "",
        body: request.body)
      answer.withLock { $0 = response }
      done.signal()
    }
    done.wait()
    return answer.withLock { $0 } ?? SyncResponse(status: 500, body: [])
  }
}
