public import FieldpackCore

/// The options that every command takes.
public enum CommonOptions {
  public static let json = Option<Bool>.flag(
    "json", help: "Print one JSON document, and errors as one on standard error.")
  public static let quiet = Option<Bool>.flag(
    "quiet", short: "q", help: "Do not print notes on standard error.")
  public static let progress = Option<ProgressMode>.value(
    "progress", .choice("how"), default: .auto, shownAs: "auto",
    help: "Show progress on standard error.")
  public static let logLevel = Option<LogLevel?>.value(
    "log-level", .choice("level"),
    help: "Log from this level up, to standard error without --log-file.")
  public static let logFile = Option<String?>.value(
    "log-file", .file(),
    help: "Log to a file; a new one each day, and seven are kept.")
  public static let logFormat = Option<LogFormat>.value(
    "log-format", .choice("format"), default: .text, shownAs: "text",
    help: "How log lines look.")

  public static let group = OptionGroup(
    "Common options", [json, quiet, progress, logLevel, logFile, logFormat])

  /// The logger that the options ask for; silent where neither level nor file is given.
  static func logger(_ arguments: ParsedArguments) throws(FieldpackError) -> Logger {
    let level = arguments[logLevel]
    let format = arguments[logFormat]
    if let path = arguments[logFile] {
      let handler = try FileLogHandler(path: path, format: format)
      return Logger(label: "fieldpack", level: level ?? .info, handler: handler)
    }
    guard let level else { return .silent }
    return Logger(
      label: "fieldpack", level: level, handler: DescriptorLogHandler(format: format))
  }
}
