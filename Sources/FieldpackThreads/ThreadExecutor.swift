/// Runs the jobs of one actor on a thread of its own, so that blocking C code never holds a thread
/// of the cooperative pool.
package final class ThreadExecutor: SerialExecutor {
  private let queue = JobQueue()

  /// `nil` when the system has no thread left.
  ///
  /// - Parameter stackSize: the size of the stack in bytes; `nil` for the system's default.
  package init?(stackSize: Int? = nil) {
    let queue = queue
    // A new thread inherits the mask of blocked signals; only the main thread handles signals.
    let isRunning = SystemThread.start(stackSize: stackSize, blocksSignals: true) {
      queue.runUntilClosed()
    }
    if !isRunning { return nil }
  }

  deinit { queue.close() }

  package func enqueue(_ job: consuming ExecutorJob) {
    queue.append(UnownedJob(job), on: asUnownedSerialExecutor())
  }
}

/// The jobs that wait for the thread, in order.
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

  /// Asks for memory and gives it back: glibc enlarges the heap of a thread by one page at a time
  /// and keeps what is given back, so that this spares the hundreds of system calls that a
  /// connection's cache of pages would take. Only what is used becomes memory.
  private static func growHeap() {
    let blocks = (0..<30).map { _ in
      UnsafeMutableRawPointer.allocate(byteCount: 100_000, alignment: 16)
    }
    for block in blocks { block.deallocate() }
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
