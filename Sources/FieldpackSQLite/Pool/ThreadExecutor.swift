import CSQLite
import FieldpackThreads

/// Runs the jobs of one actor on a thread of its own, so that blocking C code never sits on the
/// cooperative pool.
public final class ThreadExecutor: SerialExecutor {
  private let queue = JobQueue()

  /// - Throws: an error that `isOutOfThreads` when the system has no thread left.
  public convenience init() throws(SQLiteError) { try self.init(stackSize: nil) }

  /// - Parameter stackSize: in bytes; `nil` is what the system gives by default.
  init(stackSize: Int?) throws(SQLiteError) {
    let queue = queue
    // Signals are the main thread's to handle.
    let isRunning = SystemThread.start(stackSize: stackSize, blocksSignals: true) {
      queue.runUntilClosed()
    }
    if !isRunning { throw .outOfThreads }
  }

  deinit { queue.close() }

  public func enqueue(_ job: consuming ExecutorJob) {
    queue.append(UnownedJob(job), on: asUnownedSerialExecutor())
  }
}

/// Jobs on their way to the thread, in order.
private final class JobQueue: Sendable {
  private typealias Entry = (job: UnownedJob, executor: UnownedSerialExecutor)

  private let state = Locked((entries: [Entry](), isClosed: false))

  func append(_ job: UnownedJob, on executor: UnownedSerialExecutor) {
    state.change { $0.entries.append((job, executor)) }
  }

  func close() {
    state.change { $0.isClosed = true }
  }

  func runUntilClosed() {
    #if canImport(Glibc)
      Self.growHeap()
    #endif
    while true {
      let batch = nextBatch()
      if batch.isEmpty { return }
      for entry in batch { entry.job.runSynchronously(on: entry.executor) }
    }
  }

  /// glibc makes the heap of a thread larger by one page at a time and keeps what has been given
  /// back, so that asking for some memory at once spares many calls of the system.
  private static func growHeap() {
    let blocks = (0..<2).map { _ in sqlite3_malloc(100_000) }
    for block in blocks { sqlite3_free(block) }
  }

  /// Waits for jobs; empty when the queue is closed.
  private func nextBatch() -> [Entry] {
    state.wait { state in
      if state.entries.isEmpty && !state.isClosed { return nil }
      defer { state.entries.removeAll() }
      return state.entries
    }
  }
}
