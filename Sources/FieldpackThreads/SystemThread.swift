#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A thread of the system, for work that blocks.
package enum SystemThread {
  /// The stack size that documents nested up to their limit need, independent of the shell's
  /// limits.
  package static let stackSize = 8 << 20

  /// Runs `body` on a new thread that nobody joins; `false` where no thread can be started.
  ///
  /// - Parameters:
  ///   - stackSize: in bytes; `nil` is the system's default.
  ///   - blocksSignals: whether no signal interrupts the thread; children that it starts inherit
  ///     that.
  package static func start(
    stackSize: Int? = stackSize, blocksSignals: Bool = false, _ body: @escaping @Sendable () -> Void
  ) -> Bool {
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
    let work = Unmanaged.passRetained(Work(body)).toOpaque()
    var (all, before) = (sigset_t(), sigset_t())
    sigfillset(&all)
    // A new thread inherits the mask.
    if blocksSignals { pthread_sigmask(SIG_SETMASK, &all, &before) }
    let code = pthread_create(&thread, &attributes, run, work)
    if blocksSignals { pthread_sigmask(SIG_SETMASK, &before, nil) }
    if code != 0 { Unmanaged<Work>.fromOpaque(work).release() }
    return code == 0
  }

  #if canImport(Darwin)
    private static let run: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = {
      Unmanaged<Work>.fromOpaque($0).takeRetainedValue().body()
      return nil
    }
  #else
    private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? =
      {
        guard let work = $0 else { return nil }
        Unmanaged<Work>.fromOpaque(work).takeRetainedValue().body()
        return nil
      }
  #endif

  private final class Work: Sendable {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }
}
