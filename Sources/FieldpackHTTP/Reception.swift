import FieldpackCore

/// What an exchange has received, between the thread that receives it and the task that reads it.
final class Reception: Sendable {
  private enum End {
    case whole
    case failed(FieldpackError)
  }

  private struct State {
    /// The answer without its body, once its header is whole.
    var head: HTTPResponse?
    /// Bytes of the body that nobody has taken.
    var waiting: [UInt8] = []
    var end: End?
    /// The thread has been told to wait.
    var isFull = false
    /// Wakes those who wait, to look again.
    var readers: [@Sendable () -> Void] = []
  }

  /// So many bytes may wait; a piece of the library, of at most 16 KiB, may go beyond.
  private static let capacity = 1 << 20

  private let state = Locked(State())

  // MARK: The thread

  func take(head: HTTPResponse) { change { if $0.head == nil { $0.head = head } } }

  /// - Returns: whether the bytes were taken; if not, they have to come again after a reader has
  ///   taken others.
  func take(body bytes: UnsafeRawBufferPointer) -> Bool {
    change { state in
      state.isFull = state.waiting.count >= Self.capacity
      if !state.isFull { state.waiting.append(contentsOf: bytes) }
      return !state.isFull
    }
  }

  /// Ends it; the first end counts.
  func end(_ error: FieldpackError?) {
    change { if $0.end == nil { $0.end = error.map { .failed($0) } ?? .whole } }
  }

  private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
    let (result, readers) = state.withLock { state in
      let result = body(&state)
      let readers = state.readers
      state.readers = []
      return (result, readers)
    }
    for wake in readers { wake() }
    return result
  }

  // MARK: Readers

  /// The answer without its body, once its header is there.
  func head() async throws(FieldpackError) -> HTTPResponse {
    let result = await wait { state -> Result<HTTPResponse, FieldpackError>? in
      if let head = state.head { return .success(head) }
      switch state.end {
      case .failed(let error): return .failure(error)
      case .whole:
        return .failure(
          FieldpackError(
            .invalidData, "the answer has no header", underlying: HTTPFailure.malformed))
      case nil: return nil
      }
    }
    return try result.get()
  }

  /// The bytes that wait, at least one; `nil` after the last.
  ///
  /// - Parameter resume: called when the thread has room again.
  func body(resume: () -> Void) async throws(FieldpackError) -> [UInt8]? {
    let (bytes, end, wasFull) = await wait { state -> ([UInt8], End?, Bool)? in
      guard !state.waiting.isEmpty || state.end != nil else { return nil }
      defer { (state.waiting, state.isFull) = ([], false) }
      return (state.waiting, state.end, state.isFull)
    }
    if wasFull { resume() }
    if !bytes.isEmpty { return bytes }
    if case .failed(let error)? = end { throw error }
    return nil
  }

  /// Waits until `take` has something to give, which no other reader gets.
  private func wait<Value: Sendable>(
    _ take: @Sendable (inout State) -> Value?
  ) async -> Value {
    while true {
      let taken = await withCheckedContinuation { (reader: CheckedContinuation<Value?, Never>) in
        let taken = state.withLock { state in
          let taken = take(&state)
          if taken == nil { state.readers.append { reader.resume(returning: nil) } }
          return taken
        }
        if let taken { reader.resume(returning: taken) }
      }
      if let taken { return taken }
    }
  }
}
