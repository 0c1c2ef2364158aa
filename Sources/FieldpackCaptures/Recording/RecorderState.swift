public import FieldpackCore

/// What a recorder of captures is doing, or has just done.
public enum RecorderState: Sendable {
  /// Nothing is recorded; a capture can begin.
  case ready
  /// A capture is recorded that has so many points on the disk, the last of which are new.
  case recording(count: Int, new: [CapturePoint])
  /// No more points come; the capture can be finished.
  case sourceEnded
  /// The capture gets its files.
  case finishing(token: String)
  case finished(RecordedCapture)
  /// What was recorded was thrown away.
  case discarded
  /// A start, the source, or an end failed; ``FieldpackCore/FieldpackError/locationFailure`` says why
  /// positions cannot be had. What was recorded is not lost.
  case failed(FieldpackError)
  /// A recording was found that was killed or aborted.
  case left(LeftRecording)
}

/// The states of a recorder as they come; see ``CaptureRecorder/states``.
public struct CaptureRecorderStates: AsyncSequence, Sendable {
  public typealias Element = RecorderState
  public typealias Failure = Never

  static let capacity = 256

  let stream: AsyncStream<RecorderState>

  public struct Iterator: AsyncIteratorProtocol {
    var states: AsyncStream<RecorderState>.Iterator

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async -> RecorderState? { await states.next(isolation: actor) }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(states: stream.makeAsyncIterator()) }
}

/// Tells the subscribers of a recorder its states.
final class RecorderStateHub: Sendable {
  private struct Subscribers {
    var continuations: [Int: AsyncStream<RecorderState>.Continuation] = [:]
    var last = 0
    var state = RecorderState.ready
    var isFinished = false
    /// What reads fixes, and ends with the recorder.
    var reading: SourceReading?
  }

  private let subscribers = Locked(Subscribers())

  func subscribe() -> CaptureRecorderStates {
    let (stream, continuation) = AsyncStream.makeStream(
      of: RecorderState.self, bufferingPolicy: .bufferingNewest(CaptureRecorderStates.capacity))
    let (number, isFinished) = subscribers.withLock { subscribers in
      subscribers.last += 1
      // In the lock, so that the present state comes before all others.
      continuation.yield(subscribers.state)
      if !subscribers.isFinished { subscribers.continuations[subscribers.last] = continuation }
      return (subscribers.last, subscribers.isFinished)
    }
    if isFinished { continuation.finish() }
    continuation.onTermination = { [subscribers] _ in
      // Removed after the lock is given back: what goes may end a stream, which comes here again.
      _ = subscribers.withLock { $0.continuations.removeValue(forKey: number) }
    }
    return CaptureRecorderStates(stream: stream)
  }

  func publish(_ state: RecorderState) {
    subscribers.withLock { subscribers in
      subscribers.state = state
      for continuation in subscribers.continuations.values { continuation.yield(state) }
    }
  }

  func note(_ reading: SourceReading?) {
    let isFinished = subscribers.withLock { subscribers in
      subscribers.reading = reading
      return subscribers.isFinished
    }
    if isFinished { reading?.cancel() }
  }

  func finish() {
    let (continuations, reading) = subscribers.withLock { subscribers in
      subscribers.isFinished = true
      return (Array(subscribers.continuations.values), subscribers.reading)
    }
    reading?.cancel()
    for continuation in continuations { continuation.finish() }
  }
}

/// The reading of a source, with how it ended.
typealias SourceReading = Task<Result<Void, FieldpackError>, Never>
