public import FieldpackCore
import FieldpackField

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
  private let states = Broadcast(
    capacity: CaptureRecorderStates.capacity, present: RecorderState.ready)
  /// What reads fixes, and ends with the recorder.
  private let reading = Locked<SourceReading?>(nil)

  func subscribe() -> CaptureRecorderStates {
    CaptureRecorderStates(stream: states.subscribe().stream)
  }

  func publish(_ state: RecorderState) { states.send(state) }

  func note(_ reading: SourceReading?) {
    self.reading.withLock { $0 = reading }
    if states.isFinished { reading?.cancel() }
  }

  func finish() {
    states.finish()
    reading.withLock { $0 }?.cancel()
  }
}

/// The reading of a source, with how it ended.
typealias SourceReading = Task<Result<Void, FieldpackError>, Never>
