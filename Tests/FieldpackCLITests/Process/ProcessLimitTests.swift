import FieldpackTestSupport
import Foundation
import Testing

/// The tool where the system gives it less than every command needs.
@Suite(.programs) final class ProcessLimitTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    _ = try folder.write("name,lon,lat\nMitte,13.4,52.5\n", to: "wells.csv")
  }

  /// Closes what the tests may have left open for their children, which counts towards the limit.
  private func tool(_ words: String, limit: String) async throws -> RunResult {
    let script = """
      for number in {3..99}; do eval "exec $number>&-"; done
      ulimit \(limit) && exec "$0" \(words)
      """
    return try await Program.run(
      "bash", ["-c", script, Tool.path], folder: folder.url)
  }

  private static let commands = [
    "info wells.csv --no-cache", "import wells.csv --into f.gpkg", "doctor",
    "query wells.csv --no-cache --count", "--complete bash query wells.csv",
  ]

  // The dynamic linker needs descriptors, too, and ends below a few.
  @Test(arguments: commands, [4, 5, 7, 9, 12, 16, 20, 24])
  func `too few open files are an error before the work`(
    words: String, files: Int
  ) async throws {
    let result = try await tool(words, limit: "-n \(files)")
    #expect(
      result.error == """
        fieldpack: the limit of open files (\(files)) is too low: a command needs 24 beside those it \
        was started with. Try: ulimit -n 256

        """)
    #expect(result.status == 69)
    #expect(result.output == "")
    #expect(try names() == ["wells.csv"])
  }

  @Test func `forty open files are enough for an import`() async throws {
    let result = try await tool("import wells.csv --into f.gpkg", limit: "-n 40")
    #expect(result.status == 0, "\(result.error)")
  }

  // Stacks of a terabyte, which no thread can have, stand for a system without threads.
  @Test(arguments: commands)
  func `no thread to be had is an error before the work`(words: String) async throws {
    let result = try await tool(words, limit: "-s 1000000000")
    #expect(
      result.error.hasPrefix("fieldpack: no thread could be started: a limit of "), "\(result)")
    #expect(result.status == 69)
    #expect(try names() == ["wells.csv"])
  }

  @Test(arguments: ["-n 5", "-s 1000000000"])
  func `help and version need neither`(limit: String) async throws {
    let result = try await tool("--version", limit: limit)
    #expect(result.output == "fieldpack 0.1.0\n")
    #expect(result.status == 0)
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted()
  }
}
