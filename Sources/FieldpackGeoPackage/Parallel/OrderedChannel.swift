package import FieldpackCore

/// Hands the results of several threads to one consumer, in order.
///
/// Pieces are numbered in the order of the answer, and each comes in parts. A producer ahead of the
/// order waits while `capacity` parts lie in the channel, so memory stays bounded whatever the
/// sizes. The producer of the next piece never waits.
package final class OrderedChannel<Part: Sendable>: Sendable {
  package typealias Answer = Result<Part?, FieldpackError>

  fileprivate struct Piece {
    var parts: [Part] = []
    var isComplete = false
    var error: FieldpackError?
  }

  fileprivate struct State {
    /// The open pieces in order; the number of the first is `head`.
    var pieces: [Piece] = []
    var head = 0
    var queued = 0
    var isAllOpened = false
    var hasFailed = false
    /// Whether nothing more is given: the end was reached, an error was thrown, or the consumer
    /// stopped.
    var isDone = false
    /// The error that every further call throws.
    var ending: FieldpackError?
    /// The waiting calls of `next()`, in the order in which they came.
    var consumers: [CheckedContinuation<Answer, Never>] = []
  }

  private let state = Locked(State())
  private let capacity: Int

  package init(capacity: Int) { self.capacity = capacity }

  // MARK: For the consumer

  /// Waits for the next part; `nil` at the end.
  package func next() async throws(FieldpackError) -> Part? {
    let answer: Answer = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer = state.change { state -> Answer? in
          let answer = state.take()
          if answer == nil { state.consumers.append(continuation) }
          return answer
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      stop(throwing: FieldpackError(.interrupted, "interrupted"))
    }
    return try answer.get()
  }

  /// Ends the work. Further calls throw `error`, or give nothing.
  package func stop(throwing error: FieldpackError? = nil) {
    update { state in
      guard !state.isDone else { return }
      state.end()
      state.ending = error
    }
  }

  /// Throws the error that every further call throws.
  package func checkEnding() throws(FieldpackError) {
    if let error = state.change({ $0.ending }) { throw error }
  }

  // MARK: For producers

  /// Whether more parts are useless: the consumer stopped, or an error will be thrown first.
  package var isOver: Bool { state.change { $0.isDone || $0.hasFailed } }

  /// Opens the piece after those opened before, and gives its number.
  package func open() -> Int {
    state.change { state in
      state.pieces.append(Piece())
      return state.head + state.pieces.count - 1
    }
  }

  /// Tells the channel that no further piece will be opened.
  package func openedAll() { update { $0.isAllOpened = true } }

  /// Waits for room and hands the part over; `false` when it is not wanted any more.
  package func hand(_ part: Part, of piece: Int) -> Bool {
    let (isWanted, deliveries) = state.wait { state -> (Bool, [Delivery])? in
      if state.isDone { return (false, []) }
      let index = piece - state.head
      let isNext = index == 0 && state.pieces[0].parts.count < 2
      guard isNext || state.queued < capacity else { return nil }
      state.pieces[index].parts.append(part)
      state.queued += 1
      return (true, state.deliveries())
    }
    for delivery in deliveries { delivery.make() }
    return isWanted
  }

  /// Ends a piece: all its parts were handed over, or `error` follows them.
  package func complete(_ piece: Int, _ error: FieldpackError? = nil) {
    update { state in
      guard !state.isDone else { return }
      state.pieces[piece - state.head].isComplete = true
      state.pieces[piece - state.head].error = error
      if error != nil { state.hasFailed = true }
    }
  }

  // MARK: State

  fileprivate struct Delivery {
    let consumer: CheckedContinuation<Answer, Never>
    let answer: Answer

    func make() { consumer.resume(returning: answer) }
  }

  // Continuations are resumed outside of the lock.
  private func update(_ body: (inout State) -> Void) {
    let deliveries = state.change { state in
      body(&state)
      return state.deliveries()
    }
    for delivery in deliveries { delivery.make() }
  }
}

extension OrderedChannel.State {
  /// The consumer's answer now; `nil` where it has to wait.
  fileprivate mutating func take() -> OrderedChannel<Part>.Answer? {
    if let ending { return .failure(ending) }
    while !isDone, !pieces.isEmpty {
      if !pieces[0].parts.isEmpty {
        queued -= 1
        return .success(pieces[0].parts.removeFirst())
      }
      guard pieces[0].isComplete else { return nil }
      if let error = pieces[0].error {
        end()
        return .failure(error)
      }
      pieces.removeFirst()
      head += 1
    }
    guard isDone || isAllOpened else { return nil }
    end()
    return .success(nil)
  }

  fileprivate mutating func deliveries() -> [OrderedChannel<Part>.Delivery] {
    var deliveries: [OrderedChannel<Part>.Delivery] = []
    while !consumers.isEmpty, let answer = take() {
      deliveries.append(.init(consumer: consumers.removeFirst(), answer: answer))
    }
    return deliveries
  }

  fileprivate mutating func end() {
    isDone = true
    pieces = []
    queued = 0
  }
}
