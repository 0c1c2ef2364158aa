import Synchronization

/// A reader kept for several visits; given back by `release()` or when the last reference goes.
///
/// Between visits its transaction stays open and its connection's `attachment` alive.
public final class ReaderLease: Sendable {
  private let reader: ConnectionActor
  private let queue: ReaderQueue
  private let isReleased = Atomic<Bool>(false)

  init(reader: ConnectionActor, queue: ReaderQueue) {
    self.reader = reader
    self.queue = queue
  }

  deinit {
    guard !isReleased.load(ordering: .acquiring) else { return }
    let reader = reader
    let queue = queue
    Task {
      await reader.rest()
      queue.release(reader)
    }
  }

  /// Runs `body` on the reader; cancellation acts as in ``ConnectionPool/read(_:)``.
  public func run<R: Sendable, E: SQLiteErrorConvertible>(
    _ body: @Sendable (Connection) throws(E) -> R
  ) async throws(E) -> R {
    guard !isReleased.load(ordering: .acquiring) else {
      throw E(sqlite: .misuse("the reader has been released"))
    }
    return try await reader.run(body)
  }

  /// Ends the reader's transaction and gives it back; later visits fail.
  public func release() async {
    guard !isReleased.exchange(true, ordering: .acquiringAndReleasing) else { return }
    await reader.rest()
    queue.release(reader)
  }
}
