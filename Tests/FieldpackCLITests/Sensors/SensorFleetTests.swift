import FieldpackTestSupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

#if Server
  /// Many links to many simulated sensors on the network, which fail by chance: nothing is lost without
  /// a word, and nothing is stored twice.
  @Suite(.serialized, .programs) struct SensorFleetTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private static func number(_ variable: String) -> Int? {
      ProcessInfo.processInfo.environment[variable].flatMap { Int($0) }
    }

    // MARK: The fleet

    private func simulate(_ count: Int, _ faults: [String]) throws -> [(Program, String)] {
      let options =
        ["sensor", "simulate", "--listen", "127.0.0.1:0", "--picture-side", "64"]
        + faults.flatMap { ["--fault", $0] }
      let programs = try (0..<count).map { _ in try Program(Tool.path, options) }
      return try programs.map { program in
        try program.block(for: "its address") { program.outputSoFar.hasSuffix("\n") }
        return (program, String(program.outputSoFar.split(whereSeparator: \.isWhitespace).last!))
      }
    }

    private static let faults = [
      "register=endless:1%", "any=lost:3%", "any=503:3%", "any=broken:2%", "any=bomb:1%",
      "capture=sensorFailure:5%", "capture=initializationNeeded:5%", "lock=invalidId:5%",
      "configure=sensorBusy:5%", "thriftyDownload=preparingDownload:10%", "download=invalidId:3%",
      "unlock=failure:5%",
    ]

    private var file: String { folder.file("fleet.gpkg").path }

    private func subject(_ captures: Int, _ sensors: [(Program, String)]) throws -> Program {
      try Program(
        Tool.built("FieldpackTestSubject"), ["fleet", file, "\(captures)"] + sensors.map(\.1))
    }

    private func rows(_ sql: String) async throws -> [String] {
      let result = try await Tool.run("sql", file, sql, "--format", "csv")
      #expect(result.status == 0, "\(result)")
      return result.output.split(whereSeparator: \.isNewline).dropFirst().map(String.init)
    }

    /// What the lines of a program tell, by their first words. A line that a kill has cut is left out.
    private static func told(_ lines: String) -> [String: [String]] {
      var told: [String: [String]] = [:]
      let whole = lines[..<(lines.lastIndex(of: "\n") ?? lines.startIndex)]
      for line in whole.split(separator: "\n") {
        let words = line.split(separator: " ").map(String.init)
        if words.count == 2 { told[words[0], default: []].append(words[1]) }
      }
      return told
    }

    /// Does what earlier runs have left, until nothing is left.
    ///
    /// - Returns: what was told meanwhile.
    private func finish(_ sensors: [(Program, String)]) async throws -> String {
      var lines = ""
      for _ in 0..<30 {
        let left = try await rows(
          "SELECT (SELECT count(*) FROM bio_session) "
            + "+ (SELECT count(*) FROM bio_capture WHERE state = 'pending')")
        if left == ["0"] { return lines }
        let result = try await subject(0, sensors).result()
        #expect(result.status == 0, "\(result.error)")
        lines += result.output
      }
      Issue.record("there is always something left")
      return lines
    }

    /// Holds the file to what was told, and the sensors to their locks.
    private func check(_ lines: [String], _ sensors: [(Program, String)]) async throws {
      let told = lines.map(Self.told)
      let posted = told.flatMap { $0["posted"] ?? [] }
      let stored = Set(
        try await rows("SELECT capture_id FROM bio_capture WHERE state = 'stored'"))
      let kept = Set(try await rows("SELECT capture_id FROM bio_capture"))
      #expect(Set(posted).count == posted.count)
      #expect(Set(posted).subtracting(stored) == [])
      // What is downloaded was kept before.
      #expect(Set(told.flatMap { $0["asked"] ?? [] }).subtracting(kept) == [])
      #expect(
        try await rows("SELECT DISTINCT state FROM bio_capture ORDER BY state")
          .allSatisfy { ["stored", "lost"].contains($0) })
      // Each file is a whole picture, and belongs to an item by one capture.
      #expect(
        try await rows(
          "SELECT (SELECT count(*) FROM bio_capture c LEFT JOIN media m ON m.id = c.media_id "
            + "WHERE c.media_id IS NOT NULL AND (m.id IS NULL OR length(m.data) <> 5174)), "
            + "(SELECT count(*) FROM media WHERE role = 'sensor_data') = "
            + "(SELECT count(media_id) FROM bio_capture)") == ["0,1"])
      for (_, address) in sensors { #expect(try await isFree(address)) }
      #expect(try await Tool.run("check", file).status == 0)
    }

    /// Whether a sensor gives its lock to another client. Its faults go on meanwhile.
    private func isFree(_ address: String) async throws -> Bool {
      func post(_ path: String) async throws -> String {
        // An answer may have no end.
        let script = "curl -s -X POST --max-time 2 \"$0\" | head -c 65536"
        return try await Program.run("sh", ["-c", script, address + path]).output
      }
      var session: Substring?
      for _ in 0..<50 {
        guard let id = session else {
          let answer = try await post("register")
          let start = answer.range(of: "sessionId>")?.upperBound
          session = start.map { answer[$0...].prefix { $0 != "<" } }
          continue
        }
        let answer = try await post("lock/\(id)")
        if answer.contains("<status>success") { return true }
        if answer.contains("lockHeldByAnother") { return false }
        if answer.contains("invalidId") { session = nil }
      }
      return false
    }

    private func stop(_ sensors: [(Program, String)]) async throws {
      for (program, _) in sensors {
        program.send(SIGTERM)
        #expect(try await program.result().status == 0)
      }
    }

    private func states() async throws -> String {
      try await rows("SELECT state, count(*) FROM bio_capture GROUP BY 1 ORDER BY 1")
        .joined(separator: " ")
    }

    // MARK: Tests

    /// Five captures of each of twenty sensors, or as many in all as `FIELDPACK_SENSOR_CAPTURES` says.
    @Test func `each capture of twenty sensors ends stored once, or lost`() async throws {
      let wanted = Self.number("FIELDPACK_SENSOR_CAPTURES")
      let captures = wanted ?? 100
      #expect(try await Tool.run("person", "add", file).status == 0)
      #expect(try await Tool.run("person", "delete", file, "1").status == 0)
      let sensors = try simulate(20, Self.faults)
      let run = try await subject(captures / 20, sensors).result()
      #expect(run.status == 0, "\(run.error)")
      let later = try await finish(sensors)
      try await check([run.output, later], sensors)
      let told = Self.told(run.output)
      let kept = try await rows("SELECT capture_id FROM bio_capture")
      // Nothing was killed: what was read was kept.
      #expect(Set(told["read"] ?? []) == Set(kept))
      #expect(kept.count > captures / 2)
      let memory = (told["memory"] ?? []).compactMap { Int($0) }
      #expect(memory.count == 10)
      // Once all links are there it grows with the file, of which SQLite keeps 8 MiB at most.
      #expect((memory.last ?? 0) - memory[1] < 16 << 10, "\(memory)")
      if wanted != nil { print("\(try await states()); memory in KiB: \(memory)") }
      try await stop(sensors)
    }

    /// 20 kills, or as many as `FIELDPACK_KILLS` says.
    @Test func `links that are killed while they download store each capture once`() async throws {
      let wanted = Self.number("FIELDPACK_KILLS")
      let kills = wanted ?? 20
      #expect(try await Tool.run("person", "add", file).status == 0)
      #expect(try await Tool.run("person", "delete", file, "1").status == 0)
      let sensors = try simulate(
        3,
        ["thriftyDownload=preparingDownload:3%", "download=lost:3%", "any=503:1%"])
      var numbers = FilterGenerator.SplitMix(state: 2323)
      var lines: [String] = []
      for _ in 0..<kills {
        let program = try subject(1_000_000, sensors)
        let count = Int.random(in: 1...12, using: &numbers)
        try program.block(for: "captures") {
          program.outputSoFar.count { $0 == "\n" } >= count
        }
        usleep(UInt32.random(in: 0...20_000, using: &numbers))
        program.destroy()
        lines.append(program.outputSoFar)
      }
      lines.append(try await finish(sensors))
      try await check(lines, sensors)
      let posted = lines.map { Self.told($0)["posted"]?.count ?? 0 }.reduce(0, +)
      #expect(posted > kills / 4)
      if wanted != nil { print("\(kills) kills, \(posted) told; \(try await states())") }
      try await stop(sensors)
    }
  }
#endif
