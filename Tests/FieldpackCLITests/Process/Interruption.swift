import FieldpackTestSupport
import Foundation

/// Runs the tool, and interrupts it a moment after its command has begun.
func interrupted(_ arguments: [String], in folder: URL) async throws -> RunResult {
  let log = try TemporaryFolder()
  let file = log.file("run.log")
  // On a thread of its own: beside other tests a task may be woken late.
  let program = try await onThread {
    let program = try Tool.start(
      arguments + ["--log-level", "debug", "--log-file", file.path], folder: folder)
    try program.block(for: "its command began") {
      (try? String(contentsOf: file, encoding: .utf8))?.contains("command begins") ?? false
    }
    usleep(100_000)
    program.send(SIGINT)
    return program
  }
  return try await program.result()
}
