#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs a task on the thread that begins it, up to its first wait. The rest runs where tasks usually run.
///
/// A task that never waits, such as one that answers with one feature, is done before ``start(_:)`` returns.
/// To hand the task to another thread would take longer than its work.
final class StartingExecutor: TaskExecutor {
  private static let shared = StartingExecutor()
  /// The key of a value that is not nil on a thread while it begins a task.
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

  /// Runs `body`, which lets a waiting task go on: a task of this executor does so on this thread, up to its
  /// next wait, instead of on another one that has to be woken.
  static func goOn(_ body: () -> Void) {
    let outer = pthread_getspecific(mark)
    pthread_setspecific(mark, UnsafeRawPointer(bitPattern: 1))
    defer { pthread_setspecific(mark, outer) }
    body()
  }

  func enqueue(_ job: consuming ExecutorJob) {
    guard pthread_getspecific(Self.mark) != nil else {
      return globalConcurrentExecutor.enqueue(job)
    }
    // A task that the job begins must not run inside of the job.
    pthread_setspecific(Self.mark, nil)
    UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
  }
}
