/// How a log entry becomes a line.
public enum LogFormat: String, CaseIterable, Sendable {
  /// `2026-01-31T12:00:00.000Z info import: layer written layer=wells count=3`
  case text
  /// `{"time":"…","level":"info","label":"import","message":"…","layer":"wells","count":3}`
  case json

  /// The line of `entry`, with its line feed. It is one line whatever the entry holds.
  public func line(_ entry: LogEntry, at time: Instant) -> [UInt8] {
    var bytes: [UInt8] = []
    switch self {
    case .text: Self.appendText(entry, time, to: &bytes)
    case .json: Self.appendJSON(entry, time, to: &bytes)
    }
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  private static func appendText(_ entry: LogEntry, _ time: Instant, to bytes: inout [UInt8]) {
    bytes.append(
      contentsOf: "\(time) \(entry.level.rawValue) \(entry.label): \(plain(entry.message))".utf8)
    for (name, value) in entry.metadata {
      bytes.append(contentsOf: " \(plain(name))=".utf8)
      if case .text(let text) = value, !isWord(text) {
        JSONText.append(text, to: &bytes)
      } else {
        bytes.append(contentsOf: value.description.utf8)
      }
    }
  }

  private static func isWord(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        $0 > 0x20 && $0 != 0x22 && $0 != 0x3D && $0 != 0x5C && $0 < 0x7F
      }
  }

  /// The text with control characters as blanks, so that an entry is one line and controls no
  /// terminal.
  private static func plain(_ text: String) -> String {
    let isControl = { (scalar: Unicode.Scalar) in
      scalar.value < 0x20 || 0x7F..<0xA0 ~= scalar.value
    }
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { result.append(isControl(scalar) ? " " : scalar) }
    return String(result)
  }

  private static func appendJSON(_ entry: LogEntry, _ time: Instant, to bytes: inout [UInt8]) {
    append("time", .text(time.description), first: true, to: &bytes)
    append("level", .text(entry.level.rawValue), to: &bytes)
    append("label", .text(entry.label), to: &bytes)
    append("message", .text(entry.message), to: &bytes)
    for (name, value) in entry.metadata { append(name, value, to: &bytes) }
    bytes.append(UInt8(ascii: "}"))
  }

  private static func append(
    _ name: String, _ value: LogValue, first: Bool = false, to bytes: inout [UInt8]
  ) {
    bytes.append(UInt8(ascii: first ? "{" : ","))
    JSONText.append(name, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
    switch value {
    case .text(let text): JSONText.append(text, to: &bytes)
    case .real(let number): JSONText.append(number, to: &bytes)
    case .integer, .boolean: bytes.append(contentsOf: value.description.utf8)
    }
  }
}

/// Writes log lines to an open descriptor, such as standard error.
public struct DescriptorLogHandler: LogHandler {
  private let descriptor: Int32
  private let format: LogFormat
  private let now: @Sendable () -> Instant

  public init(
    descriptor: Int32 = 2, format: LogFormat = .text,
    now: @escaping @Sendable () -> Instant = { .now }
  ) {
    self.descriptor = descriptor
    self.format = format
    self.now = now
  }

  public func log(_ entry: LogEntry) {
    // A failure to write a log is ignored, because it must not stop the work.
    format.line(entry, at: now()).withUnsafeBytes {
      try? FileSystem.write($0, to: descriptor, path: "log")
    }
  }
}
