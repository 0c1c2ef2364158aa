import FieldpackCore

/// Standard error: notes, errors and the progress bar, which never run into each other.
final class Console: Sendable {
  let terminal: Terminal
  /// Whether notes are silenced.
  let isQuiet: Bool
  /// Whether errors are JSON documents.
  let reportsJSON: Bool
  let progressMode: ProgressMode
  private let descriptor: Int32
  /// Whether the last line is a bar that the next text must take the place of.
  private let hasBar = Locked(false)

  init(
    terminal: Terminal, isQuiet: Bool = false, reportsJSON: Bool = false,
    progressMode: ProgressMode = .auto, descriptor: Int32 = 2
  ) {
    self.terminal = terminal
    self.isQuiet = isQuiet
    self.reportsJSON = reportsJSON
    self.progressMode = progressMode
    self.descriptor = descriptor
  }

  /// A remark that is no error, unless notes are silenced.
  func note(_ text: String) {
    if !isQuiet { write("note: \(DisplayText.visible(text))\n") }
  }

  /// The error that ends the command, in one line.
  func report(_ error: FieldpackError) {
    let report = ErrorReport(error)
    write(reportsJSON ? report.document.text + "\n" : report.line)
  }

  /// Whole lines.
  func write(_ lines: String) {
    hasBar.withLock { hasBar in
      send(hasBar ? Self.clearing + lines : lines)
      hasBar = false
    }
  }

  /// Draws the bar over the one before; `nil` takes it away.
  func draw(bar: String?) {
    hasBar.withLock { hasBar in
      if let bar {
        send(Self.clearing + bar)
      } else if hasBar {
        send(Self.clearing)
      }
      hasBar = bar != nil
    }
  }

  private static let clearing = "\r\u{1b}[K"

  /// A message that cannot be delivered is no reason to fail.
  private func send(_ text: String) {
    try? FileSystem.write(text.utf8Span.span.bytes, to: descriptor, path: "standard error")
  }
}
