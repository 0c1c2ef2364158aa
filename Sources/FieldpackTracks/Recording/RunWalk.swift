import FieldpackCore
import FieldpackGeoPackage

/// What a run is to do.
struct RunPlan: Sendable {
  var store: GeoPackageStore
  var name: String
  var kind: StoredRun.Kind
  var monitor: any FixMonitor
  /// What the monitor is to be told before each batch.
  var refresh: Detections.MonitorRefresh?
  /// Which regions that is.
  var watched: String?
  /// What a recording makes of detections.
  var method: RecordingMethod?
  var source: any LocationSource
  /// Where the fixes come from, in words for the file.
  var sourceName: String?
  /// Whether the source begins with the first fix again, so that those taken before are skipped.
  var isReplay: Bool
  /// Told what the user should know, as the log is.
  var note: @Sendable (String) -> Void
  var afterPoint: PointAction?
  var now: @Sendable () -> Instant
  var place: RunningPlace

  /// What a run of the name has to have in common with this one.
  var parameters: String { monitor.parameters + (watched.map { " " + $0 } ?? "") }
}

/// One reading of a source into a run, batch by batch.
final class RunWalk: Sendable {
  private let plan: RunPlan
  /// Held while the store writes; nobody else asks for it meanwhile.
  private let progress: Locked<RunProgress>
  private let flow: Locked<Flow>

  private struct Flow {
    var nextUpdates: LocationUpdates.Next
    var waiting: Task<Result<[LocationUpdate]?, FieldpackError>, Never>?
    var isAborted = false
    var isDone = false
  }

  init(_ plan: RunPlan) {
    self.plan = plan
    flow = Locked(Flow(nextUpdates: plan.source.updates().makeAsyncIterator().nextUpdates))
    progress = Locked(RunProgress(plan))
  }

  /// How many fixes the run has taken over all of its starts.
  var fixes: Int { progress.withLock { $0.run?.fixes ?? 0 } }

  /// Ends the walk wherever it waits.
  func abort() {
    let waiting = flow.withLock { flow in
      flow.isAborted = true
      return flow.waiting
    }
    waiting?.cancel()
  }

  func next() async throws(FieldpackError) -> RecordedStep? {
    guard !flow.withLock({ $0.isDone }) else { return nil }
    do throws(FieldpackError) {
      if progress.withLock({ $0.run == nil }) { try await begin() }
      while let fixes = try await fixes() {
        if !fixes.isEmpty { return try await store(fixes) }
      }
      await end(as: .ended, "ended with its source")
      return nil
    } catch {
      throw await failed(error)
    }
  }

  // MARK: Steps

  private func begin() async throws(FieldpackError) {
    plan.place.take(self)
    try await plan.source.checkUse(needsAlways: plan.method?.needsAlways ?? false)
    let (progress, now) = (progress, plan.now())
    try await plan.store.keepStatementJournals()
    try await plan.store.write { (writer) throws(FieldpackError) in
      let sql = try writer.statements
      try FieldData.layers.prepare(in: sql)
      try progress.withLock { (progress) throws(FieldpackError) in
        try progress.begin(in: sql, at: now)
      }
    }
  }

  /// The fixes that the transaction before left, else those that the source gives next.
  private func fixes() async throws(FieldpackError) -> ArraySlice<Fix>? {
    let left = progress.withLock { $0.takeLeft() }
    guard left.isEmpty else {
      if flow.withLock({ $0.isAborted }) { throw .takenOver(plan.name) }
      return left
    }
    while true {
      let updates = try await updates()
      let fresh = try progress.withLock { (progress) throws(FieldpackError) -> Fresh in
        guard let updates else { return try progress.isWhole() ? .end : .changed }
        return try progress.fresh(updates).map { .fixes($0) } ?? .changed
      }
      switch fresh {
      case .fixes(let fixes): return fixes[...]
      case .end: return nil
      case .changed: try await readAgain()
      }
    }
  }

  private enum Fresh {
    case fixes([Fix])
    case end, changed
  }

  /// Begins with the first fix of the source again, which is not as it was.
  private func readAgain() async throws(FieldpackError) {
    let nextUpdates = plan.source.updates().makeAsyncIterator().nextUpdates
    flow.withLock { $0.nextUpdates = nextUpdates }
    let (progress, now) = (progress, plan.now())
    let message = try await plan.store.write { (writer) throws(FieldpackError) in
      let sql = try writer.statements
      return try progress.withLock { (progress) throws(FieldpackError) in
        try progress.noteChange(in: sql, at: now)
      }
    }
    if let message { plan.note(message) }
  }

  /// What the source gives next; ends at once when the walk is aborted.
  private func updates() async throws(FieldpackError) -> [LocationUpdate]? {
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
    if flow.withLock({ $0.isAborted }) { throw .takenOver(plan.name) }
    return try result.get()
  }

  private func store(_ fixes: ArraySlice<Fix>) async throws(FieldpackError) -> RecordedStep {
    if let refresh = plan.refresh, var monitor = progress.withLock({ $0.takeMonitor() }) {
      defer { progress.withLock { [monitor] in $0.monitor = monitor } }
      try await refresh(&monitor)
    }
    let (progress, now) = (progress, plan.now())
    return try await plan.store.write { (writer) throws(FieldpackError) in
      let sql = try writer.statements
      return try progress.withLock { (progress) throws(FieldpackError) in
        try progress.take(fixes, in: sql, at: now)
      }
    }
  }

  // MARK: End

  private func failed(_ error: FieldpackError) async -> FieldpackError {
    switch error.locationFailure {
    case .aborted: await end(as: .aborted, "aborted: \(error.message)")
    default:
      let isInterrupted = error.code == .interrupted
      await end(
        as: isInterrupted ? .interrupted : .failed,
        isInterrupted ? "interrupted" : "failed: \(error.message)")
    }
    return error
  }

  /// Stores how the run ended, where the file still takes it; what was stored before is not lost
  /// without.
  private func end(as state: StoredRun.State, _ message: String) async {
    flow.withLock { $0.isDone = true }
    plan.place.leave(self)
    guard let run = progress.withLock({ $0.run }) else { return }
    let (store, now) = (plan.store, plan.now())
    // The task that is cancelled could not write any more.
    await Task.detached {
      try? await store.write { (writer) throws(FieldpackError) in
        try RunTables(sql: writer.statements).end(run, as: state, message, at: now)
      }
    }.value
  }
}
