import FieldpackCore

/// The options that every command takes.
struct CommonOptions: OptionGroup {
  static let title: String? = "Common options"

  let json: Bool
  let quiet: Bool
  let progress: ProgressMode
  let logLevel: LogLevel?
  let logFile: String?
  let logFormat: LogFormat

  init(_ reader: inout OptionReader) {
    json = reader.flag(
      "json", help: "Print one JSON document, and errors as one on standard error.")
    quiet = reader.flag("quiet", short: "q", help: "Do not print notes on standard error.")
    progress = reader.value(
      "progress", .choice("how"), default: .auto, shownAs: "auto",
      help: "Show progress on standard error.")
    logLevel = reader.value(
      "log-level", .choice("level"),
      help: "Log from this level up, to standard error without --log-file.")
    logFile = reader.value(
      "log-file", .file(), help: "Log to a file; a new one each day, and seven are kept.")
    logFormat = reader.value(
      "log-format", .choice("format"), default: .text, shownAs: "text",
      help: "How log lines look.")
  }

  /// The logger that the options ask for; silent where neither level nor file is given.
  func logger() throws(FieldpackError) -> Logger {
    if let logFile {
      let handler = try FileLogHandler(path: logFile, format: logFormat)
      return Logger(label: "fieldpack", level: logLevel ?? .info, handler: handler)
    }
    guard let logLevel else { return .silent }
    return Logger(
      label: "fieldpack", level: logLevel, handler: DescriptorLogHandler(format: logFormat))
  }
}
