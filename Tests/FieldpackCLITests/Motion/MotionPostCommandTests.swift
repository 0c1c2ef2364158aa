import Fieldpack
import FieldpackCore
import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

@Suite(.programs) struct MotionPostCommandTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func run(_ arguments: String..., input: String? = nil) async throws -> RunResult {
    try await Tool.run(
      arguments, input: input.map { Data($0.utf8) },
      environment: ["XDG_STATE_HOME": folder.file("state").path], folder: folder.url)
  }

  /// A server that gives sessions `s1`, `s2` … and answers readings with `taken`.
  private static func server(_ status: Int = 200) throws -> LoopbackServer {
    let count = Locked(0)
    return try LoopbackServer { request in
      guard case .start? = try? MotionRequest(body: request.body) else {
        return .text(status, "taken")
      }
      return .text(
        200,
        count.withLock { count in
          count += 1
          return "s\(count)"
        })
    }
  }

  private static func bodies(_ server: LoopbackServer) -> [MotionRequest] {
    server.requests.compactMap { try? MotionRequest(body: $0.body) }
  }

  private static func batches(_ server: LoopbackServer) -> [MotionRequest.Data] {
    bodies(server).compactMap { body in if case .data(let data) = body { data } else { nil } }
  }

  private static func line(_ number: Int) -> String {
    #"{"time":\#(1_714_557_600 + Double(number) / 50),"ax":0.5,"ay":0,"az":\#(number)}"# + "\n"
  }

  /// Requests of two devices, as one log.
  private static let log: String = {
    var lines: [String] = []
    for (session, device) in [("a", "left"), ("b", "right")] {
      lines.append(
        #"{"time":1714557600,"response":"\#(session)","body":{"type":"start","#
          + #""timestamp":"1714557600.0","device":{"systemVersion":"17","systemName":"iOS","#
          + #""name":"\#(device)","identifierForVendor":"","model":"","localizedModel":""}}}"#)
      for second in 1...2 {
        lines.append(
          #"{"type":"data","uuid":"\#(session)","timestamp":"\#(1_714_557_600 + second).5","#
            + #""rotation":{"x":[1,2,3],"y":[0,0,0],"z":[\#(second),0.1,-2]}}"#)
      }
    }
    return lines.joined(separator: "\n")
  }()

  @Test func `recorded sessions are posted as their devices, with their times`() async throws {
    _ = try folder.write(Self.log, to: "log.jsonl")
    _ = try await run("motion", "import", "log.jsonl", "--into", "f.gpkg")
    for source in ["log.jsonl", "f.gpkg"] {
      let server = try Self.server()
      let result = try await run("motion", "post", source, "--server", server.address + "/m")
      #expect(result.output == "12 samples, 4 batches: 4 accepted, 0 lost; 2 sessions\n")
      #expect(
        result.error == """
          note: session s1
          note: the server is active
          note: server data: taken
          note: session s2
          note: the server is active
          note: server data: taken

          """)
      #expect(result.status == 0)
      #expect(
        Self.bodies(server).compactMap { body in
          if case .start(let start) = body { start.device.name } else { nil }
        } == ["left", "right"])
      let batches = Self.batches(server)
      #expect(batches.map(\.session) == ["s1", "s1", "s2", "s2"])
      #expect(batches.map(\.timestamp) == [1714557601.5, 1714557602.5, 1714557601.5, 1714557602.5])
      #expect(batches[3].readings.map { $0[.rz] } == [2, 0.1, -2])
      #expect(batches.allSatisfy { $0.sections == .rotation })
    }
    let server = try Self.server()
    let one = try await run(
      "motion", "post", "f.gpkg", "--session", "b", "--speed", "100x", "--server", server.address)
    #expect(one.output == "6 samples, 2 batches: 2 accepted, 0 lost; 1 session\n", "\(one)")
    let now = try await run(
      "motion", "post", "f.gpkg", "--session", "b", "--rate", "1000", "--server", server.address)
    #expect(now.output == "6 samples, 2 batches: 2 accepted, 0 lost; 1 session\n", "\(now)")
    #expect(Self.batches(server).map(\.readings.count) == [3, 3, 5, 1])
    #expect(Self.batches(server)[2].timestamp > 1_750_000_000)
  }

  @Test func `lines are posted with fields, kept, and told of as JSON`() async throws {
    let server = try Self.server()
    let result = try await run(
      "motion", "post", "-", "--server", server.address + "/m", "--header", "X-Key: k:1",
      "--header", "X-Team:7", "--into", "f.gpkg", "--sections", "acceleration", "--json", "-q",
      input: (0..<7).map(Self.line).joined())
    #expect(result.error == "" && result.status == 0)
    let requests = server.requests
    #expect(requests.count == 3)
    #expect(requests.allSatisfy { $0["X-Key"] == "k:1" && $0["X-Team"] == "7" })
    #expect(Self.batches(server).map(\.timestamp) == [1714557600.08, 1714557600.12])
    guard case .start(let start)? = Self.bodies(server).first else {
      Issue.record("no start")
      return
    }
    let identifier = try String(contentsOf: folder.file("state/fieldpack/device"), encoding: .utf8)
    #expect(identifier == (start.device.identifierForVendor ?? "") + "\n")
    let sessions = try await run("sql", "f.gpkg", "SELECT uuid FROM daco_session", "--json")
    let kept = String(
      try #require(sessions.output.split(separator: "\"").first { $0.count == 36 }))
    #expect(
      result.output
        == #"{"sample_count":7,"batch_count":2,"post_count":2,"accepted_count":2,"#
        + #""lost_count":0,"session_count":1,"failure_count":0,"#
        + #""server_active":[true],"server_data":"taken","kept":[{"target":"f.gpkg","session":""#
        + #"\#(kept)","sample_count":7}]}"# + "\n")
    let rows = try await run(
      "sql", "f.gpkg", "SELECT i, t_unix, az, pitch FROM daco_sample WHERE i = 6", "--format", "csv"
    )
    #expect(rows.output == "i,t_unix,az,pitch\r\n6,1714557600.12,6,\r\n")
    let check = try await run("check", "f.gpkg")
    #expect(check.status == 0, "\(check)")
  }

  @Test func `sensors are posted and kept until they are interrupted`() async throws {
    for axis in ["x", "y", "z"] {
      let url = folder.file("iio/iio:device0/in_anglvel_\(axis)_raw")
      try FileManager.default.createDirectory(
        at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
      try Data("7\n".utf8).write(to: url)
    }
    let server = try Self.server(500)
    let program = try Tool.start(
      [
        "motion", "post", "--sensors", "iio", "--server", server.address, "--into", "f.gpkg",
        "--rate", "200",
      ], environment: ["XDG_STATE_HOME": folder.file("state").path], folder: folder.url)
    try await program.wait(for: "an answer") {
      program.errorSoFar.contains("answered 500; again in")
    }
    program.send(SIGINT)
    let result = try await program.result()
    #expect(result.status == 130)
    #expect(
      result.error.hasPrefix(
        """
        note: session s1
        note: the server is active
        note: the server is not active any more
        note: the server answered 500; again in 0.
        """))
    #expect(result.error.hasSuffix("fieldpack: interrupted\n"))
    let lines = result.output.split(separator: "\n")
    #expect(lines.count == 2, "\(result)")
    let samples = try #require(lines.first?.split(separator: " ").first)
    #expect(lines.last?.hasPrefix("\(samples) sample") == true, "\(result)")
    let rows = try await run(
      "sql", "f.gpkg", "SELECT count(*) AS n FROM daco_sample WHERE rx = 7 AND az IS NULL",
      "--format", "csv")
    #expect(rows.output == "n\r\n\(samples)\r\n")
  }

  @Test func `what is stored stays where the rest cannot be stored`() async throws {
    let sensor = folder.file("iio/iio:device0")
    try FileManager.default.createDirectory(at: sensor, withIntermediateDirectories: true)
    for axis in ["x", "y", "z"] {
      try Data("7\n".utf8).write(to: sensor.appendingPathComponent("in_accel_\(axis)_raw"))
    }
    let server = try Self.server()
    let program = try Tool.start(
      ["motion", "post", "--sensors", "iio", "--server", server.address, "--into", "new.gpkg"],
      environment: ["XDG_STATE_HOME": folder.file("state").path], folder: folder.url)
    let path = folder.file("new.gpkg").path
    try await program.wait(for: "its server") { program.errorSoFar.contains("server data") }
    // Stands for a disk that is full; the table is there when the first samples are.
    try await program.wait(for: "the table") { (try? Self.refuseBatches(path)) != nil }
    let result = try await program.result()
    #expect(result.status != 0 && result.error.contains("full"), "\(result)")
    let kept = try #require(result.output.split(separator: "\n").last)
    let count = try await run(
      "sql", "new.gpkg", "SELECT count(*) AS n FROM daco_sample", "--format", "csv")
    let samples = try #require(
      Int(count.output.split(whereSeparator: \.isNewline).last ?? ""), "\(count)")
    #expect(samples > 0 && kept.hasPrefix("\(samples) sample"), "\(result)")
  }

  private static func refuseBatches(_ path: String) throws {
    try Connection(path: path, mode: .readWrite).execute(
      "CREATE TRIGGER full BEFORE INSERT ON daco_batch "
        + "BEGIN SELECT RAISE(ABORT, 'the disk is full'); END")
  }

  @Test func `a server that fails ends the command, which says what is lost`() async throws {
    let gone = try Self.server()
    let address = gone.address
    _ = consume gone
    let lines = (0..<10).map(Self.line).joined()
    let result = try await run(
      "motion", "post", "-", "--server", address, "--attempts", "2", "--into", "f.gpkg", "-q",
      input: lines)
    #expect(result.status == 69, "\(result)")
    #expect(result.error == "fieldpack: the server at \(address) failed 2 times\n")
    // How many samples were read by then is a matter of chance.
    #expect(result.output.contains(": 0 accepted, ") && result.output.contains("; 0 sessions\n"))
    let server = try Self.server(503)
    let live = try await run(
      "motion", "post", "-", "--live", "--server", server.address, "-q", input: lines)
    #expect(live.status == 1)
    #expect(live.output.hasPrefix("10 samples, 2 batches: 0 accepted, 2 lost; 1 session"))
  }

  static let mistakes: [([String], Int32, String)] = [
    (["-", "--server", "ftp://h/x"], 64, "this is no address of a server. Try: https://host:port"),
    (["-", "--server", "h"], 64, "this is no address of a server"),
    (["-"], 64, "--server"), (["--server", "http://h"], 64, "motion post needs a source"),
    (["-", "--server", "http://h", "--header", "a b:c"], 64, "is no field and value such as"),
    (["-", "--server", "http://h", "--header", "a"], 64, "is no field and value such as"),
    (
      ["-", "--server", "http://h", "--sections", "gps"], 64, "has 'gps', which is none of attitude"
    ),
    (["-", "--server", "http://h", "--speed", "2x"], 64, "have neither sessions nor a recorded"),
    (["none.gpkg", "--server", "http://h"], 66, "none.gpkg"),
    (["empty.gpkg", "--server", "http://h"], 66, "empty.gpkg has no sessions of motion"),
    (["f.gpkg", "--session", "c", "--server", "http://h"], 66, "no session 'c' (there are: a, b)"),
    (["f.gpkg", "--into", "./f.gpkg", "--server", "http://h"], 64, "has these samples"),
    (
      ["f.gpkg", "--rate", "5", "--speed", "1x", "--server", "http://h"], 64,
      "--speed keeps the pace of the times"
    ),
    (["--sensors", "none", "--server", "http://h"], 69, "none has no accelerometer"),
    (["bad.jsonl", "--server", "http://127.0.0.1:9"], 65, "bad.jsonl:1: ax is a text"),
  ]

  @Test func `what cannot be posted is said, and leaves no file`() async throws {
    _ = try folder.write(Self.log, to: "log.jsonl")
    _ = try folder.write(#"{"ax":"1"}"# + "\n", to: "bad.jsonl")
    _ = try folder.write("lon,lat\n1,2\n", to: "p.csv")
    _ = try await run("motion", "import", "log.jsonl", "--into", "f.gpkg")
    _ = try await run("import", "p.csv", "--into", "empty.gpkg")
    for (arguments, status, message) in Self.mistakes {
      let into = arguments.contains("--into") ? [] : ["--into", "new.gpkg"]
      let result = try await Tool.run(
        ["motion", "post", "-q"] + arguments + into, input: Data(),
        environment: ["XDG_STATE_HOME": folder.file("state").path], folder: folder.url)
      #expect(result.status == status, "\(arguments) \(result)")
      #expect(result.error.contains(message), "\(arguments) \(result)")
      #expect(!FileManager.default.fileExists(atPath: folder.file("new.gpkg").path))
    }
  }
}
