import FieldpackCore
public import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What a program that has ended left behind.
public struct RunResult: Sendable, Hashable, CustomStringConvertible {
  /// The exit status, or 128 and the number of the signal that ended the program.
  public let status: Int32
  public let outputBytes: Data
  public let errorBytes: Data

  /// Standard output as UTF-8.
  public var output: String { String(decoding: outputBytes, as: UTF8.self) }
  /// Standard error as UTF-8.
  public var error: String { String(decoding: errorBytes, as: UTF8.self) }

  public var description: String {
    "status \(status)\n--- output\n\(output)\n--- error\n\(error)"
  }
}

/// Why a program gave no result.
public struct RunFailure: Error, CustomStringConvertible {
  public let description: String
}

/// The built tool, run as a process of its own:
///
///     let result = try await Tool.run("info", file.path, "--json")
///     #expect(result.output == "…")
public enum Tool {
  /// `FIELDPACK_TOOL`, else the executable beside the running tests.
  public static let path: String =
    ProcessInfo.processInfo.environment["FIELDPACK_TOOL"] ?? built("fieldpack")

  /// A program or library that was built with the running tests.
  public static func built(_ name: String) -> String {
    let beside = [Bundle.main.bundleURL, Bundle.main.executableURL?.deletingLastPathComponent()]
    let folders = beside.compactMap { $0 } + [Checkout.file(".build/debug")]
    let candidates = folders.map { $0.appendingPathComponent(name).path }
    let found = candidates.first { FileManager.default.isExecutableFile(atPath: $0) }
    return found ?? candidates[candidates.count - 1]
  }

  /// Runs the tool and waits for its end.
  public static func run(
    _ arguments: String..., input: Data? = nil, environment: [String: String] = [:],
    folder: URL? = nil
  ) async throws -> RunResult {
    try await Program.run(
      path, arguments, input: input, environment: environment, folder: folder)
  }

  /// Runs the tool and waits for its end.
  public static func run(
    _ arguments: [String], input: Data? = nil, environment: [String: String] = [:],
    folder: URL? = nil
  ) async throws -> RunResult {
    try await Program.run(
      path, arguments, input: input, environment: environment, folder: folder)
  }

  /// Starts the tool and lets it run, for tests that send signals.
  public static func start(
    _ arguments: [String], input: Data? = nil, environment: [String: String] = [:],
    folder: URL? = nil
  ) throws -> Program {
    try Program(path, arguments, input: input, environment: environment, folder: folder)
  }
}

/// A program that runs as a process of its own, with an environment that the tests know:
/// `PATH`, `HOME`, `TMPDIR` and `LD_LIBRARY_PATH` as here, a UTF-8 locale, a folder of its own for
/// caches and states, and what the test adds.
public final class Program: Sendable {
  private let name: String
  private let scratch: TemporaryFolder
  public let processID: pid_t
  /// Whether somebody has waited for the end, after which the number may be another process's.
  private let isWaitedFor = Locked(false)

  public init(
    _ name: String, _ arguments: [String], input: Data? = nil,
    environment: [String: String] = [:], folder: URL? = nil
  ) throws {
    self.name = name
    Gate.expectPrograms()
    scratch = try TemporaryFolder()
    // A program that ends before it has read its input must not end the tests.
    signal(SIGPIPE, SIG_IGN)
    let variables = Self.environment(environment, cache: scratch.file("cache").path)
    var words = [name] + arguments
    if let folder { words = ["sh", "-c", #"cd "$0" && exec "$@""#, folder.path] + words }
    // Between the making of a pipe and its closing on exec, another child would inherit it.
    Self.spawning.lock()
    defer { Self.spawning.unlock() }
    let pipe = try input.map { _ in try Self.pipe() }
    var spawn = Spawn()
    spawn.redirect(0, to: pipe?.read)
    spawn.redirect(1, toFile: scratch.file("stdout").path)
    spawn.redirect(2, toFile: scratch.file("stderr").path)
    processID = try spawn.run(words, variables)
    if let pipe, let input { Self.feed(input, to: pipe.write, closing: pipe.read) }
  }

  /// A test that fails may drop the program while it runs. A child that nobody waits for keeps the
  /// tests that end a process from seeing the end of theirs.
  deinit { destroy() }

  /// Writes a script of the shell that can be run at once.
  ///
  /// By a process of its own: a child that is started meanwhile would inherit our open descriptor, and
  /// a file that is open for writing cannot be run.
  public static func writeScript(_ text: String, to path: String) async throws {
    let command = #"printf '#!/bin/sh\n%s\n' "$1" > "$0" && chmod 700 "$0""#
    let result = try await run("sh", ["-c", command, path, text])
    guard result.status == 0 else { throw RunFailure(description: "no script: \(result)") }
  }

  private static let spawning = NSLock()

  /// Runs a program, found in `PATH` unless its name has a slash, and waits for its end.
  public static func run(
    _ name: String, _ arguments: [String], input: Data? = nil,
    environment: [String: String] = [:], folder: URL? = nil
  ) async throws -> RunResult {
    let program = try Program(
      name, arguments, input: input, environment: environment, folder: folder)
    return try await program.result()
  }

  /// Sends a signal, unless somebody has waited for the end.
  public func send(_ signal: Int32) {
    isWaitedFor.withLock { isWaitedFor in
      if !isWaitedFor { sendSignal(processID, signal) }
    }
  }

  /// Kills the program after so many seconds, or does nothing where it ends before.
  public func kill(after seconds: Double) async throws {
    let end = Date(timeIntervalSinceNow: seconds)
    while case let rest = end.timeIntervalSinceNow, rest > 0, !hasEnded {
      try await Task.sleep(for: .seconds(min(rest, 0.01)))
    }
    send(SIGKILL)
  }

  /// Waits until `condition` holds, however long that takes; throws where the program ends before.
  public func wait(for what: String, until condition: () throws -> Bool) async throws {
    while try !holds(what, condition) { try await Task.sleep(for: .milliseconds(1)) }
  }

  /// Waits as ``wait(for:until:)`` does, on this thread: who has to act at once after that must not
  /// wait for its turn among other tests.
  public func block(for what: String, until condition: () throws -> Bool) throws {
    while try !holds(what, condition) { usleep(200) }
  }

  private func holds(_ what: String, _ condition: () throws -> Bool) throws -> Bool {
    // Asked first: what a program does before it ends counts.
    let isLast = hasEnded
    if try condition() { return true }
    guard isLast else { return false }
    throw RunFailure(
      description: "\(name) ended before \(what): \(outputSoFar)\n--- error\n\(errorSoFar)")
  }

  /// Whether the program has ended and waits for ``result()``.
  private var hasEnded: Bool {
    var state = siginfo_t()
    let found = waitid(P_PID, id_t(processID), &state, WEXITED | WNOHANG | WNOWAIT)
    return found == 0 && state.si_signo == SIGCHLD
  }

  /// What standard output holds so far.
  public var outputSoFar: String {
    (try? String(contentsOf: scratch.file("stdout"), encoding: .utf8)) ?? ""
  }

  /// What standard error holds so far.
  public var errorSoFar: String {
    (try? String(contentsOf: scratch.file("stderr"), encoding: .utf8)) ?? ""
  }

  /// Waits for the end, however long that takes.
  public func result() async throws -> RunResult {
    var pause: UInt64 = 1_000_000
    while true {
      var status: Int32 = 0
      let ended = isWaitedFor.withLock { isWaitedFor in
        let ended = waitpid(processID, &status, WNOHANG)
        if ended != 0 { isWaitedFor = true }
        return ended
      }
      if ended == processID { return try result(status) }
      guard ended == 0 else { throw RunFailure(description: "\(name) cannot be waited for") }
      try await Task.sleep(nanoseconds: pause)
      pause = min(pause * 2, 4_000_000)
    }
  }

  /// Kills the program and waits for its end, which is soon. Does nothing where somebody has waited.
  public func destroy() {
    isWaitedFor.withLock { isWaitedFor in
      guard !isWaitedFor else { return }
      isWaitedFor = true
      sendSignal(processID, SIGKILL)
      var status: Int32 = 0
      while waitpid(processID, &status, 0) < 0, errno == EINTR {}
    }
  }

  private func result(_ status: Int32) throws -> RunResult {
    let signal = status & 0x7F
    return RunResult(
      status: signal == 0 ? (status >> 8) & 0xFF : 128 + signal,
      outputBytes: try Data(contentsOf: scratch.file("stdout")),
      errorBytes: try Data(contentsOf: scratch.file("stderr")))
  }

  private static func environment(
    _ added: [String: String], cache: String
  ) -> [String: String] {
    let own = ProcessInfo.processInfo.environment
    var result = ["LANG": "C.UTF-8", "XDG_CACHE_HOME": cache, "XDG_STATE_HOME": cache]
    for name in ["PATH", "HOME", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"] {
      result[name] = own[name]
    }
    return result.merging(added) { $1 }
  }

  private static func pipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [0, 0]
    guard makePipe(&ends) == 0 else { throw RunFailure(description: "no pipe: errno \(errno)") }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
  }

  /// Writes from a thread of its own, since a pipe holds only 64 KiB.
  private static func feed(_ input: Data, to descriptor: Int32, closing other: Int32) {
    close(other)
    Thread.detachNewThread {
      try? FileHandle(fileDescriptor: descriptor, closeOnDealloc: true).write(contentsOf: input)
    }
  }
}

/// `kill(2)` and `pipe(2)`, out of the way of the methods of these names.
private func sendSignal(_ process: pid_t, _ signal: Int32) { kill(process, signal) }
private func makePipe(_ ends: inout [Int32]) -> Int32 { pipe(&ends) }
