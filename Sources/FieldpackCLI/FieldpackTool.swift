import Fieldpack
import FieldpackCore
import FieldpackPostGIS
import FieldpackSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The command-line tool.
public enum FieldpackTool {
  public static let version = "0.1.0"

  /// Runs one command line and returns its exit status.
  ///
  /// - Parameter arguments: the words after the tool's name.
  public static func run(arguments: [String]) async -> Int32 {
    let console = earlyConsole(arguments)
    SQLiteLibrary.skipMemoryStatistics()
    StoreRegistry.addToStandard(PostGISStoreType.self)
    do throws(FieldpackError) {
      try StandardDescriptors.holdClosed()
    } catch {
      console.report(error)
      return error.code.exitStatus
    }
    let interruption = Interruption()
    do throws(FieldpackError) {
      if arguments.first == CompletionRequest.word {
        return try await complete(Array(arguments.dropFirst()))
      }
      switch try root.parse(arguments) {
      case .help(let path):
        return try show(HelpText(path, width: console.terminal.width).text)
      case .shortHelp(let path):
        return try show(HelpText(path, width: console.terminal.width, isShort: true).text)
      case .topic(let topic):
        return try show(topic.text(width: console.terminal.width))
      case .manual(let path):
        return try show(ManPage(path).text)
      case .dump(let document):
        return try show(document.text + "\n")
      case .version:
        return try show("fieldpack \(version)\n")
      case .run(let path, let command):
        return try await run(path, command, interruption)
      }
    } catch {
      return finish(error, console, interruption)
    }
  }

  /// For errors that come before the options are known.
  private static func earlyConsole(_ arguments: [String]) -> Console {
    let options = arguments.prefix { $0 != "--" }
    return Console(terminal: .current(), reportsJSON: options.contains("--json"))
  }

  private static func run(
    _ path: [Command], _ command: PreparedCommand, _ interruption: Interruption
  ) async throws(FieldpackError) -> Int32 {
    let console = Console(
      terminal: .current(), isQuiet: command.common.quiet, reportsJSON: command.common.json,
      progressMode: command.common.progress)
    try ProcessLimits.check()
    let logger = try command.common.logger()
    let words = path.map(\.name)
    logger.debug("command begins", ["command": .text(words.joined(separator: " "))])
    let cancellation = CommandCancellation()
    let task = Task.detached { () async -> Result<Int32, FieldpackError> in
      let output = ByteOutput(descriptor: STDOUT_FILENO)
      let invocation = Invocation(
        path: words, common: command.common, console: console, output: output, logger: logger,
        cancellation: cancellation)
      do throws(FieldpackError) {
        let status = try await command.run(invocation)
        try output.flush()
        return .success(status)
      } catch {
        return .failure(error)
      }
    }
    interruption.onFirst { task.cancel() }
    cancellation.onCancel { task.cancel() }
    let result = await task.value
    switch result {
    case .success(let status): logger.debug("command ends", ["status": .integer(Int64(status))])
    case .failure(let error): logger.error("command fails", ["code": .text(error.code.name)])
    }
    return try result.get()
  }

  private static func complete(_ words: [String]) async throws(FieldpackError) -> Int32 {
    try ProcessLimits.check()
    let request = CompletionRequest(root: root, words: words)
    return try show(await request.answer(from: completionValues))
  }

  private static func show(_ text: String) throws(FieldpackError) -> Int32 {
    let output = ByteOutput(descriptor: STDOUT_FILENO)
    output.buffer.append(contentsOf: text.utf8)
    try output.flush()
    return ExitStatus.success
  }

  /// The status of a command that failed, after its error is reported.
  private static func finish(
    _ error: FieldpackError, _ console: Console, _ interruption: Interruption
  ) -> Int32 {
    // Whoever reads our output, as `head` does, has enough of it.
    if let cause = error.underlying as? SystemErrorNumber, cause.isBrokenPipe {
      return ExitStatus.success
    }
    if let signal = interruption.signal {
      console.report(FieldpackError(.interrupted, "interrupted"))
      return 128 + signal
    }
    console.report(error)
    return error.code.exitStatus
  }
}
