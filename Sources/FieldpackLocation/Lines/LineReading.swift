package import FieldpackCore

/// One reading of lines, on a thread of its own that works when it is asked and else sleeps.
package final class LineReading<Element: Sendable>: Sendable {
  /// Gives what comes next, never nothing; `nil` is the end.
  package typealias Next = () throws(FieldpackError) -> [Element]?

  private typealias Answer = Result<[Element]?, FieldpackError>
  private typealias Request = CheckedContinuation<Answer, Never>

  private struct State {
    var request: Request?
    var isStarted = false
    var isClosed = false
  }

  private let state = Locked(State())
  private let stop = StopSignal()
  private let make: @Sendable (StopSignal) -> Next

  /// - Parameter make: called on the thread.
  package init(_ make: @escaping @Sendable (StopSignal) -> Next) { self.make = make }

  deinit { state.change { $0.isClosed = true } }

  package func next() async throws(FieldpackError) -> [Element]? {
    let answer: Answer = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in ask(continuation) }
    } onCancel: {
      stop.raise()
    }
    return try answer.get()
  }

  private func ask(_ continuation: Request) {
    let needsThread = state.change { state in
      precondition(state.request == nil, "one task at a time takes updates")
      state.request = continuation
      defer { state.isStarted = true }
      return !state.isStarted
    }
    guard needsThread else { return }
    let (state, stop, make) = (state, stop, make)
    let isRunning = SystemThread.start { Self.work(state, make(stop)) }
    guard !isRunning else { return }
    let request = state.change { state in
      state.isStarted = false
      defer { state.request = nil }
      return state.request
    }
    request?.resume(returning: .failure(SystemThread.shortage))
  }

  private static func work(_ state: Locked<State>, _ next: Next) {
    while let request = nextRequest(state) {
      request.resume(returning: Result { () throws(FieldpackError) in try next() })
    }
  }

  private static func nextRequest(_ state: Locked<State>) -> Request? {
    state.wait { state -> Request?? in
      if state.isClosed { return .some(nil) }
      guard let request = state.request else { return nil }
      state.request = nil
      return request
    }
  }
}
