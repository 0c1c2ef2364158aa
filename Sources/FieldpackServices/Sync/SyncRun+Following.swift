public import FieldpackCore
public import FieldpackField
import FieldpackGeoPackage

extension SyncRun {
  /// How long the other side is left alone when it could not be reached: half a second, then each time
  /// twice as long, up to half a minute.
  public static let backOff = SyncFollowing.backOff

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
    let following = SyncFollowing(
      store: store, target: Job.target(ofAddress: peer.name), clock: clock)
    try await following.follow(every: pause, backOff: backOff, tell: tell) {
      (isFirst) async throws(FieldpackError) -> SyncReport in
      var run = self
      run.retriesParked = retriesParked && isFirst
      return try await run.run()
    }
  }
}

extension SyncTables {
  /// Lets the edits that were refused be sent again.
  static func forgetRefusals(_ writer: GeoPackageWriter) throws(FieldpackError) {
    for job in try jobs.all(writer) where job.state == .failed {
      try jobs.delete(of: job.subject, writer)
    }
  }
}
