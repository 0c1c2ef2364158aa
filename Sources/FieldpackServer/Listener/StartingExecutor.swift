#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs a task on the thread that begins it, up to its first wait. What follows runs where tasks usually
/// do.
///
/// A task that never waits, such as for one feature, is then done before ``start(_:)`` comes back, without
/// the way to another thread and back, which takes longer than its work.
final class StartingExecutor: TaskExecutor {
  private static let shared = StartingExecutor()
  /// Not nil on a thread that begins a task now.
  private static let mark: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  static func start(_ body: sending @escaping () async -> Void) -> Task<Void, Never> {
    let outer = pthread_getspecific(mark)
    pthread_setspecific(mark, UnsafeRawPointer(bitPattern: 1))
    defer { pthread_setspecific(mark, outer) }
    return Task(executorPreference: shared, operation: body)
  }

  func enqueue(_ job: consuming ExecutorJob) {
    guard pthread_getspecific(Self.mark) != nil else {
      return globalConcurrentExecutor.enqueue(job)
    }
    // What the job itself begins is not to run inside of it.
    pthread_setspecific(Self.mark, nil)
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}
