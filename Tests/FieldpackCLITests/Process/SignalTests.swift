import FieldpackSQLite
import FieldpackTestSupport
import Foundation
import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Commands that are told to stop, and disks that are full, leave everything as it was.
@Suite(.programs) struct SignalTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func files() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }

  /// Starts an import and sends signals as soon as it does something.
  ///
  /// On a thread of its own: beside all the other tests a task may be woken after the import.
  private func signalImport(_ file: String, _ signals: Int32...) async throws -> Program {
    try await onThread {
      let program = try startImport(file)
      for signal in signals { program.send(signal) }
      return program
    }
  }

  /// Starts an import and waits until it does something.
  private func startImport(_ file: String) throws -> Program {
    let log = try TemporaryFolder()
    let words = ["--layer", "a", "--into", "f.gpkg", "--log-level", "debug", "--log-file"]
    let path = log.file("run.log").path
    // A pipe that does not end stands for standard input. Whoever holds it ends with the import: it
    // has the pipes of other tests, too, which would not end before.
    let script =
      #""$0" import \#(file) "$@" < <(echo '{'; exec tail -s 0.2 --pid=$$ -f /dev/null)"#
    let program = try Program(
      "bash", ["-c", "exec " + script, Tool.path] + words + [path], folder: folder.url)
    let awaited = file == "-" ? "command begins" : "import begins"
    try program.block(for: "'\(awaited)'") {
      let text = try? String(contentsOf: log.file("run.log"), encoding: .utf8)
      return text?.contains(awaited) ?? false
    }
    return program
  }

  private static let signals: [(Int32, Int32)] = [(SIGINT, 130), (SIGTERM, 143), (SIGHUP, 129)]

  @Test(arguments: signals)
  func `a signal ends a command that waits for input`(number: Int32, status: Int32) async throws {
    let program = try await signalImport("-", number)
    let result = try await program.result()
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

  @Test(arguments: [SIGINT, SIGTERM])
  func `a signal in the middle of an import leaves nothing`(number: Int32) async throws {
    try writeLargeFile()
    let program = try await signalImport("large.geojsonl", number)
    let result = try await program.result()
    #expect(result.status == 128 + number)
    #expect(result.error == "fieldpack: interrupted\n")
    #expect(try files() == ["large.geojsonl"])
  }

  /// Writes 5,461 tiles as a folder, or as an MBTiles file.
  private func writeTiles(_ name: String) throws {
    let picture = TestPicture.png(color: (10, 200, 30))
    guard name == "map" else {
      let connection = try Connection(path: folder.file(name).path, mode: .create)
      try connection.execute("CREATE TABLE metadata (name text, value text)")
      try connection.execute(
        "CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer, "
          + "tile_data blob)")
      try connection.execute(
        "WITH RECURSIVE z(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM z WHERE n < 6), "
          + "i(n) AS (VALUES (0) UNION ALL SELECT n + 1 FROM i WHERE n < 63) "
          + "INSERT INTO tiles SELECT z.n, x.n, y.n, ? FROM z, i x, i y "
          + "WHERE x.n < 1 << z.n AND y.n < 1 << z.n", .blob(picture))
      return
    }
    let source = folder.file("tile.png").path
    try Data(picture).write(to: folder.file("tile.png"))
    for zoom in 0...6 {
      for column in 0..<1 << zoom {
        let place = folder.file("map/\(zoom)/\(column)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        for row in 0..<1 << zoom { _ = link(source, place.path + "/\(row).png") }
      }
    }
    try FileManager.default.removeItem(atPath: source)
  }

  @Test(arguments: ["map", "map.mbtiles"])
  func `a signal in the middle of an import of tiles leaves nothing`(source: String) async throws {
    try writeTiles(source)
    let program = try await onThread {
      let program = try Tool.start(["import", source, "--into", "f.gpkg"], folder: folder.url)
      try program.block(for: "its file in the making") {
        try files().contains { $0.hasPrefix(".f.gpkg.fieldpack-") }
      }
      program.send(SIGINT)
      return program
    }
    let result = try await program.result()
    #expect([result.error, "\(result.status)"] == ["fieldpack: interrupted\n", "130"])
    #expect(try files() == [source])
  }

  @Test func `an interrupted import of tiles leaves the file as it was`() async throws {
    try writeTiles("map.mbtiles")
    let small = #"{"type":"Point","coordinates":[1,2]}"#
    _ = try await Tool.run(
      "import", "-", "--layer", "a", "--into", "f.gpkg", input: Data(small.utf8),
      folder: folder.url)
    let before = try Data(contentsOf: folder.file("f.gpkg"))
    let program = try await onThread {
      let program = try Tool.start(
        ["import", "map.mbtiles", "--into", "f.gpkg"], folder: folder.url)
      try program.block(for: "its journal") { try files().contains("f.gpkg-journal") }
      program.send(SIGINT)
      return program
    }
    let result = try await program.result()
    #expect([result.error, "\(result.status)"] == ["fieldpack: interrupted\n", "130"])
    #expect(try files() == ["f.gpkg", "map.mbtiles"])
    #expect(try Data(contentsOf: folder.file("f.gpkg")) == before)
  }

  @Test func `a second signal ends at once and leaves nothing either`() async throws {
    try writeLargeFile()
    let program = try await signalImport("large.geojsonl", SIGINT, SIGTERM)
    let result = try await program.result()
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
    let program = try await signalImport("large.geojsonl --mode append", SIGINT)
    let result = try await program.result()
    #expect(result.status == 130)
    #expect(try files() == ["f.gpkg", "large.geojsonl"])
    #expect(try Data(contentsOf: folder.file("f.gpkg")) == before)
  }

  @Test func `a file that may not grow is an error that leaves nothing`() async throws {
    try writeLargeFile()
    let script = #"ulimit -f 500; "$0" import large.geojsonl --into f.gpkg"#
    let new = try await Program.run("bash", ["-c", script, Tool.path], folder: folder.url)
    // SQLite does not always keep the reason until it is asked.
    let lines = [
      "the disk is full; this change was not stored", "reading or writing failed (disk I/O error)",
    ]
    .map { "fieldpack: f.gpkg: \($0)\n" }
    #expect(lines.contains(new.error))
    #expect(new.status == 74)
    #expect(try files() == ["large.geojsonl"])
    let small = #"{"type":"Point","coordinates":[1,2]}"#
    _ = try await Tool.run(
      "import", "-", "--layer", "a", "--into", "f.gpkg", input: Data(small.utf8),
      folder: folder.url)
    let before = try Data(contentsOf: folder.file("f.gpkg"))
    let old = try await Program.run("bash", ["-c", script, Tool.path], folder: folder.url)
    #expect(lines.contains(old.error))
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
    let result = try await interrupted(["sql", "f.gpkg", endless], in: folder.url)
    #expect(result.status == 130)
    #expect(result.error == "fieldpack: interrupted\n")
    #expect(try files() == ["f.gpkg"])
  }
}
