import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A line that a person types at the terminal of this process, or that stands in a descriptor.
enum TypedLine {
  private static let maximumLength = 4_096

  /// Asks at the terminal, whatever standard input and output are.
  ///
  /// - Parameter isHidden: whether the terminal does not show what is typed.
  /// - Returns: `nil` where there is no terminal.
  static func ask(
    _ question: String, isHidden: Bool = false
  ) throws(FieldpackError) -> String? {
    let terminal = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
    guard terminal >= 0 else { return nil }
    defer { close(terminal) }
    let text = DisplayText.visible(question)
    guard isHidden else {
      try write(text, to: terminal)
      return try read(terminal, "the terminal")
    }
    return try hiding(terminal) { () throws(FieldpackError) in
      try write(text, to: terminal)
      return try read(terminal, "the terminal")
    }
  }

  private static func write(_ text: String, to terminal: Int32) throws(FieldpackError) {
    try FileSystem.write(text.utf8Span.span.bytes, to: terminal, path: "the terminal")
  }

  /// Runs `body` while the terminal does not show what is typed, and begins a line after it.
  private static func hiding<R>(
    _ terminal: Int32, _ body: () throws(FieldpackError) -> R
  ) throws(FieldpackError) -> R {
    // Hidden before a question is there, so that nothing is shown of an early answer.
    try HiddenTyping.begin(terminal)
    defer {
      HiddenTyping.end()
      try? write("\n", to: terminal)
    }
    return try body()
  }

  /// The first line of what a descriptor gives, which is not shown where it is a terminal.
  static func readHidden(
    _ descriptor: Int32, _ name: String
  ) throws(FieldpackError) -> String {
    guard Terminal.isTerminal(descriptor) else { return try read(descriptor, name) }
    return try hiding(descriptor) { () throws(FieldpackError) in try read(descriptor, name) }
  }

  /// The first line of what a descriptor gives; what comes after it is left there.
  private static func read(
    _ descriptor: Int32, _ name: String
  ) throws(FieldpackError) -> String {
    var bytes: [UInt8] = []
    while true {
      repeat { try checkCancellation() } while !isReady(descriptor)
      var byte: UInt8 = 0
      let count = readByte(descriptor, &byte)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      guard count >= 0 else { throw .system(errno, "read", name) }
      if count == 0 || byte == UInt8(ascii: "\n") { break }
      bytes.append(byte)
      guard bytes.count <= maximumLength else {
        throw FieldpackError(.invalidArgument, "the line from \(name) is too long")
      }
    }
    if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
    guard let line = String(validating: bytes, as: UTF8.self), !line.isEmpty else {
      throw FieldpackError(
        .invalidArgument,
        "\(name) gives \(bytes.isEmpty ? "nothing" : "a line that is not UTF-8")")
    }
    return line
  }

  /// Whether a read would return at once; a signal is noticed ten times a second.
  private static func isReady(_ descriptor: Int32) -> Bool {
    var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 100) != 0
  }
}

/// The terminal while it does not show what is typed.
enum HiddenTyping {
  private struct Before: Sendable {
    let terminal: Int32
    let state: termios
  }

  private static let before = Locked<Before?>(nil)
  /// `_POSIX_VDISABLE`: what stands for a key that there is none for.
  #if canImport(Glibc)
    private static let noKey: UInt8 = 0
  #else
    private static let noKey: UInt8 = 0xFF
  #endif

  /// Forgets what was typed before, and shows nothing from now on.
  static func begin(_ terminal: Int32) throws(FieldpackError) {
    var state = termios()
    guard tcgetattr(terminal, &state) == 0 else { throw .system(errno, "read", "the terminal") }
    before.withLock { $0 = Before(terminal: terminal, state: state) }
    state.c_lflag &= ~tcflag_t(ECHO | ECHOE | ECHOK | ECHONL)
    // Who suspends or aborts the tool would be left with a terminal that shows nothing.
    withUnsafeMutableBytes(of: &state.c_cc) { keys in
      for key in [VSUSP, VQUIT] { keys[Int(key)] = noKey }
    }
    guard tcsetattr(terminal, TCSAFLUSH, &state) == 0 else {
      throw .system(errno, "write to", "the terminal")
    }
  }

  /// Brings back what was; may be called from any thread, and where nothing is hidden.
  static func end() {
    before.withLock { before in
      guard var state = before?.state, let terminal = before?.terminal else { return }
      tcsetattr(terminal, TCSAFLUSH, &state)
      before = nil
    }
  }
}

/// `read(2)`, out of the way of the method of that name.
private func readByte(_ descriptor: Int32, _ byte: inout UInt8) -> Int {
  read(descriptor, &byte, 1)
}
