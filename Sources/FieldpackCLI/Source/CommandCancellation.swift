import FieldpackCore

/// Ends the command's own task from anywhere, as an interruption by the user does.
final class CommandCancellation: Sendable {
  private struct State {
    var isAsked = false
    var action: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  /// Says how the task is cancelled, and does so where that was asked for already.
  func onCancel(_ action: @escaping @Sendable () -> Void) {
    let isAsked = state.withLock { state in
      state.action = action
      return state.isAsked
    }
    if isAsked { action() }
  }

  func cancel() {
    let action = state.withLock { state in
      state.isAsked = true
      return state.action
    }
    action?()
  }
}

extension Invocation {
  /// Runs `body` for at most so many seconds; `nil` is as long as it takes.
  ///
  /// - Throws: `.interrupted` when the time is over.
  func within<R>(
    seconds: Double?, _ body: () async throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    guard let seconds else { return try await body() }
    let isOver = Locked(false)
    let cancellation = cancellation
    let timer = Task.detached {
      guard (try? await Task.sleep(for: .seconds(seconds))) != nil else { return }
      isOver.withLock { $0 = true }
      cancellation.cancel()
    }
    defer { timer.cancel() }
    do throws(FieldpackError) {
      return try await body()
    } catch {
      guard error.code == .interrupted, isOver.withLock({ $0 }) else { throw error }
      throw FieldpackError(
        .interrupted, "not done within \(Decimals.short(seconds)) s. Try: a longer --timeout",
        underlying: error)
    }
  }
}
