import FieldpackCore

/// Carries cancellation into an import and progress out of it.
final class Cancellation: Sendable {
  private struct State {
    var isCancelled = false
    var interrupt: (@Sendable () -> Void)?
    var pass = 1
    var bytesInAll = 0
    var bytesBefore = 0
  }

  private let state = Locked(State())

  func cancel() {
    let interrupt = state.withLock { state in
      state.isCancelled = true
      return state.interrupt
    }
    interrupt?()
  }

  func interrupting(_ interrupt: (@Sendable () -> Void)?) {
    state.withLock { $0.interrupt = interrupt }
  }

  func check() throws(FieldpackError) {
    if state.withLock({ $0.isCancelled }) {
      throw FieldpackError(.interrupted, "interrupted; nothing was changed")
    }
  }

  func begin(pass: Int, sizes: [Int]) {
    state.withLock { state in
      state.pass = pass
      state.bytesInAll = sizes.reduce(0, +)
      state.bytesBefore = 0
    }
  }

  func endFile(_ size: Int) { state.withLock { $0.bytesBefore += size } }

  func progress(file: String, bytesRead: Int, of size: Int) -> ImportProgress {
    state.withLock { state in
      ImportProgress(
        file: file, bytesRead: state.bytesBefore + min(bytesRead, size),
        bytesInAll: state.bytesInAll, pass: state.pass)
    }
  }
}
