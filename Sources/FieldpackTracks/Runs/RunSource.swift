import FieldpackCore
import FieldpackLocation

/// The source of a run as it is read, which somebody else may end.
final class RunSource: Sendable {
  private let source: any LocationSource
  private let run: String
  private let flow: Locked<Flow>

  private struct Flow {
    var nextUpdates: LocationUpdates.Next
    var waiting: Task<Result<[LocationUpdate]?, FieldpackError>, Never>?
    var isAborted = false
  }

  /// - Parameter run: its name.
  init(_ source: any LocationSource, run: String) {
    self.source = source
    self.run = run
    flow = Locked(Flow(nextUpdates: source.updates().makeAsyncIterator().nextUpdates))
  }

  /// Ends the reading wherever it waits.
  func abort() {
    let waiting = flow.withLock { flow in
      flow.isAborted = true
      return flow.waiting
    }
    waiting?.cancel()
  }

  /// - Throws: the failure ``FieldpackLocation/LocationFailure/aborted`` after ``abort()``.
  func checkGoesOn() throws(FieldpackError) {
    if flow.withLock({ $0.isAborted }) { throw .takenOver(run) }
  }

  /// Goes back to the first fix.
  func beginAgain() {
    let nextUpdates = source.updates().makeAsyncIterator().nextUpdates
    flow.withLock { $0.nextUpdates = nextUpdates }
  }

  /// What comes next; ends at once when the reading is aborted.
  func next() async throws(FieldpackError) -> [LocationUpdate]? {
    let next = flow.withLock { $0.nextUpdates }
    let reading = Task { () async -> Result<[LocationUpdate]?, FieldpackError> in
      do throws(FieldpackError) { return .success(try await next()) } catch {
        return .failure(error)
      }
    }
    let isAborted = flow.withLock { flow in
      flow.waiting = reading
      return flow.isAborted
    }
    if isAborted { reading.cancel() }
    let result = await withTaskCancellationHandler {
      await reading.value
    } onCancel: {
      reading.cancel()
    }
    flow.withLock { $0.waiting = nil }
    try checkGoesOn()
    return try result.get()
  }
}
