public import FieldpackCore
public import FieldpackMonitoring

/// What one transaction of a run stored.
public struct RecordedStep: Hashable, Sendable {
  /// How many fixes the run has taken so far, those passed over included.
  public var fixes: Int
  /// What its monitor saw in the fixes of this transaction.
  public var detections: [Detection]
  /// The points that a recording added to its tracks.
  public var points: [TrackPoint]
}

/// A run as it goes: each element is committed before it is given.
///
/// Iterating is what drives the run; it begins with the first call of `next()`, and ends with its
/// source. An error of the source, the cancelling of the task (`.interrupted`) and another start
/// (the failure ``LocationFailure/aborted``) end it, too; what was given stays in the file.
///
/// Each batch of the source is a transaction, and is split after 10,000 detections, 2,500 points or a
/// quarter of a second of watching. Of a source that ``LocationSource/isComplete`` several batches are
/// one, up to some 262,144 fixes; the next are read and watched while it is stored.
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

  /// Goes on to the end of the source.
  ///
  /// - Parameter body: gets each step after its commit.
  /// - Returns: how many fixes the run has taken, over all of its starts.
  @discardableResult
  public func run(
    _ body: (RecordedStep) async throws(FieldpackError) -> Void = { (_) throws(FieldpackError) in }
  ) async throws(FieldpackError) -> Int {
    let loop = makeLoop()
    while let step = try await loop.next() { try await body(step) }
    return loop.fixes
  }
}
