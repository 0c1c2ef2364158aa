import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackLocation
import FieldpackMonitoring

/// What a run is to do.
struct RunPlan: Sendable {
  var store: GeoPackageStore
  var name: String
  var kind: StoredRun.Kind
  var monitor: any FixMonitor
  /// What the monitor is to be told before each transaction.
  var refresh: Detections.MonitorRefresh?
  /// Which regions that is.
  var watched: String?
  /// What a recording makes of detections.
  var method: Sampling?
  var source: any LocationSource
  /// Where the fixes come from, in words for the file.
  var sourceName: String?
  /// Whether the source begins with the first fix again, so that those taken before are skipped.
  var isReplay: Bool
  /// Told what the user should know, as the log is.
  var note: @Sendable (String) -> Void
  /// How the error that ends the run is told in the file's log.
  var words: @Sendable (FieldpackError) -> String
  var afterPoint: PointAction?
  var now: @Sendable () -> Instant
  var slot: RunSlot

  /// What a run of the name has to have in common with this one.
  var parameters: String { monitor.parameters + (watched.map { " " + $0 } ?? "") }
}

/// One reading of a source into a run, transaction by transaction.
///
/// Where all fixes are there already, those of the next transaction are watched while one is stored: on
/// two cores a run takes as long as the longer of both.
final class RunWalk: Sendable {
  private let plan: RunPlan
  private let source: RunSource
  /// Held while the store writes; nobody else asks for it meanwhile. `nil` before the run begins.
  private let record = Locked<RunRecord?>(nil)
  private let state = Locked(State())

  private typealias Ahead = Task<Result<RunReader.Batch?, FieldpackError>, Never>

  private struct State {
    /// Since the run began.
    var reader: RunReader?
    /// What is watched while something else is stored.
    var ahead: Ahead?
    var isDone = false
  }

  init(_ plan: RunPlan) {
    self.plan = plan
    source = RunSource(plan.source, run: plan.name)
  }

  deinit { state.withLock { $0.ahead }?.cancel() }

  /// How many fixes the run has taken over all of its starts.
  var fixes: Int { record.withLock { $0?.run.fixes ?? 0 } }

  /// Ends the walk wherever it waits.
  func abort() { source.abort() }

  func next() async throws(FieldpackError) -> RecordedStep? {
    guard !state.withLock({ $0.isDone }) else { return nil }
    do throws(FieldpackError) {
      let reader = try await reader()
      guard let batch = try await batch(of: reader) else {
        await end(as: .ended, "ended with its source")
        return nil
      }
      if plan.source.isComplete { goAhead(reader) }
      return try await store(batch.watched)
    } catch {
      throw await failed(error)
    }
  }

  // MARK: Steps

  /// Begins the run, where it has not begun.
  private func reader() async throws(FieldpackError) -> RunReader {
    if let reader = state.withLock({ $0.reader }) { return reader }
    plan.slot.take(self)
    try await plan.source.checkUse(needsAlways: plan.method?.needsAlways ?? false)
    let (plan, now) = (plan, plan.now())
    try await plan.store.keepStatementJournals()
    let (record, known) = try await plan.store.write { (writer) throws(FieldpackError) in
      try FieldData.layers.prepare(in: writer)
      return try RunRecord.begin(plan, in: writer, at: now)
    }
    self.record.withLock { $0 = record }
    let reader = RunReader(plan, record.run, known, source)
    state.withLock { $0.reader = reader }
    return reader
  }

  /// What the next transaction is to store; `nil` at the end of the source.
  private func batch(of reader: RunReader) async throws(FieldpackError) -> RunReader.Batch? {
    let ahead = state.withLock { state in
      defer { state.ahead = nil }
      return state.ahead
    }
    guard let ahead else { return try await reader.next() }
    let found = await withTaskCancellationHandler {
      await ahead.value
    } onCancel: {
      ahead.cancel()
    }
    try source.checkGoesOn()
    guard var batch = try found.get() else { return nil }
    try await reader.confirm(&batch)
    return batch
  }

  private func goAhead(_ reader: RunReader) {
    let ahead = Ahead {
      do throws(FieldpackError) { return .success(try await reader.nextAhead()) } catch {
        return .failure(error)
      }
    }
    state.withLock { $0.ahead = ahead }
  }

  private func store(_ watched: WatchedFixes) async throws(FieldpackError) -> RecordedStep {
    let (record, now) = (record, plan.now())
    return try await plan.store.write { (writer) throws(FieldpackError) in
      return try record.withLock { (record) throws(FieldpackError) in
        guard let step = try record?.store(watched, in: writer, at: now) else {
          throw FieldpackError(.unavailable, "the run has not begun")
        }
        return step
      }
    }
  }

  // MARK: End

  private func failed(_ error: FieldpackError) async -> FieldpackError {
    switch error.locationFailure {
    case .aborted: await end(as: .aborted, "aborted: \(plan.words(error))")
    default:
      let isInterrupted = error.code == .interrupted
      await end(
        as: isInterrupted ? .interrupted : .failed,
        isInterrupted ? "interrupted" : "failed: \(plan.words(error))")
    }
    return error
  }

  /// Stores how the run ended, where the file still takes it; what was stored before is not lost
  /// without.
  private func end(as ending: StoredRun.State, _ message: String) async {
    let ahead = state.withLock { state in
      defer { (state.ahead, state.reader) = (nil, nil) }
      state.isDone = true
      return state.ahead
    }
    ahead?.cancel()
    _ = await ahead?.value
    plan.slot.leave(self)
    guard let run = record.withLock({ $0?.run }) else { return }
    let (store, now) = (plan.store, plan.now())
    // The task that is cancelled could not write any more.
    await Task.detached {
      try? await store.write { (writer) throws(FieldpackError) in
        try RunTables(writer: writer).end(run, as: ending, message, at: now)
      }
    }.value
  }
}
