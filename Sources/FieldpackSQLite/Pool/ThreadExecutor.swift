import CSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs the jobs of one actor on a thread of its own, so that blocking C code never holds a thread
/// of the cooperative pool.
public final class ThreadExecutor: SerialExecutor {
  private let queue = JobQueue()

  /// - Throws: an error that `isOutOfThreads` when the system has no thread left.
  public convenience init() throws(SQLiteError) { try self.init(stackSize: nil) }

  /// - Parameter stackSize: the size of the stack in bytes; `nil` for the system's default.
  init(stackSize: Int?) throws(SQLiteError) {
    let context = Unmanaged.passRetained(queue).toOpaque()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
    defer { pthread_attr_destroy(&attributes) }
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let code = Self.withSignalsBlocked {
      pthread_create(&thread, &attributes, threadStart, context)
    }
    guard code == 0 else {
      Unmanaged<JobQueue>.fromOpaque(context).release()
      throw .outOfThreads
    }
  }

  deinit { queue.close() }

  public func enqueue(_ job: consuming ExecutorJob) {
    queue.append(UnownedJob(job), on: asUnownedSerialExecutor())
  }

  /// A new thread inherits the mask of blocked signals; only the main thread handles signals.
  private static func withSignalsBlocked<R>(_ body: () -> R) -> R {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    return body()
  }
}

/// The jobs that wait for the thread, in order.
private final class JobQueue: @unchecked Sendable {
  private typealias Entry = (job: UnownedJob, executor: UnownedSerialExecutor)

  // `lock` guards `entries` and `isClosed`.
  private let lock = PlatformLock()
  private var entries: [Entry] = []
  private var isClosed = false

  func append(_ job: UnownedJob, on executor: UnownedSerialExecutor) {
    lock.withLock {
      entries.append((job, executor))
      lock.signal()
    }
  }

  func close() {
    lock.withLock {
      isClosed = true
      lock.signal()
    }
  }

  func runUntilClosed() {
    #if canImport(Glibc)
      Self.growHeap()
    #endif
    while let batch = nextBatch() {
      for entry in batch { entry.job.runSynchronously(on: entry.executor) }
    }
  }

  /// Asks for memory and gives it back: glibc enlarges the heap of a thread by one page at a time
  /// and keeps what is given back, so that this spares many system calls.
  private static func growHeap() {
    let blocks = (0..<2).map { _ in sqlite3_malloc(100_000) }
    for block in blocks { sqlite3_free(block) }
  }

  private func nextBatch() -> [Entry]? {
    lock.withLock {
      while entries.isEmpty && !isClosed { lock.wait() }
      guard !entries.isEmpty else { return nil }
      defer { entries.removeAll() }
      return entries
    }
  }
}

#if canImport(Darwin)
  private let threadStart: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = {
    Unmanaged<JobQueue>.fromOpaque($0).takeRetainedValue().runUntilClosed()
    return nil
  }
#else
  private let threadStart: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
    guard let context = $0 else { return nil }
    Unmanaged<JobQueue>.fromOpaque(context).takeRetainedValue().runUntilClosed()
    return nil
  }
#endif
