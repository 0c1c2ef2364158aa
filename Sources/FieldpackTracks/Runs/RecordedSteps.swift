public import FieldpackCore
public import FieldpackMonitoring

/// The content of one transaction of a run.
public struct RecordedStep: Hashable, Sendable {
  /// How many fixes the run has taken so far, ignored ones included.
  public var fixes: Int
  /// What the monitor detected in the fixes of this transaction.
  public var detections: [Detection]
  /// The points that a recording added to its tracks.
  public var points: [TrackPoint]
}

/// The steps of a run. Each step is committed before it is given.
///
/// Iterating drives the run: it begins with the first call of `next()` and ends with its source. An
/// error of the source, cancelling of the task (`.interrupted`) and another start under the same
/// name (the failure ``FieldpackLocation/LocationFailure/aborted``) end it as well. Steps that were given stay in the
/// file.
///
/// Each batch of the source is a transaction, and is split after 10,000 detections, 2,500 points or
/// a quarter of a second of watching. With a source that ``FieldpackLocation/LocationSource/isComplete``, a
/// transaction has several batches, up to some 262,144 fixes, and the next ones are read and
/// watched while it is stored.
public struct RecordedSteps: AsyncSequence, Sendable {
  public typealias Element = RecordedStep
  public typealias Failure = FieldpackError

  let makeLoop: @Sendable () -> RunLoop

  public struct Iterator: AsyncIteratorProtocol {
    let loop: RunLoop

    public func next() async throws(FieldpackError) -> RecordedStep? { try await loop.next() }

    public func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FieldpackError) -> RecordedStep? { try await loop.next() }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(loop: makeLoop()) }

  /// Runs to the end of the source.
  ///
  /// - Parameter body: called with each step after its commit.
  /// - Returns: how many fixes the run has taken in all, earlier starts included.
  @discardableResult
  public func run(
    _ body: (RecordedStep) async throws(FieldpackError) -> Void = { (_) throws(FieldpackError) in }
  ) async throws(FieldpackError) -> Int {
    let loop = makeLoop()
    while let step = try await loop.next() { try await body(step) }
    return loop.fixes
  }
}
