import FieldpackCore

/// Lets few downloads run at a time.
final class DownloadTurns: Sendable {
  private struct State {
    var free = 3
    var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    var last = 0
  }

  private let state = Locked(State())

  /// Waits for a turn, which is to be given back.
  ///
  /// - Returns: `false` where the task was cancelled before it had a turn.
  func take() async -> Bool {
    let number = state.withLock { state in
      state.last += 1
      return state.last
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let outcome = state.withLock { state -> Bool? in
          if Task.isCancelled { return false }
          guard state.free == 0 else {
            state.free -= 1
            return true
          }
          state.waiting.append((number, continuation))
          return nil
        }
        if let outcome { continuation.resume(returning: outcome) }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
      }
      waiting?.continuation.resume(returning: false)
    }
  }

  func giveBack() {
    let next = state.withLock { state in
      guard state.waiting.isEmpty else {
        return state.waiting.removeFirst().continuation as Optional
      }
      state.free += 1
      return nil
    }
    next?.resume(returning: true)
  }
}
