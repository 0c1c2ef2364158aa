import FieldpackCore
import FieldpackTestSupport
import Foundation
import Testing

@testable import FieldpackMedia

@Suite struct ChildProcessTests {
  private func run(
    _ script: String, _ limits: ChildProcess.Limits = .init(), input: Int32? = nil
  ) async throws -> ChildProcess.Result {
    var child = ChildProcess(program: "/bin/sh", arguments: ["-c", script], limits: limits)
    child.input = input
    return try await child.run()
  }

  private func limits(_ change: (inout ChildProcess.Limits) -> Void) -> ChildProcess.Limits {
    var limits = ChildProcess.Limits()
    change(&limits)
    return limits
  }

  private func text(_ result: ChildProcess.Result) -> String {
    String(decoding: result.output, as: UTF8.self)
  }

  @Test func `status, output and errors are told`() async throws {
    #expect(
      try await run("echo out; echo err >&2; exit 3")
        == .init(end: .exited(3), output: Array("out\n".utf8), errors: "err\n"))
    #expect(try await run("kill -TERM $$").end == .signalled(SIGTERM))
  }

  @Test func `arguments go past every shell`() async throws {
    let words = ["$(id)", "; echo x", "a b", "", "ü'\"\\"]
    let child = ChildProcess(program: "/usr/bin/printf", arguments: ["[%s]"] + words)
    #expect(text(try await child.run()) == words.map { "[\($0)]" }.joined())
  }

  @Test func `environment, input, folder and descriptors are the child's own`() async throws {
    setenv("FIELDPACK_TEST_SECRET", "x", 1)
    let open = try (0..<20).map { _ in
      try FileHandle(forReadingFrom: URL(fileURLWithPath: "/dev/null"))
    }
    let result = try await run("cat; pwd; env | grep -v ^PWD= | sort; ulimit -c; ls /proc/$$/fd")
    #expect(
      text(result)
        == "/\nLC_ALL=C\nPATH=/usr/local/bin:/usr/bin:/bin\n0\n0\n1\n2\n")
    #expect(open.count == 20)
  }

  @Test func `a file that is given is read as descriptor 3`() async throws {
    let folder = try TemporaryFolder()
    let file = try FileHandle(forReadingFrom: try folder.write("content", to: "a"))
    let result = try await run("cat /dev/fd/3; cat <&3", input: file.fileDescriptor)
    #expect(text(result) == "contentcontent")
  }

  @Test func `a program that does not end is ended, with all that it started`() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("pids").path
    let result = try await run(
      "sleep 600 & echo $! >&3; echo x; sleep 600",
      limits {
        $0.time = 1
        $0.fileSize = 1000
      }, input: open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600))
    #expect(result.end == .tookTooLong)
    #expect(text(result) == "x\n")
    let process = try #require(
      pid_t(try String(contentsOfFile: path, encoding: .utf8).dropLast()))
    var isGone = false
    for _ in 0..<500 where !isGone {
      // A child of a child is waited for by others, and stays a while.
      let state = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      isGone = state.map { $0.contains(") Z ") } ?? true
      usleep(10_000)
    }
    #expect(isGone)
  }

  @Test func `a program that closes its output and goes on is ended`() async throws {
    let result = try await run("exec >&- 2>&-; sleep 600", limits { $0.time = 0.5 })
    #expect(result == .init(end: .tookTooLong, output: [], errors: ""))
  }

  @Test func `a program that writes without end is ended`() async throws {
    let result = try await run("yes", limits { $0.output = 100_000 })
    #expect(result.end == .wroteTooMuch)
    #expect(result.output.count <= 100_000)
  }

  @Test func `errors without end are read, and few are kept`() async throws {
    let result = try await run("yes | head -c 1000000 >&2; echo done")
    #expect(result.end == .exited(0))
    #expect(text(result) == "done\n")
    #expect(result.errors == String(repeating: "y\n", count: 2048))
  }

  @Test func `time of the processor, memory and files are limited`() async throws {
    let busy = try await run("while :; do :; done", limits { $0.cpuSeconds = 1 })
    #expect([.signalled(SIGKILL), .signalled(SIGXCPU)].contains(busy.end))
    let folder = try TemporaryFolder()
    let path = folder.file("a").path
    let writing = try await run("echo more >'\(path)' || exit 5")
    #expect([.exited(5), .signalled(SIGXFSZ)].contains(writing.end))
    #expect(try String(contentsOfFile: path, encoding: .utf8).isEmpty)
    let memory = try await run("ulimit -v", limits { $0.addressSpace = 1 << 30 })
    #expect(text(memory) == "1048576\n")
  }

  @Test func `cancelling the task ends the program`() async throws {
    let task = Task { try await run("sleep 600") }
    try await Task.sleep(for: .milliseconds(50))
    task.cancel()
    let error = await #expect(throws: FieldpackError.self) { try await task.value }
    #expect(error?.code == .interrupted)
  }

  @Test(arguments: ["/no/such/program", "/etc/passwd", "/"])
  func `a program that cannot be run is named`(program: String) async throws {
    let error = await #expect(throws: FieldpackError.self) {
      try await ChildProcess(program: program, arguments: []).run()
    }
    #expect(error?.code == .unavailable)
    #expect(error?.message.hasPrefix("cannot run \(program): ") == true)
  }
}
