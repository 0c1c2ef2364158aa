public import FieldpackCore

/// The exit statuses that are no error's.
public enum ExitStatus {
  public static let success: Int32 = 0
  public static let failure: Int32 = 1
  /// Completed, but features were passed over as `--skip-errors` asks.
  public static let skippedFeatures: Int32 = 2
}

/// Everything a command works with.
public struct Invocation {
  /// The words that lead to the command.
  public let path: [String]
  public let arguments: ParsedArguments
  /// Standard error and what is known of the terminal.
  public let console: Console
  /// Standard output.
  public let output: ByteOutput
  public let logger: Logger
  let cancellation: CommandCancellation

  /// Writes text to standard output.
  public func print(_ text: String) throws(FieldpackError) {
    output.buffer.append(contentsOf: text.utf8)
    try output.flushIfFull()
  }

  /// Writes the one document of `--json`.
  package func print(_ document: JSONValue) throws(FieldpackError) {
    document.append(to: &output.buffer)
    output.buffer.append(UInt8(ascii: "\n"))
    try output.flushIfFull()
  }
}
