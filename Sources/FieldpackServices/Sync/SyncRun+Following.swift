public import FieldpackCore
public import FieldpackField
import FieldpackGeoPackage
import FieldpackHTTP

/// What becomes of a synchronisation that goes on.
public enum SyncEvent: Sendable {
  /// Both sides were synchronised.
  case finished(SyncReport)
  /// The other side could not be reached; it is asked again after the pause.
  case waiting(Duration, FieldpackError)
}

extension SyncRun {
  /// How long the other side is left alone when it could not be reached: half a second, then each time
  /// twice as long, up to half a minute.
  public static let backOff = BackOff(
    first: .milliseconds(500), limit: .seconds(30), jitter: 0.5)

  /// How often the file is looked at for new edits.
  private static let look = Duration.milliseconds(500)

  /// Synchronises until the task is cancelled: at once, after each commit with edits, whoever makes
  /// them, and after each pause.
  ///
  /// The run is a row of the layer `sync_job`, with the name of the file as its subject. A cancelled
  /// task ends between two transactions.
  ///
  /// - Parameters:
  ///   - pause: after which the other side is asked for new edits.
  ///   - tell: called with each event.
  /// - Throws: `.interrupted` when cancelled, and what ``run()`` throws but for `.unavailable` and
  ///   `.busy`, which may pass.
  public func follow(
    every pause: Duration = .seconds(30), backOff: BackOff = Self.backOff,
    tell: (SyncEvent) throws(FieldpackError) -> Void
  ) async throws(FieldpackError) {
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try SyncTables.create(in: writer)
    }
    let runner = JobRunner(
      SyncTables.jobs, in: store, JobRules(attempts: .max, backOff: backOff), clock: clock)
    let subject = Value.text(store.path.split(separator: "/").last.map { String($0) } ?? "")
    var run = self
    while true {
      let heads = try await heads()
      let jobs = try await runner.queue([subject], with: Job.target(ofAddress: peer.name))
      for job in jobs { try await run.follow(job, by: runner, tell) }
      run.retriesParked = false
      try await waitForEdits(since: heads, atMost: pause)
    }
  }

  /// Runs until the other side was reached.
  private func follow(
    _ job: Job, by runner: JobRunner, _ tell: (SyncEvent) throws(FieldpackError) -> Void
  ) async throws(FieldpackError) {
    let failure = Locked<FieldpackError?>(nil)
    let report = Locked<SyncReport?>(nil)
    let trouble = Locked<FieldpackError?>(nil)
    _ = try await runner.run(
      job,
      try: { (_: inout Job) async throws(FieldpackError) -> JobAnswer in
        if let trouble = trouble.withLock({ $0 }) { throw trouble }
        do throws(FieldpackError) {
          let made = try await self.run()
          report.withLock { $0 = made }
          return .done
        } catch {
          guard error.code == .unavailable || error.code == .busy else { throw error }
          failure.withLock { $0 = error }
          return .failed(error, again: true, asked: error.askedPause)
        }
      },
      waiting: { pause in
        guard let error = failure.withLock({ $0 }) else { return }
        do throws(FieldpackError) { try tell(.waiting(pause, error)) } catch {
          trouble.withLock { $0 = error }
        }
      }, done: { _ in })
    if let report = report.withLock({ $0 }) { try tell(.finished(report)) }
  }

  // MARK: Waiting

  /// The last edit of each log.
  private func heads() async throws(FieldpackError) -> [LayerID: Int64] {
    try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      var heads: [LayerID: Int64] = [:]
      for layer in try snapshot.loggedLayers() {
        heads[layer] = try snapshot.editLog(of: layer)?.head()
      }
      return heads
    }
  }

  /// Whether there are edits that were made here since then.
  private func hasEdits(since heads: [LayerID: Int64]) async throws(FieldpackError) -> Bool {
    try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      for layer in try snapshot.loggedLayers() {
        let pending = try snapshot.editLog(of: layer)?.pending(after: heads[layer] ?? 0, limit: 1)
        if pending?.isEmpty == false { return true }
      }
      return false
    }
  }

  private func waitForEdits(
    since heads: [LayerID: Int64], atMost pause: Duration
  ) async throws(FieldpackError) {
    let end = clock.uptime + pause
    while clock.uptime < end {
      do throws(CancellationError) {
        try await clock.sleep(for: min(Self.look, end - clock.uptime))
      } catch {
        throw FieldpackError(.interrupted, "the synchronisation was cancelled while it waited")
      }
      do throws(FieldpackError) {
        if try await hasEdits(since: heads) { return }
      } catch {
        // Another program writes.
        guard error.code == .busy else { throw error }
      }
    }
  }
}

extension SyncTables {
  /// Lets the edits that the other side has refused be sent again.
  static func forgetRefusals(
    of target: String, _ writer: GeoPackageWriter
  ) throws(FieldpackError) {
    for job in try jobs.all(writer) where job.state == .failed && job.target == target {
      try jobs.delete(of: job.subject, writer)
    }
  }
}
