#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A value behind a mutex that threads can wait on.
package final class ConditionLock<Value>: @unchecked Sendable {
  // Guarded by `mutex`; both allocated once so that their addresses never change.
  private var value: Value
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>

  package init(_ value: sending Value) {
    self.value = value
    mutex = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    changed = .allocate(capacity: 1)
    changed.initialize(to: pthread_cond_t())
    pthread_cond_init(changed, nil)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  /// Changes the value and wakes all waiting threads.
  package func change<R>(_ body: (inout Value) -> R) -> R {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(changed)
      pthread_mutex_unlock(mutex)
    }
    return body(&value)
  }

  /// Waits until `body` returns a value, then wakes all waiting threads.
  package func wait<R>(_ body: (inout Value) -> R?) -> R {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(changed)
      pthread_mutex_unlock(mutex)
    }
    while true {
      if let result = body(&value) { return result }
      pthread_cond_wait(changed, mutex)
    }
  }
}

/// A thread of the system, for work that blocks.
package enum SystemThread {
  /// The stack size that documents nested up to their limit need, independent of the shell's
  /// limits.
  package static let stackSize = 8 << 20

  /// The error where no thread can be started.
  package static let shortage = FieldpackError(
    .unavailable,
    "no thread could be started: a limit of this user's processes and threads (ulimit -u), of memory "
      + "(ulimit -v) or of stacks (ulimit -s) is reached. Try: raise it, or end other programs")

  /// Starts `count` threads with the system's default stack size, to see whether they can run, and
  /// ends them.
  ///
  /// - Throws: `.unavailable` where they cannot all run at the same time.
  package static func checkRoom(for count: Int) throws(FieldpackError) {
    let isOver = ConditionLock(false)
    defer { isOver.change { $0 = true } }
    for _ in 0..<count {
      let isRunning = start(stackSize: nil) { isOver.wait { $0 ? () : nil } }
      guard isRunning else { throw shortage }
    }
  }

  /// Runs `body` on a new thread that nobody joins; `false` where no thread can be started.
  ///
  /// - Parameter stackSize: in bytes; `nil` is the system's default.
  package static func start(
    stackSize: Int? = stackSize, _ body: @escaping @Sendable () -> Void
  ) -> Bool {
    var thread = pthread_t()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    if let stackSize { pthread_attr_setstacksize(&attributes, stackSize) }
    defer { pthread_attr_destroy(&attributes) }
    let work = Unmanaged.passRetained(Work(body)).toOpaque()
    let code = pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument else { return nil }
        Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, work)
    guard code == 0 else {
      Unmanaged<Work>.fromOpaque(work).release()
      return false
    }
    pthread_detach(thread)
    return true
  }

  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
