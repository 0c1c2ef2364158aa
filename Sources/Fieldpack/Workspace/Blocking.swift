import FieldpackCore
import FieldpackGeoPackage

/// Runs work that blocks on a thread of its own, away from the cooperative pool.
enum Blocking {
  static func run<R: Sendable>(
    stoppedBy stop: Cancellation,
    _ body: @escaping @Sendable () throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    let result: Result<R, FieldpackError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isRunning = SystemThread.start {
          continuation.resume(returning: Result { () throws(FieldpackError) in try body() })
        }
        if !isRunning {
          continuation.resume(returning: .failure(SystemThread.shortage))
        }
      }
    } onCancel: {
      stop.cancel()
    }
    return try result.get()
  }

  /// Runs the work that `begin` makes. A cancelled task stops it in SQL, and between the steps of
  /// which `progress` is told.
  static func run<Work: CancellableJob>(
    telling progress: (@Sendable (Int) throws(FieldpackError) -> Void)?,
    _ begin:
      @escaping @Sendable (
        _ progress: @escaping @Sendable (Int) throws(FieldpackError) -> Void
      ) throws(FieldpackError) -> Work
  ) async throws(FieldpackError) -> Work.Report {
    let stop = Cancellation()
    return try await run(stoppedBy: stop) { () throws(FieldpackError) in
      let work = try begin { (done) throws(FieldpackError) in
        try stop.check()
        try progress?(done)
      }
      stop.interrupting(work.interrupt)
      defer { stop.interrupting(nil) }
      try stop.check()
      return try work.run()
    }
  }
}
