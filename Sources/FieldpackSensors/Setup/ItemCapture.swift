/// What the button of an item shows, and what a tap on it does.
///
/// A value without clock and network: it takes what happens and gives what is to be done.
public struct ItemCapture: Hashable, Sendable {
  /// The numbers are wsabi2's.
  public enum State: Int, Hashable, Sendable, CaseIterable {
    case inactive, capture, stop, warning, waiting, waitingRestartCapture

    /// What the button says; `nil` shows the picture of a tap.
    public var message: String? {
      switch self {
      case .inactive: ""
      case .capture: nil
      case .stop: "Stop capture"
      case .warning: "There's a problem communicating with the sensor."
      case .waiting: "Waiting for sensor"
      case .waitingRestartCapture: "Reconnecting to the sensor"
      }
    }

    /// How long the state lasts before its message is shown, so that short waits say nothing.
    public var delay: Duration {
      switch self {
      case .waiting: .seconds(4)
      case .waitingRestartCapture: .seconds(2)
      default: .zero
      }
    }
  }

  public enum Event: Hashable, Sendable {
    case tapped
    /// The link begins to connect or to configure.
    case connecting
    /// The link is ready.
    case connected
    /// What was captured is stored.
    case posted
    /// The sequence of the capture is over.
    case ended
    /// The sensor has stopped as asked.
    case cancelled
    /// - Parameters:
    ///   - status: that of the sensor's answer.
    ///   - message: what the sensor said, where it said anything.
    case failed(status: String, message: String?)
    case askedToClear
    /// The answer to ``ItemCapture/question``.
    case answered(Bool)
    case annotated([Bool])
    case noted(String)
    case closed
  }

  public enum Effect: Hashable, Sendable {
    case startCapture, cancelCapture, reconnect
    /// Shows a question that is answered by yes or no.
    case ask(String)
    case clear
    case annotate([Bool])
    case note(String)
    /// Tells the user of a problem.
    case tell(String)
    /// A problem that nobody waits for.
    case log(String)
  }

  public static let question = "Clear this image?"
  /// What stands below the picture of a tap.
  public static let hint = "Tap to capture"

  public private(set) var state: State
  public private(set) var hasData: Bool
  private var isAsking = false
  private var isClosed = false

  public init(hasData: Bool) {
    self.hasData = hasData
    state = hasData ? .inactive : .capture
  }

  /// Takes what happened.
  public mutating func take(_ event: Event) -> [Effect] {
    guard !isClosed else { return [] }
    switch event {
    case .tapped: return tap()
    case .connecting:
      if state == .capture || state == .warning { state = .waiting }
    case .connected:
      if state == .waiting || state == .waitingRestartCapture || state == .warning {
        state = hasData ? .inactive : .capture
      }
    case .posted:
      hasData = true
      state = .inactive
    case .ended, .cancelled:
      if state == .stop || state == .waiting { state = hasData ? .inactive : .capture }
    case .failed(let status, let message): return fail(message ?? status)
    case .askedToClear:
      guard hasData else { return [] }
      isAsking = true
      return [.ask(Self.question)]
    case .answered(let yes): return answer(yes)
    case .annotated(let parts): return [.annotate(parts)]
    case .noted(let text): return [.note(text)]
    case .closed:
      isClosed = true
      return state == .stop ? [.cancelCapture] : []
    }
    return []
  }

  private mutating func tap() -> [Effect] {
    switch state {
    case .capture:
      state = .stop
      return [.startCapture]
    case .stop:
      state = .waiting
      return [.cancelCapture]
    case .warning:
      state = .waitingRestartCapture
      return [.reconnect]
    case .inactive, .waiting, .waitingRestartCapture: return []
    }
  }

  /// A problem is told only while the user waits for the sensor.
  private mutating func fail(_ what: String) -> [Effect] {
    let text = "Sensor problem: \(what)"
    guard state != .inactive else { return [.log(text)] }
    state = .warning
    return [.tell(text)]
  }

  private mutating func answer(_ yes: Bool) -> [Effect] {
    guard isAsking else { return [] }
    isAsking = false
    guard yes else { return [] }
    hasData = false
    if state == .inactive { state = .capture }
    return [.clear]
  }
}
