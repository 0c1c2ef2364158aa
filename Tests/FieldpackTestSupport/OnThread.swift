import Foundation

/// Runs `body`, which blocks, on a thread of its own: tests share a thread a core, and others have
/// time limits.
public func onThread<R: Sendable>(
  _ body: @escaping @Sendable () throws -> R
) async throws -> R {
  try await withCheckedThrowingContinuation { continuation in
    let thread = Thread { continuation.resume(with: Result { try body() }) }
    thread.start()
  }
}
