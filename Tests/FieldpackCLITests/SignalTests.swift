import FieldpackTestSupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Commands that are told to stop, and disks that are full, leave everything as it was.
@Suite struct SignalTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }

  /// Starts an import that reads a pipe which never ends.
  private func startImport(_ into: String = "f.gpkg") async throws -> Program {
    let program = try Program(
      "bash",
      [
        "-c", #"exec "$0" import - --layer a --into \#(into) < <(echo '{'; exec sleep 30)"#,
        Tool.path,
      ], folder: folder.url)
    try await Task.sleep(for: .milliseconds(700))
    return program
  }

  private static let signals: [(Int32, Int32)] = [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)]

  @Test(arguments: signals)
  func `a signal ends a command that waits for input`(number: Int32, status: Int32) async throws {
    let program = try await startImport()
    program.send(number)
    let result = try await program.result(timeout: 10)
    #expect(result.status == status)
    #expect(result.error == "fieldpack: interrupted\n")
    #expect(result.output == "")
    #expect(try files() == [])
  }

  /// A file that takes a while to import.
  private func writeLargeFile() throws {
    var text = ""
    for number in 0..<300_000 {
      text += #"{"type":"Feature","properties":{"n":\#(number),"t":"some text"},"geometry":"#
      text += #"{"type":"Point","coordinates":[\#(number % 180),\#(number % 90)]}}"# + "\n"
    }
    _ = try folder.write(text, to: "large.geojsonl")
  }

  /// Waits until the file in the making has some size.
  private func waitForPendingFile() async throws {
    for _ in 0..<2_000 {
      for name in try files() where name.hasPrefix(".f.gpkg") || name.hasSuffix("-journal") {
        let size =
          try? FileManager.default.attributesOfItem(
            atPath: folder.file(name).path)[.size] as? Int
        if size ?? 0 > 100_000 { return }
      }
      try await Task.sleep(for: .milliseconds(2))
    }
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal in the middle of an import leaves nothing`(number: Int32) async throws {
    try writeLargeFile()
    let program = try Tool.start(
      ["import", "large.geojsonl", "--into", "f.gpkg"], folder: folder.url)
    try await waitForPendingFile()
    program.send(number)
    let result = try await program.result(timeout: 30)
    #expect(result.status == 128 + number)
    #expect(result.error == "fieldpack: interrupted\n")
    #expect(try files() == ["large.geojsonl"])
  }

  @Test func `a second signal ends at once and leaves nothing either`() async throws {
    try writeLargeFile()
    let program = try Tool.start(
      ["import", "large.geojsonl", "--into", "f.gpkg"], folder: folder.url)
    try await waitForPendingFile()
    program.send(SIGINT)
    program.send(SIGTERM)
    let result = try await program.result(timeout: 10)
    #expect([130, 143].contains(result.status))
    #expect(try files() == ["large.geojsonl"])
  }

  @Test func `an interrupted change leaves the file as it was`() async throws {
    try writeLargeFile()
    let small = #"{"type":"Point","coordinates":[1,2]}"#
    let made = try await Tool.run(
      "import", "-", "--layer", "a", "--into", "f.gpkg", input: Data(small.utf8),
      folder: folder.url)
    #expect(made.status == 0)
    let before = try Data(contentsOf: folder.file("f.gpkg"))
    let program = try Tool.start(
      ["import", "large.geojsonl", "--into", "f.gpkg"], folder: folder.url)
    try await Task.sleep(for: .milliseconds(400))
    program.send(SIGINT)
    let result = try await program.result(timeout: 30)
    #expect(result.status == 130)
    #expect(try files() == ["f.gpkg", "large.geojsonl"])
    #expect(try Data(contentsOf: folder.file("f.gpkg")) == before)
  }

  @Test func `a file that may not grow is an error that leaves nothing`() async throws {
    try writeLargeFile()
    let script = #"ulimit -f 2000; "$0" import large.geojsonl --into f.gpkg"#
    let new = try await Program.run("bash", ["-c", script, Tool.path], folder: folder.url)
    #expect(new.error == "fieldpack: f.gpkg: the disk is full; nothing was changed\n")
    #expect(new.status == 74)
    #expect(try files() == ["large.geojsonl"])
    let small = #"{"type":"Point","coordinates":[1,2]}"#
    _ = try await Tool.run(
      "import", "-", "--layer", "a", "--into", "f.gpkg", input: Data(small.utf8),
      folder: folder.url)
    let before = try Data(contentsOf: folder.file("f.gpkg"))
    let old = try await Program.run("bash", ["-c", script, Tool.path], folder: folder.url)
    #expect(old.error == "fieldpack: f.gpkg: the disk is full; nothing was changed\n")
    #expect(old.status == 74)
    #expect(try Data(contentsOf: folder.file("f.gpkg")) == before)
    #expect(try files() == ["f.gpkg", "large.geojsonl"])
  }

  @Test func `a long query ends on a signal`() async throws {
    let small = #"{"type":"Point","coordinates":[1,2]}"#
    _ = try await Tool.run(
      "import", "-", "--layer", "a", "--into", "f.gpkg", input: Data(small.utf8),
      folder: folder.url)
    let endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
      + "SELECT count(*) FROM n"
    let program = try Tool.start(["sql", "f.gpkg", endless], folder: folder.url)
    try await Task.sleep(for: .milliseconds(500))
    program.send(SIGINT)
    let result = try await program.result(timeout: 10)
    #expect(result.status == 130)
    #expect(result.error == "fieldpack: interrupted\n")
    #expect(try files() == ["f.gpkg"])
  }
}
