/// A note, warning or error about a config, with its position.
public struct ConfigDiagnostic: Hashable, Sendable, CustomStringConvertible {
  public enum Severity: String, Hashable, Sendable, CaseIterable {
    /// For information.
    case note
    /// Probably not what was meant.
    case warning
    /// An entry that cannot be used.
    case error
  }

  public var severity: Severity
  public var file: String
  /// 1-based.
  public var line: Int
  /// 1-based, in bytes.
  public var column: Int
  public var message: String

  public init(_ severity: Severity, file: String, line: Int, column: Int, _ message: String) {
    self.severity = severity
    self.file = file
    self.line = line
    self.column = column
    self.message = message
  }

  public var description: String {
    "\(file):\(line):\(column): \(severity.rawValue): \(message)"
  }
}
