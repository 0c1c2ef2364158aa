package import FieldpackCore
package import FieldpackGeoPackage

/// Works on jobs, and keeps in their rows what becomes of them.
///
/// A job that a killed program left `started` is an ordinary job for the next run.
package struct JobRunner: Sendable {
  private let store: GeoPackageStore
  private let table: JobTable
  private let rules: JobRules
  private let clock: FieldClock

  package init(
    _ table: JobTable, in store: GeoPackageStore, _ rules: JobRules, clock: FieldClock
  ) {
    self.store = store
    self.table = table
    self.rules = rules
    self.clock = clock
  }

  /// Queues subjects in one transaction: those that have a row keep it, with its tries forgotten.
  package func queue(
    _ subjects: [Value], with target: String
  ) async throws(FieldpackError) -> [Job] {
    let now = clock.now
    return try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) -> [Job] in
      var jobs: [Job] = []
      for subject in subjects {
        var job = Job(subject, with: target)
        job.row = try table.job(of: subject, with: target, writer)?.row
        jobs.append(try table.save(job, at: now, writer))
      }
      return jobs
    }
  }

  /// Tries a job until it is done or has failed, and waits between the tries.
  ///
  /// - Parameters:
  ///   - body: one try. It may set what the row tells of the job, such as the bytes that were sent.
  ///   - waiting: called with each pause before it.
  ///   - done: what else the transaction writes that says that the job is done.
  /// - Returns: the job with its last state, and the error of the last try.
  /// - Throws: what `body` and the file throw. The job is `stopped` where that was a cancellation,
  ///   else `failedToStart`.
  package func run(
    _ job: Job, try body: (inout Job) async throws(FieldpackError) -> JobAnswer,
    waiting: (Duration) -> Void,
    done: @escaping @Sendable (GeoPackageWriter) throws(FieldpackError) -> Void
  ) async throws(FieldpackError) -> (job: Job, error: FieldpackError?) {
    var job = job
    do throws(FieldpackError) {
      while true {
        job.state = .started
        try await save(job)
        let answer = try await body(&job)
        let now = clock.now
        job = rules.job(job, after: answer, at: now)
        try await save(job, job.state == .succeeded ? done : nil)
        guard job.state == .queued, let next = job.next else { return (job, answer.error) }
        let pause = Duration.milliseconds(next.milliseconds - now.milliseconds)
        waiting(pause)
        try await wait(pause)
      }
    } catch {
      job.state = error.code == .interrupted ? .stopped : .failedToStart
      job.message = error.message
      // The task that is cancelled could not write any more.
      await Task.detached { [job] in try? await save(job) }.value
      throw error
    }
  }

  private func save(
    _ job: Job, _ more: (@Sendable (GeoPackageWriter) throws(FieldpackError) -> Void)? = nil
  ) async throws(FieldpackError) {
    let now = clock.now
    try await store.write { (writer: GeoPackageWriter) throws(FieldpackError) in
      try table.save(job, at: now, writer)
      try more?(writer)
    }
  }

  private func wait(_ pause: Duration) async throws(FieldpackError) {
    do { try await clock.sleep(for: pause) } catch {
      throw FieldpackError(.interrupted, "the job was cancelled while it waited")
    }
  }
}

extension JobAnswer {
  fileprivate var error: FieldpackError? {
    switch self {
    case .done: nil
    case .failed(let error, _, _), .notStarted(let error), .unreachable(let error): error
    }
  }
}
