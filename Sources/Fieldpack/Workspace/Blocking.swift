import FieldpackCore
import Foundation

/// Runs work that blocks on a thread of its own, away from the cooperative pool.
enum Blocking {
  static func run<R: Sendable>(
    stoppedBy stop: ImportStop,
    _ body: @escaping @Sendable () throws(FieldpackError) -> R
  ) async throws(FieldpackError) -> R {
    let result: Result<R, FieldpackError> = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let thread = Thread {
          continuation.resume(returning: Result { () throws(FieldpackError) in try body() })
        }
        thread.stackSize = 8 << 20
        thread.start()
      }
    } onCancel: {
      stop.cancel()
    }
    return try result.get()
  }
}
