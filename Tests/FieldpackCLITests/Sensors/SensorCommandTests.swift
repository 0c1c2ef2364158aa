import FieldpackTestSupport
import Foundation
import Testing

/// `fieldpack sensor`.
@Suite(.programs) struct SensorCommandTests {
  @Test func `no sensor is found where nothing listens`() async throws {
    let check = try await Tool.run("sensor", "check", "127.0.0.1:9")
    #expect(check.output == "No sensor found at this address.\n")
    #expect(check.status == 1)
    let info = try await Tool.run("sensor", "info", "127.0.0.1:9")
    #expect(info.status == 69)
    #expect(info.error.contains("127.0.0.1:9"))
  }

  @Test(arguments: ["", "ftp://a", "http://a?b=c"])
  func `what is no address is refused`(uri: String) async throws {
    #expect(try await Tool.run("sensor", "check", uri).status == 64)
  }

  @Test func `a picture stands for a camera`() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write("x", to: "a.jpg")
    let check = try await Tool.run(
      "sensor", "check", "cam://\(file.path)", "--modality", "face", "--json")
    #expect(check.output == #"{"uri":"cam://\#(file.path)","check":"found"}"# + "\n")
  }

  @Test func `a camera of the server is named by its whole path`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.file("a.gpkg").path
    #expect(try await Tool.run("person", "add", file).status == 0)
    let result = try await Tool.run("serve", file, "--sensors", "--camera", "video0")
    #expect(result.error.contains("Try: --camera /dev/video0"))
    #expect(result.status == 64)
  }

  #if Server
    private func simulate(_ options: String...) throws -> (Program, String) {
      let program = try Program(
        Tool.path, ["sensor", "simulate", "--listen", "127.0.0.1:0"] + options)
      try program.block(for: "its address") { program.outputSoFar.hasSuffix("\n") }
      let words = program.outputSoFar.split(whereSeparator: \.isWhitespace)
      return (program, String(words.last ?? ""))
    }

    @Test func `a simulated sensor tells what it is, and is checked`() async throws {
      let (program, address) = try simulate(
        "--modality", "Finger", "--submodality", "LeftSlap", "--submodality", "RightSlap")
      #expect(program.outputSoFar == "a simulated sensor is at \(address)\n")
      let table: [([String], String, Int32)] = [
        ([], "Found a sensor at this address.", 0),
        (
          ["--modality", "finger", "--submodality", "leftslap"], "Found a sensor at this address.",
          0
        ),
        (["--modality", "Face"], "The sensor at this address can't capture face data.", 1),
        (
          ["--modality", "Finger", "--submodality", "RightThumbFlat"],
          "The sensor at this address can't capture right thumb data.", 1
        ),
      ]
      for (options, text, status) in table {
        let result = try await Tool.run(["sensor", "check", address] + options)
        #expect(result.output == text + "\n")
        #expect(result.status == status)
      }
      let info = try await Tool.run("sensor", "info", address, "--json")
      #expect(
        info.output.hasPrefix(
          #"{"uri":"\#(address)","namespace":"urn:oid:2.16.840.1.101.3.9.3.1","parameters":["#))
      #expect(
        info.output.contains(
          #"{"name":"submodality","type":"string","read_only":false,"value":"LeftSlap","#
            + #""allowed":["LeftSlap","RightSlap"]}"#))
      let shown = try await Tool.run("sensor", "info", address)
      #expect(shown.output.contains("lockStealingPreventionPeriod"))
      program.send(SIGTERM)
      #expect(try await program.result().status == 0)
    }

    @Test func `faults come as they are asked for`() async throws {
      let (program, address) = try simulate("--fault", "getCommonInfo=503:1", "--json")
      let url = String(address.split(separator: "\"")[3])
      #expect(try await Tool.run("sensor", "check", url).status == 1)
      #expect(try await Tool.run("sensor", "check", url).status == 0)
      program.send(SIGINT)
      #expect(try await program.result().status == 0)
      #expect(try await Tool.run("sensor", "simulate", "--fault", "capture").status == 64)
    }

    @Test func `items are captured by their sensors`() async throws {
      let (program, address) = try simulate("--submodality", "LeftSlap")
      let folder = try TemporaryFolder()
      func run(_ arguments: String...) async throws -> RunResult {
        try await Tool.run(arguments, folder: folder.url)
      }
      #expect(try await run("person", "add", "bio.gpkg").status == 0)
      let setup = ["item", "setup", "bio.gpkg", "--person", "1", "--type"]
      for item in [
        ["LeftSlap", "--sensor", address], ["Face2d"], ["LeftSlap", "--sensor", address],
      ] {
        #expect(try await Tool.run(setup + item, folder: folder.url).status == 0)
      }
      let captured = try await run("item", "capture", "bio.gpkg", "1", "2", "3")
      let lines = captured.output.split(separator: "\n")
      #expect(lines.count == 3)
      #expect(lines.first == "item 1, Left Slap: captured, image/bmp")
      #expect(
        lines.dropFirst().first
          == "item 2, Face: there is no sensor behind this item. Try: set it up with the address of one"
      )
      #expect(lines.last == "item 3, Left Slap: captured, image/bmp")
      #expect(captured.status == 1)
      let again = try await run("item", "capture", "bio.gpkg", "1", "--json")
      #expect(again.output.hasSuffix(#""problem":null}]}"# + "\n"))
      #expect(again.status == 0)
      #expect(try await run("check", "bio.gpkg").status == 0)
      program.send(SIGTERM)
      #expect(try await program.result().status == 0)
    }

    @Test func `while a server works with the sensors, a second program leaves them alone`()
      async throws
    {
      let (sensor, address) = try simulate("--submodality", "LeftSlap")
      let folder = try TemporaryFolder()
      func run(_ arguments: String...) async throws -> RunResult {
        try await Tool.run(arguments, folder: folder.url)
      }
      func rows(_ sql: String) async throws -> [Substring] {
        try await run("sql", "bio.gpkg", sql, "--format", "csv").output
          .split(whereSeparator: \.isNewline).dropFirst().map { $0 }
      }
      #expect(try await run("person", "add", "bio.gpkg").status == 0)
      let setup = ["item", "setup", "bio.gpkg", "--person", "1", "--type", "LeftSlap"]
      #expect(
        try await Tool.run(setup + ["--sensor", address], folder: folder.url).status == 0)
      let server = try Program(
        Tool.path, ["serve", "bio.gpkg", "--writable", "--sensors", "--listen", "127.0.0.1:0"],
        folder: folder.url)
      try server.block(for: "its address") { server.outputSoFar.hasSuffix("sensors\n") }
      let line = server.outputSoFar.prefix { $0 != "\n" }
      let page = String(line.dropFirst("serving bio.gpkg at ".count)) + "sensors/items/1"
      for options in [
        ["-X", "POST", page + "/tap"],
        [page + "/data", "--retry", "60", "--retry-delay", "1", "--retry-all-errors"],
      ] {
        let answer = try await Program.run(
          "curl", ["-sf", "-o", "answer"] + options, folder: folder.url)
        #expect(answer.status == 0, "\(answer.error)")
      }
      let session = try await rows("SELECT session_id, holds_lock FROM bio_session")
      let log = try await rows("SELECT count(*) FROM bio_op_log")
      #expect(session.count == 1)
      let second = try await run("item", "capture", "bio.gpkg", "1")
      #expect(second.status == 75, "\(second)")
      #expect(second.error.contains("another program works with the sensors of bio.gpkg"))
      #expect(try await rows("SELECT session_id, holds_lock FROM bio_session") == session)
      #expect(try await rows("SELECT count(*) FROM bio_op_log") == log)
      server.send(SIGTERM)
      #expect(try await server.result().status == 0)
      #expect(try await run("item", "capture", "bio.gpkg", "1").status == 0)
      #expect(try await rows("SELECT count(*) FROM bio_session") == ["0"])
      sensor.send(SIGTERM)
      #expect(try await sensor.result().status == 0)
    }
  #endif
}
