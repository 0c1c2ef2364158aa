import Fieldpack
import FieldpackCore

/// The exit statuses that are no error's.
enum ExitStatus {
  static let success: Int32 = 0
  static let failure: Int32 = 1
  /// Completed, but features were passed over as `--skip-errors` asks.
  static let skippedFeatures: Int32 = 2
}

/// Everything a command works with.
struct Invocation {
  /// The words that lead to the command.
  let path: [String]
  let common: CommonOptions
  /// Standard error and what is known of the terminal.
  let console: Console
  /// Standard output.
  let output: ByteOutput
  let logger: Logger
  let cancellation: CommandCancellation

  /// Whether one JSON document is printed, and nothing for people.
  var isJSON: Bool { common.json }

  /// Writes text to standard output.
  func print(_ text: String) throws(FieldpackError) {
    output.buffer.append(contentsOf: text.utf8)
    try output.flushIfFull()
  }

  /// Writes a table of rows to standard output.
  func printTable(_ columns: [TableColumn], _ rows: [[String]]) throws(FieldpackError) {
    try print(
      TextTable.text(
        columns, rows, width: console.terminal.cutWidth,
        usesUnicode: console.terminal.usesUnicode))
  }

  /// Tells how many rows of each layer were deleted.
  func print(_ deleted: DeletedFeatures) throws(FieldpackError) {
    if isJSON {
      try print([
        "deleted": .array(
          deleted.layers.map {
            ["layer": .text($0.layer.rawValue), "feature_count": JSONValue($0.count)]
          })
      ])
    } else {
      let parts = deleted.layers.map { "\($0.layer) \($0.count)" }
      try print("deleted features: \(parts.isEmpty ? "none" : parts.joined(separator: ", "))\n")
    }
  }

  /// Writes the one document of `--json`.
  func print(_ document: JSONValue) throws(FieldpackError) {
    document.append(to: &output.buffer)
    output.buffer.append(UInt8(ascii: "\n"))
    try output.flushIfFull()
  }
}
