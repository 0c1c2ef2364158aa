import Synchronization

/// A reader taken for several visits; `release()` gives it back, or the end of the last reference.
///
/// Between visits its transaction stays open.
public final class ReaderLease<Session>: Sendable {
  private let reader: ConnectionActor<Session>
  private let queue: ReaderQueue
  private let isReleased = Atomic<Bool>(false)

  init(reader: ConnectionActor<Session>, queue: ReaderQueue) {
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
    _ body: @Sendable (Session) throws(E) -> R
  ) async throws(E) -> R {
    guard !isReleased.load(ordering: .acquiring) else { throw E(sqlite: .released) }
    return try await reader.run(body)
  }

  /// As ``run(_:)``, with a value that the reader keeps until its release.
  public func run<R: Sendable, Value, E: SQLiteErrorConvertible>(
    keeping value: LeasedValue<Value>, _ body: @Sendable (Session, inout Value?) throws(E) -> R
  ) async throws(E) -> R {
    guard !isReleased.load(ordering: .acquiring) else { throw E(sqlite: .released) }
    return try await reader.run(keeping: value, body)
  }

  /// Ends the reader's transaction and gives it back; later visits fail.
  public func release() async {
    guard !isReleased.exchange(true, ordering: .acquiringAndReleasing) else { return }
    await reader.rest()
    queue.release(reader)
  }
}

extension SQLiteError {
  fileprivate static let released = SQLiteError.misuse("the reader has been released")
}
