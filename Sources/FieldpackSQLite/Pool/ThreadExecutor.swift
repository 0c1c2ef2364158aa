import CSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs the jobs of one actor on a thread of its own, so that blocking C code never sits on the
/// cooperative pool.
public final class ThreadExecutor: SerialExecutor {
  private let queue = JobQueue()

  /// - Throws: an error that `isOutOfThreads` when the system has no thread left.
  public convenience init() throws(SQLiteError) { try self.init(stackSize: nil) }

  /// - Parameter stackSize: in bytes; `nil` is what the system gives by default.
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

  /// A new thread inherits the mask: signals are the main thread's to handle.
  private static func withSignalsBlocked<R>(_ body: () -> R) -> R {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
    return body()
  }
}

/// Jobs on their way to the thread, in order.
private final class JobQueue: @unchecked Sendable {
  private typealias Entry = (job: UnownedJob, executor: UnownedSerialExecutor)

  // `entries` and `isClosed` are guarded by `lock`.
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

  /// glibc makes the heap of a thread larger by one page at a time and keeps what has been given
  /// back, so that asking for some memory at once spares many calls of the system.
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
