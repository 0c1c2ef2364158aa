import FieldpackTestSupport
import Foundation
import Testing

/// The tool started with standard descriptors closed, as by `<&-` and `>&-`.
@Suite(.programs) final class ClosedDescriptorTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    _ = try folder.write("name,lon,lat\nMitte,13.4,52.5\n", to: "wells.csv")
  }

  /// Runs the tool with `redirections` of the shell.
  private func tool(_ words: String, _ redirections: String) async throws -> RunResult {
    try await Program.run(
      "sh", ["-c", "\"$0\" \(words) \(redirections)", Tool.path], folder: folder.url)
  }

  private static let closed: [(words: String, redirections: String, Int32, error: String)] = [
    (
      "import - --layer a --into f.gpkg", "<&-", 74,
      "fieldpack: cannot read standard input: Bad file descriptor\n"
    ),
    (
      "--version", ">&-", 74, "fieldpack: cannot write standard output: Bad file descriptor\n"
    ),
    (
      "info wells.csv --no-cache", "<&- >&-", 74,
      "fieldpack: cannot write standard output: Bad file descriptor\n"
    ),
    ("--version", "<&- >&- 2>&-", 74, ""),
    ("info wells.csv --no-cache", "2>&-", 0, ""),
  ]

  @Test(arguments: closed.indices)
  func `a closed descriptor is no file of the tool's`(index: Int) async throws {
    let (words, redirections, status, error) = Self.closed[index]
    let result = try await tool(words, redirections)
    #expect(result.status == status)
    #expect(result.error == error)
  }

  @Test func `a recording whose report goes nowhere is whole`() async throws {
    let lines = (0..<6_000).map { number in
      #"{"longitude":\#(13 + Double(number) / 1e4),"latitude":52,"time":"#
        + #"\#(1_700_000_000 + number)}"#
    }
    _ = try folder.write(lines.joined(separator: "\n") + "\n", to: "fixes.jsonl")
    let result = try await tool(
      "track record fixes.jsonl --into t.gpkg --sampling all --name walk", "<&- >&-")
    #expect(result.error == "fieldpack: cannot write standard output: Bad file descriptor\n")
    #expect(result.status == 74)
    let counted = try await Tool.run(
      "sql", "t.gpkg", "SELECT count(*) AS n FROM track_point", "--format", "csv",
      folder: folder.url)
    #expect(counted.output == "n\r\n6000\r\n", "\(result) \(counted.error)")
    let followed = try await tool(
      "track record fixes.jsonl --into f.gpkg --sampling all --follow", "<&- >&-")
    #expect(followed.error == result.error)
    #expect(followed.status == 74)
  }
}
