import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackLocation
import FieldpackMonitoring

/// The half of a run before ``RunRecord``: reads the fixes that the run has not taken and watches them,
/// those of one transaction at a time.
actor RunReader {
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
  private var nextUpdates: LocationUpdates.Next
  private var watch: RunWatch
  /// Of a replay.
  private var taken: TakenFixes?
  /// Fixes that were read and are to be watched next.
  private var left: [ArraySlice<Fix>] = []
  /// How many fixes are gathered next: ever more, so that storing begins soon and then has no need to
  /// wait.
  private var gathered = RunReader.limit * 3 / 8
  private var isAtEnd = false
  /// What the source ended with, once all fixes before that are watched.
  private var failure: FieldpackError?

  /// - Parameter known: what the file knows of the devices.
  init(_ plan: RunPlan, _ run: StoredRun, _ known: [DeviceState]) {
    self.plan = plan
    self.run = run
    nextUpdates = plan.source.updates().makeAsyncIterator().nextUpdates
    watch = RunWatch(run, known, plan)
    if plan.isReplay { taken = TakenFixes(of: run, MonitorState(devices: known)) }
  }

  // MARK: Watching

  /// How long fixes are watched for one transaction, so that what a slow monitor saw is soon stored.
  private static let patience = Duration.milliseconds(250)
  /// How many fixes are gathered at most for a transaction where all of them are there, and those that
  /// come with the last of them.
  private static let limit = 262_144

  /// Watches the fixes that come next, by the regions as they are then; `nil` at the end of the source.
  ///
  /// - Parameter isAhead: whether the fixes before are stored meanwhile. Several batches of the source are
  ///   watched then, by the regions as they were; whoever stores them asks for ``confirmed(_:)`` first.
  func next(isAhead: Bool) async throws(FieldpackError) -> Batch? {
    guard try await fill() else { return nil }
    if isAhead { return await watchAhead() }
    if let refresh = plan.refresh {
      var monitor = watch.monitor
      if try await refresh(&monitor) { watch.monitor = monitor }
    }
    return watchLeft()
  }

  /// The batch, or the newest one watched again where the regions are not as they were.
  func confirmed(_ batch: Batch) async throws(FieldpackError) -> Batch {
    guard let refresh = plan.refresh, let retry = batch.retry else { return batch }
    var watch = retry.watch
    guard try await refresh(&watch.monitor) else { return batch }
    self.watch = watch
    left = retry.fixes + left.dropFirst(retry.hasRest ? 1 : 0)
    return watchLeft()
  }

  /// Watches what is left, or as much of it as one transaction stores.
  private func watchLeft() -> Batch {
    var batch = Batch(watched: watch.begin())
    watch(into: &batch, until: plan.clock.uptime + Self.patience)
    watch.end(&batch.watched)
    return batch
  }

  private func watchAhead() async -> Batch {
    let end = plan.clock.uptime + Self.patience
    let retry = plan.refresh == nil ? nil : Retry(watch: watch)
    var batch = Batch(watched: watch.begin(), retry: retry)
    let limit = gathered
    gathered = min(gathered * 5 / 4, Self.limit)
    repeat {
      watch(into: &batch, until: end)
      let isFull = !left.isEmpty
      if isFull || batch.watched.count >= limit || plan.clock.uptime >= end { break }
    } while await fillForLater()
    watch.end(&batch.watched)
    return batch
  }

  private func watch(into batch: inout Batch, until end: Duration) {
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

  // MARK: Reading

  /// Reads fixes where none are left; false at the end of the source.
  private func fill() async throws(FieldpackError) -> Bool {
    while left.isEmpty {
      if let failure { throw failure }
      guard !isAtEnd, let fixes = try await fixes() else {
        isAtEnd = true
        return false
      }
      if !fixes.isEmpty { left.append(fixes[...]) }
    }
    return true
  }

  /// As ``fill()``, and keeps an error for the next time.
  private func fillForLater() async -> Bool {
    do throws(FieldpackError) { return try await fill() } catch {
      failure = error
      return false
    }
  }

  /// The fixes of the source's next batch that the run has not taken yet; `nil` at the end.
  ///
  /// - Throws: `.invalidArgument` where a replay does not give what the run took.
  private func fixes() async throws(FieldpackError) -> [Fix]? {
    while true {
      if let updates = try await nextUpdates() {
        if let fixes = try fresh(updates) { return fixes }
      } else {
        guard try taken?.verdictAtEnd() == .again else { return nil }
        if let state = taken?.stateByTime { watch.monitor.resume(state) }
      }
      try await readAgain()
    }
  }

  /// The fixes of a batch that the run has not taken yet; `nil` where the source is not as it was, and
  /// has to be read again.
  private func fresh(_ updates: [LocationUpdate]) throws(FieldpackError) -> [Fix]? {
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

  /// Begins with the first fix of the source again, which is not as it was.
  private func readAgain() async throws(FieldpackError) {
    nextUpdates = plan.source.updates().makeAsyncIterator().nextUpdates
    let (run, now) = (run, plan.clock.now)
    guard let change = taken?.message(at: now) else { return }
    try await plan.store.write { (writer) throws(FieldpackError) in
      try RunTables(writer: writer).log(run, .warning, change, at: now)
    }
    plan.note(change)
  }
}
