public import FieldpackCore

/// A source of given updates, for tests and demonstrations.
public struct ScriptedSource: LocationSource {
  public let authorization: LocationAuthorization
  public let isAvailable: Bool
  public let isComplete: Bool
  private let batches: [[LocationUpdate]]
  private let failure: FieldpackError?

  /// - Parameters:
  ///   - batches: the updates of each step; empty steps are skipped.
  ///   - isComplete: whether it is read like a file, several steps at a time.
  ///   - failure: the error with which the sequence ends, after all batches.
  public init(
    _ batches: [[LocationUpdate]], authorization: LocationAuthorization = .always,
    isAvailable: Bool = true, isComplete: Bool = false, failure: FieldpackError? = nil
  ) {
    self.batches = batches.filter { !$0.isEmpty }
    self.authorization = authorization
    self.isAvailable = isAvailable
    self.isComplete = isComplete
    self.failure = failure
  }

  /// A source that gives one fix in each step.
  public init(_ fixes: [Fix]) { self.init(fixes.map { [.fix($0)] }) }

  public func updates() -> LocationUpdates {
    let (batches, failure) = (batches, failure)
    return LocationUpdates {
      let next = Locked(0)
      return { () async throws(FieldpackError) in
        if Task.isCancelled {
          throw FieldpackError(.interrupted, "the reading of fixes was cancelled")
        }
        let index = next.withLock { next in
          defer { next += 1 }
          return next
        }
        if index < batches.count { return batches[index] }
        if let failure { throw failure }
        return nil
      }
    }
  }
}
