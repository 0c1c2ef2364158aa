import FieldpackCore
import FieldpackField
import FieldpackGeoPackage
import FieldpackLocation

/// One reading of a source into a run: each turn waits for the ``RunReader``, which reads and watches
/// fixes, and stores by the ``RunRecord`` what was seen in them.
///
/// The reading of a live source begins when the loop waits for it. Where all fixes are there already,
/// the next ones are read ahead, while what was seen before is stored: on two cores a run then takes as
/// long as the longer of both.
actor RunLoop {
  private let plan: RunPlan
  /// Held while the store writes; nobody else asks for it meanwhile. `nil` before the run begins.
  private let record = Locked<RunRecord?>(nil)
  /// Since the run began.
  private var reader: RunReader?
  private var reading: Reading?
  private var isAborted = false
  private var isDone = false

  private typealias Reading = Task<Result<RunReader.Batch?, FieldpackError>, Never>

  init(_ plan: RunPlan) { self.plan = plan }

  deinit { reading?.cancel() }

  /// How many fixes the run has taken over all of its starts.
  nonisolated var fixes: Int { record.withLock { $0?.run.fixes ?? 0 } }

  /// Ends the loop wherever it waits.
  func abort() {
    isAborted = true
    reading?.cancel()
  }

  func next() async throws(FieldpackError) -> RecordedStep? {
    guard !isDone else { return nil }
    do throws(FieldpackError) {
      let reader = try await begin()
      guard let batch = try await batch(of: reader) else {
        await end(as: .ended, "ended with its source")
        return nil
      }
      if plan.source.isComplete { reading = read(reader, isAhead: true) }
      return try await store(batch.watched)
    } catch {
      throw await failed(error)
    }
  }

  // MARK: Turns

  /// Begins the run, where it has not begun.
  private func begin() async throws(FieldpackError) -> RunReader {
    if let reader { return reader }
    // What cannot begin ends no run that goes on.
    try await plan.source.checkUse(needsAlways: plan.sampling?.needsAlways ?? false)
    await plan.slot.take(self)
    let (plan, now) = (plan, plan.clock.now)
    try await plan.store.keepStatementJournals()
    let (record, known) = try await plan.store.write { (writer) throws(FieldpackError) in
      try FieldData.layers.prepare(in: writer)
      return try RunRecord.begin(plan, in: writer, at: now)
    }
    self.record.withLock { $0 = record }
    let reader = RunReader(plan, record.run, known)
    self.reader = reader
    return reader
  }

  /// Reads and watches the fixes of the next transaction, in a task that ``abort()`` can end.
  private func read(_ reader: RunReader, isAhead: Bool) -> Reading {
    Reading {
      do throws(FieldpackError) { return .success(try await reader.next(isAhead: isAhead)) } catch {
        return .failure(error)
      }
    }
  }

  /// What the next transaction is to store; `nil` at the end of the source.
  private func batch(of reader: RunReader) async throws(FieldpackError) -> RunReader.Batch? {
    try checkGoesOn()
    let reading = reading ?? read(reader, isAhead: false)
    self.reading = reading
    let found = await withTaskCancellationHandler {
      await reading.value
    } onCancel: {
      reading.cancel()
    }
    self.reading = nil
    try checkGoesOn()
    guard let batch = try found.get() else { return nil }
    return try await reader.confirmed(batch)
  }

  /// - Throws: the failure ``FieldpackLocation/LocationFailure/aborted`` after ``abort()``.
  private func checkGoesOn() throws(FieldpackError) {
    if isAborted { throw .takenOver(plan.name) }
  }

  private func store(_ watched: WatchedFixes) async throws(FieldpackError) -> RecordedStep {
    let (record, now) = (record, plan.clock.now)
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
    isDone = true
    let reading = reading
    (self.reading, reader) = (nil, nil)
    reading?.cancel()
    _ = await reading?.value
    plan.slot.leave(self)
    guard let run = record.withLock({ $0?.run }) else { return }
    let (store, now) = (plan.store, plan.clock.now)
    // The task that is cancelled could not write any more.
    await Task.detached {
      try? await store.write { (writer) throws(FieldpackError) in
        try RunTables(writer: writer).end(run, as: ending, message, at: now)
      }
    }.value
  }
}

/// Holds the run that goes on in a recorder or monitor, which the next start aborts.
final class RunSlot: Sendable {
  /// Whoever iterates the run holds it.
  private struct Going {
    weak var loop: RunLoop?
  }

  private let going = Locked(Going())

  func take(_ new: RunLoop) async {
    let old = going.withLock { going in
      defer { going.loop = new }
      return going.loop
    }
    if let old, old !== new { await old.abort() }
  }

  func leave(_ old: RunLoop) {
    going.withLock { if $0.loop === old { $0.loop = nil } }
  }
}
