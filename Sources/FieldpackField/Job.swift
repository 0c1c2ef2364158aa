package import FieldpackCore

/// Work on one thing, kept as a row until it is done.
package struct Job: Hashable, Sendable {
  package enum State: String, Sendable, CaseIterable {
    case queued, started, failedToStart, progress, succeeded, failed, stopped
  }

  /// The row; `nil` as long as it is not written.
  package var row: FeatureID?
  /// What is worked on: the id of a feature, or a token.
  package var subject: Value
  /// Whom the work is done with: the name of a provider, or an address without its query, where keys
  /// stand.
  package var target: String
  package var state = State.queued
  /// How many tries there were.
  package var attempt = 0
  /// The job is not tried again before.
  package var next: Instant?
  package var status: Int?
  package var message: String?
  package var bytesSent = 0
  package var bytesTotal = 0

  package init(_ subject: Value, with target: String) {
    self.subject = subject
    self.target = target
  }

  /// An address as the target of a job.
  package static func target(ofAddress url: String) -> String {
    String(url.prefix { $0 != "?" })
  }

  /// Whether the job may be tried now.
  package func isDue(at now: Instant) -> Bool { next.map { $0 <= now } ?? true }
}

/// What became of one try of a job.
package enum JobAnswer: Sendable {
  case done
  /// - Parameters:
  ///   - again: whether another try may go well.
  ///   - asked: how long the other side asks to wait before it.
  case failed(FieldpackError, again: Bool, asked: Duration? = nil)
  /// The work could not begin, and another try would not change that.
  case notStarted(FieldpackError)
  /// The other side could not be asked, which says nothing of the job: the try does not count.
  case unreachable(FieldpackError)
}

/// How often jobs are tried, and how long they wait between tries.
package struct JobRules: Sendable {
  package var attempts: Int
  package var backOff: BackOff

  package init(attempts: Int, backOff: BackOff) {
    self.attempts = attempts
    self.backOff = backOff
  }

  /// The job after a try.
  ///
  /// - Returns: with the state `queued` where it is tried again, not before its `next`.
  package func job(_ job: Job, after answer: JobAnswer, at now: Instant) -> Job {
    var job = job
    job.next = nil
    switch answer {
    case .done:
      job.attempt += 1
      job.state = .succeeded
      job.message = nil
    case .failed(let error, let again, let asked):
      job.attempt += 1
      job.message = error.message
      let isLast = !again || job.attempt >= attempts
      job.state = isLast ? .failed : .queued
      if !isLast {
        job.next = now.advanced(by: backOff.pause(after: job.attempt, asked: asked))
      }
    case .notStarted(let error):
      job.state = .failedToStart
      job.message = error.message
    case .unreachable(let error):
      job.state = .queued
      job.message = error.message
    }
    return job
  }
}
