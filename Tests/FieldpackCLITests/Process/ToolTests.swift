import FieldpackTestSupport
import Foundation
import Testing

/// The tool as a process: what everyone sees, whatever the command.
@Suite(.programs) struct ToolTests {
  @Test func `version goes to standard output`() async throws {
    let result = try await Tool.run("--version")
    #expect(result.output == "fieldpack 0.1.0\n")
    #expect(result.error == "")
    #expect(result.status == 0)
  }

  @Test func `first screen has the commands and three examples in 24 lines of 80`() async throws {
    let result = try await Tool.run("--help")
    let lines = result.output.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
    #expect(lines.count <= 24)
    #expect(lines.allSatisfy { $0.count <= 80 })
    #expect(lines.filter { $0.hasPrefix("  fieldpack ") }.count == 3)
    #expect(result.status == 0)
    let bare = try await Tool.run()
    #expect(bare == result)
  }

  private static let commands = [
    "info", "import", "query", "export", "get", "create", "update", "delete", "transform",
    "check", "optimize", "explain", "sql", "track", "monitor", "photo", "capture", "motion",
    "doctor", "completions", "help",
  ]

  @Test func `first screen names every command`() async throws {
    let result = try await Tool.run("help", "--json")
    let parts = result.output.split(separator: #""subcommands":[{"name":""#, maxSplits: 1)
    let names = try #require(parts.last).split(separator: #"},{"name":""#).map { part in
      String(part.prefix { $0 != "\"" })
    }
    let top = names.filter(Self.commands.contains)
    #expect(Set(top) == Set(Self.commands))
    let screen = try await Tool.run("help").output
    for command in Self.commands { #expect(screen.contains(" \(command)")) }
  }

  @Test(arguments: commands)
  func `help of each command fits 80 columns`(command: String) async throws {
    let result = try await Tool.run("help", command)
    #expect(result.status == 0)
    #expect(result.output.hasPrefix("OVERVIEW: "))
    let long = result.output.split(separator: "\n").filter { $0.count > 80 }
    #expect(long == [])
  }

  @Test func `help of a command is the same both ways, and -h a part of it`() async throws {
    let option = try await Tool.run("completions", "--help")
    #expect(try await Tool.run("help", "completions") == option)
    let short = try await Tool.run("completions", "bash", "-h").output
    #expect(short.hasSuffix("\n'fieldpack completions --help' tells all 6 options.\n"))
    #expect(short.count < option.output.count)
    #expect(option.output.hasPrefix("OVERVIEW: Print completions for a shell.\n\nUSAGE: "))
  }

  @Test(arguments: [
    (
      ["completoins"],
      "fieldpack: there is no command 'completoins'. Try: fieldpack completions\n"
    ),
    (["zzz"], "fieldpack: there is no command 'zzz'. Try: fieldpack help\n"),
    (
      ["help", "zzz"], "fieldpack: there is no command 'zzz'. Try: fieldpack help\n"
    ),
    (
      ["completions", "--jsn", "bash"],
      "fieldpack: completions has no option '--jsn'. Try: --json\n"
    ),
    (
      ["completions"], "fieldpack: <shell> is missing. Try: fieldpack help completions\n"
    ),
    (
      ["completions", "bas"],
      "fieldpack: <shell> 'bas' is none of bash, zsh, fish. Try: bash\n"
    ),
    (
      ["completions", "bash", "\u{1b}[31m"],
      "fieldpack: completions has no place for '\\u{1b}[31m'. Try: fieldpack help completions\n"
    ),
  ])
  func `wrong usage ends with 64 and one line`(words: [String], line: String) async throws {
    let result = try await Tool.run(words)
    #expect(result.error == line)
    #expect(result.output == "")
    #expect(result.status == 64)
  }

  @Test func `errors are documents under json`() async throws {
    let result = try await Tool.run("completions", "--json", "bas")
    #expect(
      result.error == """
        {"error":{"code":"invalidArgument","message":"<shell> 'bas' is none of bash, zsh, fish",\
        "store":null,"layer":null,"feature":null,"position":null,"hint":"bash"}}

        """)
    #expect(result.output == "")
    #expect(result.status == 64)
  }

  @Test func `a reader that has enough ends the tool quietly`() async throws {
    let result = try await Program.run(
      "bash", ["-c", #""$0" help --json | head -c 1; echo " ${PIPESTATUS[0]}""#, Tool.path])
    #expect(result.output == "{ 0\n")
    #expect(result.error == "")
    // Here nobody reads at all, so that the first write fails.
    let closed = try await Program.run(
      "bash", ["-c", #"exec {end}> >(exit); wait $!; "$0" help >&$end; echo $?"#, Tool.path])
    #expect(closed.output == "0\n")
    #expect(closed.error == "")
  }

  @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
  func `output that cannot be written is an error`() async throws {
    let result = try await Program.run("bash", ["-c", #""$0" --help > /dev/full"#, Tool.path])
    #expect(
      result.error == "fieldpack: cannot write standard output: No space left on device\n")
    #expect(result.status == 74)
  }

  @Test func `options may stand before the command and after its arguments`() async throws {
    let plain = try await Tool.run("completions", "fish")
    #expect(plain.status == 0)
    #expect(try await Tool.run("--quiet", "completions", "fish", "--progress=none") == plain)
    #expect(try await Tool.run("completions", "--", "fish") == plain)
  }

  @Test func `help follows the width of the terminal`() async throws {
    let result = try await Tool.run("help", "completions", environment: ["COLUMNS": "44"])
    let widest = result.output.split(separator: "\n").filter { !$0.hasPrefix("  ") }
    #expect(widest.allSatisfy { $0.count <= 44 })
  }

  @Test func `commands log what was asked and how it ended`() async throws {
    let folder = try TemporaryFolder()
    let file = folder.file("run.log")
    let result = try await Tool.run(
      "completions", "zsh", "--log-file", file.path, "--log-level", "debug", "--log-format",
      "json")
    #expect(result.error == "")
    let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
    let time = try Regex(#""time":"[^"]*""#)
    #expect(
      lines.map { $0.replacing(time, with: #""time":"""#) } == [
        #"{"time":"","level":"debug","label":"fieldpack","message":"command begins","#
          + #""command":"fieldpack completions"}"#,
        #"{"time":"","level":"debug","label":"fieldpack","message":"command ends","status":0}"#,
      ])
  }

  @Test func `log file that cannot be made is an error`() async throws {
    let folder = try TemporaryFolder()
    let result = try await Tool.run(
      "completions", "zsh", "--log-file", "missing/x.log", folder: folder.url)
    #expect(
      result.error
        == "fieldpack: cannot open the log file missing/x.log: No such file or directory\n")
    #expect(result.status == 73)
  }
}
