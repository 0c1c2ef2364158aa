import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// What the tool writes to: terminals or not, how wide, and what they can show.
struct Terminal: Sendable {
  var isInputTerminal: Bool
  var isOutputTerminal: Bool
  var isErrorTerminal: Bool
  /// The cells of a line, of the terminal or as `COLUMNS` says, else 80.
  var width: Int
  /// Whether ornaments beyond ASCII may be drawn.
  var usesUnicode: Bool
  /// Whether colour may be used on standard output: on a terminal, unless `NO_COLOR` is set or
  /// `TERM` is `dumb`.
  var usesColor: Bool

  init(
    isInputTerminal: Bool = false, isOutputTerminal: Bool = false, isErrorTerminal: Bool = false,
    width: Int = 80, usesUnicode: Bool = true, usesColor: Bool = false
  ) {
    self.isInputTerminal = isInputTerminal
    self.isOutputTerminal = isOutputTerminal
    self.isErrorTerminal = isErrorTerminal
    self.width = width
    self.usesUnicode = usesUnicode
    self.usesColor = usesColor
  }

  /// The width that tables are cut to; `nil`, do not cut, where output is no terminal.
  var cutWidth: Int? { isOutputTerminal ? width : nil }

  /// The terminal of this process.
  static func current() -> Terminal {
    let isOutput = isTerminal(STDOUT_FILENO)
    let isError = isTerminal(STDERR_FILENO)
    let hasColor = isOutput && variable("NO_COLOR") == nil && variable("TERM") != "dumb"
    return Terminal(
      isInputTerminal: isTerminal(STDIN_FILENO), isOutputTerminal: isOutput,
      isErrorTerminal: isError, width: currentWidth(isOutput, isError),
      usesUnicode: localeIsUTF8(), usesColor: hasColor)
  }

  /// Whether the descriptor is a terminal.
  static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

  /// The value of an environment variable that is set and not empty.
  static func variable(_ name: String) -> String? {
    Environment.value(name).flatMap { $0.isEmpty ? nil : $0 }
  }

  private static func currentWidth(_ isOutput: Bool, _ isError: Bool) -> Int {
    let descriptor = isOutput ? STDOUT_FILENO : STDERR_FILENO
    var size = winsize()
    if isOutput || isError, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 {
      return Int(size.ws_col)
    }
    guard let columns = variable("COLUMNS").flatMap({ Int($0) }), columns > 0 else { return 80 }
    return min(columns, 10_000)
  }

  private static func localeIsUTF8() -> Bool {
    let locale = variable("LC_ALL") ?? variable("LC_CTYPE") ?? variable("LANG") ?? ""
    let name = locale.lowercased()
    return name.contains("utf-8") || name.contains("utf8")
  }
}
