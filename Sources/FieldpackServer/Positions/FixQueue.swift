import FieldpackCore
import FieldpackLocation

/// Fixes on their way from requests to the run that keeps them.
final class FixQueue: LocationSource {
  private typealias Reader = CheckedContinuation<[Fix]?, Never>

  private struct State {
    var fixes: [Fix] = []
    var reader: Reader?
    /// Who waits until the run has taken so many fixes.
    var waiting: [(number: Int, continuation: CheckedContinuation<FieldpackError?, Never>)] = []
    var closing: [CheckedContinuation<Void, Never>] = []
    /// How many the run has kept.
    var noted = 0
    var isClosed = false
    var isEnded = false
  }

  private let state = Locked(State())

  var isEnded: Bool { state.withLock { $0.isEnded } }

  /// Hands fixes on, and waits until they are kept.
  ///
  /// - Parameter number: how many the run has taken with them.
  func add(_ fixes: [Fix], upTo number: Int) async throws(FieldpackError) {
    let failure = await withCheckedContinuation { continuation in
      let (known, reader) = state.withLock { state -> (FieldpackError??, Reader?) in
        if state.noted >= number { return (.some(nil), nil) }
        guard !state.isEnded, !state.isClosed else {
          return (FieldpackError(.unavailable, "the server is closing"), nil)
        }
        state.waiting.append((number, continuation))
        state.fixes += fixes
        guard !fixes.isEmpty else { return (nil, nil) }
        defer { state.reader = nil }
        return (nil, state.reader)
      }
      if let known { continuation.resume(returning: known) }
      reader?.resume(returning: takeAll())
    }
    if let failure { throw failure }
  }

  private func takeAll() -> [Fix] {
    state.withLock { state in
      defer { state.fixes = [] }
      return state.fixes
    }
  }

  /// The run has kept so many fixes.
  func note(_ number: Int) {
    let done = state.withLock { state in
      state.noted = max(state.noted, number)
      let done = state.waiting.filter { $0.number <= number }
      state.waiting.removeAll { $0.number <= number }
      return done
    }
    for waiting in done { waiting.continuation.resume(returning: nil) }
  }

  /// The run has ended.
  func end(_ error: FieldpackError) {
    let (waiting, closing) = state.withLock { state in
      state.isEnded = true
      defer { (state.waiting, state.closing) = ([], []) }
      return (state.waiting, state.closing)
    }
    for waiting in waiting { waiting.continuation.resume(returning: error) }
    for continuation in closing { continuation.resume() }
  }

  /// Ends the source, and waits for the end of the run.
  func close() async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let (reader, isEnded) = state.withLock { state in
        state.isClosed = true
        if !state.isEnded { state.closing.append(continuation) }
        defer { state.reader = nil }
        return (state.reader, state.isEnded)
      }
      reader?.resume(returning: nil)
      if isEnded { continuation.resume() }
    }
  }

  // MARK: The run's end

  func updates() -> LocationUpdates {
    LocationUpdates { [self] in
      { () async throws(FieldpackError) in await self.next()?.map { .fix($0) } }
    }
  }

  /// The next fixes, never none; `nil` at the end.
  private func next() async -> [Fix]? {
    await withCheckedContinuation { continuation in
      let now = state.withLock { state -> [Fix]?? in
        if !state.fixes.isEmpty {
          defer { state.fixes = [] }
          return .some(state.fixes)
        }
        if state.isClosed { return .some(nil) }
        state.reader = continuation
        return nil
      }
      if let now { continuation.resume(returning: now) }
    }
  }
}
