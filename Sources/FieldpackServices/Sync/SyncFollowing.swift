public import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackHTTP

/// What becomes of a synchronisation that goes on.
public enum SyncEvent: Sendable {
  /// Both sides were synchronised.
  case finished(SyncReport)
  /// The other side could not be reached; it is asked again after the pause.
  case waiting(Duration, FieldpackError)
}

/// A synchronisation of a file that goes on: at once, after each commit with edits, whoever makes them,
/// and after each pause.
struct SyncFollowing: Sendable {
  /// How long the other side is left alone when it could not be reached: half a second, then each time
  /// twice as long, up to half a minute.
  static let backOff = BackOff(first: .milliseconds(500), limit: .seconds(30), jitter: 0.5)
  /// How often the file is looked at for new edits.
  private static let look = Duration.milliseconds(500)

  let store: GeoPackageStore
  /// The other side, as jobs name it.
  let target: String
  let clock: FieldClock

  /// Goes on until the task is cancelled, which ends between two transactions.
  ///
  /// The run is a row of the layer `sync_job`, with the name of the file as its subject.
  /// - Parameters:
  ///   - pause: after which the other side is asked without new edits; `nil` for never.
  ///   - tell: called with each event.
  ///   - synchronise: one run; `isFirst` tells whether it is the first one.
  /// - Throws: `.interrupted` when cancelled, and what a run throws but for `.unavailable` and `.busy`,
  ///   which may pass.
  func follow(
    every pause: Duration?, backOff: BackOff = Self.backOff,
    tell: (SyncEvent) throws(FieldpackError) -> Void,
    _ synchronise: (_ isFirst: Bool) async throws(FieldpackError) -> SyncReport
  ) async throws(FieldpackError) {
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try SyncTables.create(in: writer)
    }
    let runner = JobRunner(
      SyncTables.jobs, in: store, JobRules(attempts: .max, backOff: backOff), clock: clock)
    let subject = Value.text(store.path.split(separator: "/").last.map { String($0) } ?? "")
    var isFirst = true
    while true {
      let heads = try await heads()
      for job in try await runner.queue([subject], with: target) {
        try await run(job, by: runner, tell) { () async throws(FieldpackError) -> SyncReport in
          try await synchronise(isFirst)
        }
      }
      isFirst = false
      try await waitForEdits(since: heads, atMost: pause)
    }
  }

  /// Runs until the other side was reached.
  private func run(
    _ job: Job, by runner: JobRunner, _ tell: (SyncEvent) throws(FieldpackError) -> Void,
    _ synchronise: () async throws(FieldpackError) -> SyncReport
  ) async throws(FieldpackError) {
    var failure: FieldpackError?
    var report: SyncReport?
    var trouble: FieldpackError?
    _ = try await runner.run(
      job,
      try: { (_: inout Job) async throws(FieldpackError) -> JobAnswer in
        if let trouble { throw trouble }
        do throws(FieldpackError) {
          report = try await synchronise()
          return .done
        } catch {
          guard error.code == .unavailable || error.code == .busy else { throw error }
          failure = error
          return .failed(error, again: true, asked: error.askedPause)
        }
      },
      waiting: { pause in
        guard let failure else { return }
        do throws(FieldpackError) { try tell(.waiting(pause, failure)) } catch { trouble = error }
      }, done: { _ in })
    if let report { try tell(.finished(report)) }
  }

  // MARK: Waiting

  /// The last edit of each log.
  private func heads() async throws(FieldpackError) -> [LayerID: Int64] {
    try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      var heads: [LayerID: Int64] = [:]
      for log in try snapshot.editLogs() { heads[log.layer] = try log.head() }
      return heads
    }
  }

  /// Whether there are edits that were made here since then.
  private func hasEdits(since heads: [LayerID: Int64]) async throws(FieldpackError) -> Bool {
    try await store.read { (snapshot: GeoPackageSnapshot) throws(FieldpackError) in
      for log in try snapshot.editLogs()
      where try !log.pending(after: heads[log.layer] ?? 0, limit: 1).isEmpty {
        return true
      }
      return false
    }
  }

  private func waitForEdits(
    since heads: [LayerID: Int64], atMost pause: Duration?
  ) async throws(FieldpackError) {
    let end = pause.map { clock.uptime + $0 }
    while true {
      let left = end.map { $0 - clock.uptime } ?? Self.look
      guard left > .zero else { return }
      do throws(CancellationError) {
        try await clock.sleep(for: min(Self.look, left))
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
