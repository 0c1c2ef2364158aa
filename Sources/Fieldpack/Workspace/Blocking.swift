import FieldpackCore

/// Runs work that blocks on a thread of its own, away from the cooperative pool.
enum Blocking {
  static func run<R: Sendable>(
    stoppedBy stop: ImportStop,
    _ body: @escaping @Sendable () throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    let result: Result<R, FieldpackError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isRunning = SystemThread.start {
          continuation.resume(returning: Result { () throws(FieldpackError) in try body() })
        }
        if !isRunning {
          continuation.resume(
            returning: .failure(FieldpackError(.unavailable, "no thread could be started")))
        }
      }
    } onCancel: {
      stop.cancel()
    }
    return try result.get()
  }
}
