import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How progress is shown.
enum ProgressMode: String, CaseIterable, Sendable {
  /// A bar where standard error is a terminal, else nothing.
  case auto
  case bar
  /// A line each ten seconds.
  case plain
  case none
}

/// What progress counts.
enum ProgressUnit: Sendable {
  case bytes, features, tiles
}

/// How far a task has come, shown on standard error once it has lasted a second.
final class ProgressDisplay: Sendable {
  private struct State {
    var begun: Double
    var shown: Double
    var isFinished = false
  }

  private let title: String
  private let total: Int?
  private let unit: ProgressUnit
  private let console: Console
  private let mode: ProgressMode
  private let now: @Sendable () -> Double
  private let state: Locked<State>

  private static let delay = 1.0
  private static let barInterval = 0.1
  private static let lineInterval = 10.0

  /// - Parameters:
  ///   - total: what `completed` will be in the end, where that is known.
  ///   - now: seconds of a clock that never goes back.
  init(
    _ title: String, total: Int?, unit: ProgressUnit, console: Console,
    now: @escaping @Sendable () -> Double = ProgressDisplay.seconds
  ) {
    self.title = DisplayText.visible(title)
    self.total = total.flatMap { $0 > 0 ? $0 : nil }
    self.unit = unit
    self.console = console
    self.now = now
    mode = Self.effective(console)
    let start = now()
    state = Locked(State(begun: start, shown: start))
  }

  private static func effective(_ console: Console) -> ProgressMode {
    guard console.progressMode == .auto else { return console.progressMode }
    return console.terminal.isErrorTerminal && !console.isQuiet ? .bar : .none
  }

  /// Seconds since some moment.
  static let seconds: @Sendable () -> Double = {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// Says how far the task has come; cheap enough for every batch.
  func update(_ completed: Int) {
    guard mode == .bar || mode == .plain else { return }
    let time = now()
    let elapsed: Double? = state.withLock { state in
      let interval = mode == .bar ? Self.barInterval : Self.lineInterval
      let isDue = time - state.begun >= Self.delay && time - state.shown >= interval
      guard isDue, !state.isFinished else { return nil }
      state.shown = time
      return time - state.begun
    }
    guard let elapsed else { return }
    let facts = facts(completed, elapsed)
    if mode == .plain {
      console.write("\(title): \(facts)\n")
    } else {
      console.draw(bar: bar(completed, facts))
    }
  }

  /// Takes the bar away.
  func finish() {
    state.withLock { $0.isFinished = true }
    if mode == .bar { console.draw(bar: nil) }
  }

  deinit { finish() }

  /// ` 45%  12.3 MB/s  ETA 0:12`, or without a total `1.2 GB  12.3 MB/s`.
  private func facts(_ completed: Int, _ elapsed: Double) -> String {
    let rate = elapsed > 0 ? Double(completed) / elapsed : 0
    let speed = Self.amount(rate, unit) + "/s"
    guard let total else { return "\(Self.amount(Double(completed), unit))  \(speed)" }
    let done = min(completed, total)
    let percent = Int(Double(done) / Double(total) * 100)
    let left = rate > 0 ? Self.duration(Double(total - done) / rate) : "-:--"
    return "\(DisplayText.pad("\(percent)%", to: 4, leading: true))  \(speed)  ETA \(left)"
  }

  private func bar(_ completed: Int, _ facts: String) -> String {
    let width = console.terminal.width - 1
    let name = DisplayText.cut(title, to: max(8, width / 3))
    guard let total else { return DisplayText.cut("\(name)  \(facts)", to: width) }
    let room = min(40, width - DisplayText.width(name) - DisplayText.width(facts) - 6)
    guard room >= 5 else { return DisplayText.cut("\(name)  \(facts)", to: width) }
    let filled = Int(Double(min(completed, total)) / Double(total) * Double(room))
    let (full, empty) = console.terminal.usesUnicode ? ("█", "░") : ("#", ".")
    let drawn =
      String(repeating: full, count: filled) + String(repeating: empty, count: room - filled)
    return "\(name)  [\(drawn)] \(facts)"
  }

  /// So many bytes, such as `12.3 MB`.
  static func amount(_ bytes: Int) -> String { amount(Double(bytes), .bytes) }

  /// `12.3 MB`, `450 tiles`, `1.2 M features`.
  static func amount(_ value: Double, _ unit: ProgressUnit) -> String {
    var scaled = value
    var prefix = 0
    while scaled >= 999.5, prefix < 4 {
      scaled /= 1000
      prefix += 1
    }
    let letter = ["", "k", "M", "G", "T"][prefix]
    let tenths = Int((scaled * 10).rounded())
    let number =
      prefix == 0 || scaled >= 99.95
      ? "\(Int(scaled.rounded()))" : "\(tenths / 10).\(tenths % 10)"
    switch unit {
    case .bytes: return "\(number) \(letter)B"
    case .features: return "\(number)\(letter.isEmpty ? "" : " " + letter) features"
    case .tiles: return "\(number)\(letter.isEmpty ? "" : " " + letter) tiles"
    }
  }

  /// `0:12`, `1:02:03`.
  static func duration(_ seconds: Double) -> String {
    guard seconds.isFinite, seconds < 360_000 else { return "-:--" }
    let whole = Int(seconds.rounded(.up))
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    let twoDigits = { (value: Int) in value < 10 ? "0\(value)" : "\(value)" }
    let tail = "\(hours > 0 ? twoDigits(minutes) : "\(minutes)"):\(twoDigits(rest))"
    return hours > 0 ? "\(hours):\(tail)" : tail
  }
}
