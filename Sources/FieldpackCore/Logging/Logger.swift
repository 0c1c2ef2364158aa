/// How much a log message matters.
public enum LogLevel: String, CaseIterable, Comparable, Sendable {
  case trace, debug, info, notice, warning, error, critical

  var rank: UInt8 {
    switch self {
    case .trace: 0
    case .debug: 1
    case .info: 2
    case .notice: 3
    case .warning: 4
    case .error: 5
    case .critical: 6
    }
  }

  public static func < (a: LogLevel, b: LogLevel) -> Bool { a.rank < b.rank }
}

/// The value of a fact beside a log message.
public enum LogValue: Hashable, Sendable, CustomStringConvertible, ExpressibleByStringLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral
{
  case text(String)
  case integer(Int64)
  case real(Double)
  case boolean(Bool)

  public init(stringLiteral value: String) { self = .text(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .real(value) }
  public init(booleanLiteral value: Bool) { self = .boolean(value) }

  public static func count(_ value: Int) -> LogValue { .integer(Int64(value)) }

  public var description: String {
    switch self {
    case .text(let value): value
    case .integer(let value): "\(value)"
    case .real(let value): "\(value)"
    case .boolean(let value): "\(value)"
    }
  }
}

/// What a logger hands to its handler.
public struct LogEntry: Sendable {
  public let level: LogLevel
  /// The part of the engine that the message comes from.
  public let label: String
  public let message: String
  /// The logger's facts, then the message's, in the order they were given.
  public let metadata: [(name: String, value: LogValue)]

  public init(
    level: LogLevel, label: String, message: String,
    metadata: [(name: String, value: LogValue)] = []
  ) {
    self.level = level
    self.label = label
    self.message = message
    self.metadata = metadata
  }
}

/// Receives log entries. A handler never fails and never blocks for long.
public protocol LogHandler: Sendable {
  func log(_ entry: LogEntry)
}

/// Takes the messages of the engine; silent unless a handler is given.
///
/// A message below the level costs one comparison: its text is not built.
///
/// **Never log** an attribute's value, a geometry, a token, a key or a password, nor SQL with its
/// parameters: logs are sent to other people. Names of files, stores, layers and columns, counts,
/// durations and error codes may be logged.
public struct Logger: Sendable {
  private let handler: (any LogHandler)?
  // The least level that is logged; one above the last level logs nothing.
  private let threshold: UInt8
  public let label: String
  private let metadata: [(name: String, value: LogValue)]

  /// Drops every message.
  public static let silent = Logger(handler: nil, threshold: .max, label: "", metadata: [])

  /// A logger whose messages of `level` and above go to `handler`.
  public init(label: String, level: LogLevel = .info, handler: any LogHandler) {
    self.init(handler: handler, threshold: level.rank, label: label, metadata: [])
  }

  private init(
    handler: (any LogHandler)?, threshold: UInt8, label: String,
    metadata: [(name: String, value: LogValue)]
  ) {
    self.handler = handler
    self.threshold = threshold
    self.label = label
    self.metadata = metadata
  }

  /// The same logger under another label, which adds facts to every message.
  public func labelled(
    _ label: String, _ facts: KeyValuePairs<String, LogValue> = [:]
  ) -> Logger {
    let added = facts.map { (name: $0.key, value: $0.value) }
    return Logger(
      handler: handler, threshold: threshold, label: label, metadata: metadata + added)
  }

  /// Whether messages of `level` are handled at all.
  public func isEnabled(_ level: LogLevel) -> Bool { level.rank >= threshold }

  public func log(
    _ level: LogLevel, _ message: @autoclosure () -> String,
    _ facts: @autoclosure () -> KeyValuePairs<String, LogValue> = [:]
  ) {
    guard level.rank >= threshold, let handler else { return }
    let added = facts().map { (name: $0.key, value: $0.value) }
    handler.log(
      LogEntry(level: level, label: label, message: message(), metadata: metadata + added))
  }
}

extension Logger {
  public func trace(
    _ message: @autoclosure () -> String,
    _ facts: @autoclosure () -> KeyValuePairs<String, LogValue> = [:]
  ) { log(.trace, message(), facts()) }

  public func debug(
    _ message: @autoclosure () -> String,
    _ facts: @autoclosure () -> KeyValuePairs<String, LogValue> = [:]
  ) { log(.debug, message(), facts()) }

  public func info(
    _ message: @autoclosure () -> String,
    _ facts: @autoclosure () -> KeyValuePairs<String, LogValue> = [:]
  ) { log(.info, message(), facts()) }

  public func notice(
    _ message: @autoclosure () -> String,
    _ facts: @autoclosure () -> KeyValuePairs<String, LogValue> = [:]
  ) { log(.notice, message(), facts()) }

  public func warning(
    _ message: @autoclosure () -> String,
    _ facts: @autoclosure () -> KeyValuePairs<String, LogValue> = [:]
  ) { log(.warning, message(), facts()) }

  public func error(
    _ message: @autoclosure () -> String,
    _ facts: @autoclosure () -> KeyValuePairs<String, LogValue> = [:]
  ) { log(.error, message(), facts()) }

  public func critical(
    _ message: @autoclosure () -> String,
    _ facts: @autoclosure () -> KeyValuePairs<String, LogValue> = [:]
  ) { log(.critical, message(), facts()) }
}
