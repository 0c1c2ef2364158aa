import FieldpackCore
import FieldpackGeoPackage
import FieldpackLocation
import FieldpackMonitoring

/// Reads what a run takes and watches it, the fixes of one transaction at a time.
final class RunReader: Sendable {
  /// What one transaction is to store.
  struct Batch: Sendable {
    fileprivate(set) var watched: WatchedFixes
    fileprivate var retry: Retry?
  }

  /// What is needed to watch the fixes of a batch again.
  fileprivate struct Retry: Sendable {
    let watch: RunWatch
    /// All that were there.
    var fixes: [ArraySlice<Fix>] = []
    /// Whether the end of the last ones was left for the next batch.
    var hasRest = false
  }

  private let plan: RunPlan
  private let run: StoredRun
  private let source: RunSource
  private let state: Locked<State>

  /// - Parameter known: what the file knows of the devices.
  init(_ plan: RunPlan, _ run: StoredRun, _ known: [DeviceState], _ source: RunSource) {
    self.plan = plan
    self.run = run
    self.source = source
    let taken = plan.isReplay ? TakenFixes(of: run, MonitorState(devices: known)) : nil
    state = Locked(State(watch: RunWatch(run, known, plan), taken: taken))
  }

  // MARK: Watching

  /// How long fixes are watched for one transaction, so that what a slow monitor saw is soon stored.
  private static let patience = Duration.milliseconds(250)
  /// How many fixes are gathered at most for a transaction where all of them are there, and those that
  /// come with the last of them.
  private static let limit = 262_144

  fileprivate struct State {
    var watch: RunWatch
    /// Of a replay.
    var taken: TakenFixes?
    /// Fixes that were read and are to be watched next.
    var left: [ArraySlice<Fix>] = []
    /// How many fixes are gathered next: ever more, so that storing begins soon and then has no need to
    /// wait.
    var gathered = RunReader.limit * 3 / 8
    var isAtEnd = false
    /// What the source ended with, once all fixes before that are watched.
    var failure: FieldpackError?

    /// Watches what is left, or as much of it as one transaction stores.
    mutating func watchLeft() -> Batch {
      var batch = Batch(watched: watch.begin())
      watch(into: &batch, until: ContinuousClock.now + RunReader.patience)
      watch.end(&batch.watched)
      return batch
    }

    mutating func watch(into batch: inout Batch, until end: ContinuousClock.Instant) {
      while !left.isEmpty {
        let fixes = left.removeFirst()
        batch.retry?.fixes.append(fixes)
        let rest = watch.watch(fixes, until: end, into: &batch.watched)
        guard rest.isEmpty else {
          batch.retry?.hasRest = true
          return left.insert(rest, at: 0)
        }
      }
    }
  }

  /// Watches the fixes that come next by the regions as they are then; `nil` at the end of the source.
  @concurrent
  func next() async throws(FieldpackError) -> Batch? {
    guard try await fill() else { return nil }
    if let refresh = plan.refresh {
      var monitor = state.withLock { $0.watch.monitor }
      if try await refresh(&monitor) { state.withLock { [monitor] in $0.watch.monitor = monitor } }
    }
    return state.withLock { $0.watchLeft() }
  }

  /// Watches the next fixes of a source that is complete, of several of its batches, by the regions as
  /// they were before; whoever stores the fixes calls ``confirm(_:)`` first.
  @concurrent
  func nextAhead() async throws(FieldpackError) -> Batch? {
    guard try await fill() else { return nil }
    let end = ContinuousClock.now + Self.patience
    var (batch, limit) = state.withLock { [needsRetry = plan.refresh != nil] state in
      let retry = needsRetry ? Retry(watch: state.watch) : nil
      defer { state.gathered = min(state.gathered * 5 / 4, Self.limit) }
      return (Batch(watched: state.watch.begin(), retry: retry), state.gathered)
    }
    repeat {
      let isFull = state.withLock { state in
        state.watch(into: &batch, until: end)
        return !state.left.isEmpty
      }
      if isFull || batch.watched.count >= limit || ContinuousClock.now >= end { break }
    } while await fillForLater()
    state.withLock { $0.watch.end(&batch.watched) }
    return batch
  }

  /// Watches the fixes of the newest batch again where the regions are not as they were.
  @concurrent
  func confirm(_ batch: inout Batch) async throws(FieldpackError) {
    guard let refresh = plan.refresh, let retry = batch.retry else { return }
    batch.retry = nil
    var watch = retry.watch
    guard try await refresh(&watch.monitor) else { return }
    batch = state.withLock { [watch] state in
      state.watch = watch
      state.left = retry.fixes + state.left.dropFirst(retry.hasRest ? 1 : 0)
      return state.watchLeft()
    }
  }

  // MARK: Reading

  /// Reads fixes where none are left; false at the end of the source.
  private func fill() async throws(FieldpackError) -> Bool {
    try source.checkGoesOn()
    while state.withLock({ $0.left.isEmpty }) {
      if let failure = state.withLock({ $0.failure }) { throw failure }
      guard !state.withLock({ $0.isAtEnd }), let fixes = try await fixes() else {
        state.withLock { $0.isAtEnd = true }
        return false
      }
      if !fixes.isEmpty { state.withLock { $0.left.append(fixes[...]) } }
    }
    return true
  }

  /// As ``fill()``, and keeps an error for the next time.
  private func fillForLater() async -> Bool {
    do throws(FieldpackError) { return try await fill() } catch {
      state.withLock { $0.failure = error }
      return false
    }
  }

  /// The fixes of the source's next batch that the run has not taken yet.
  private func fixes() async throws(FieldpackError) -> [Fix]? {
    while true {
      let updates = try await source.next()
      let fresh = try state.withLock { (state) throws(FieldpackError) -> Fresh in
        guard let updates else { return try state.isWhole() ? .end : .changed }
        return try state.fresh(updates).map { .fixes($0) } ?? .changed
      }
      switch fresh {
      case .fixes(let fixes): return fixes
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
    source.beginAgain()
    let (run, now) = (run, plan.now())
    guard let change = state.withLock({ $0.change(at: now) }) else { return }
    try await plan.store.write { (writer) throws(FieldpackError) in
      try RunTables(writer: writer).log(run, .warning, change, at: now)
    }
    plan.note(change)
  }
}

extension RunReader.State {
  /// The fixes of a batch that the run has not taken yet; `nil` where the source is not as it was, and
  /// has to be read again.
  ///
  /// - Throws: `.invalidArgument` where a replay does not give what the run took.
  fileprivate mutating func fresh(
    _ updates: [LocationUpdate]
  ) throws(FieldpackError) -> [Fix]? {
    var fixes: [Fix] = []
    fixes.reserveCapacity(updates.count)
    for case .fix(let fix) in updates {
      switch try taken?.verdict(on: fix) ?? .new {
      case .new: fixes.append(fix)
      case .taken: continue
      case .again: return nil
      }
    }
    return fixes
  }

  /// Whether the source ended after all that the run took; else it has to be read again.
  ///
  /// - Throws: `.invalidArgument` where what it gave does not tell what the run took.
  fileprivate mutating func isWhole() throws(FieldpackError) -> Bool {
    guard try taken?.verdictAtEnd() == .again else { return true }
    if let state = taken?.stateByTime { watch.monitor.resume(state) }
    return false
  }

  /// What the log is to be told where the source is not as it was, once it is read on by the times of
  /// its fixes.
  fileprivate func change(at now: Instant) -> String? {
    guard let taken, taken.isByTime, let change = taken.change else { return nil }
    let ahead = taken.stateByTime.devices.filter { $0.time ?? now > now }.map { state in
      "; \(state.device.isEmpty ? "its" : "of '\(state.device)' the") last one, of "
        + "\(state.time ?? now), lies in the future, and none before that is new"
    }
    return
      "the source was changed: \(change); goes on after the last fix of each device, and passes over "
      + "what was added before" + ahead.joined()
  }
}
