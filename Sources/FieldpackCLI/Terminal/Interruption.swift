import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Turns the signals that end a program into the cancellation of its task.
final class Interruption: Sendable {
  private let received = Locked<Int32?>(nil)
  private let cancellation = Locked<(@Sendable () -> Void)?>(nil)

  /// The signal that has come, if any; the exit status is then 128 more.
  var signal: Int32? { received.withLock { $0 } }

  /// Keeps the signals from ending the process. Threads made later inherit this.
  ///
  /// A signal that the process was told to ignore, as by `nohup`, stays ignored.
  init() {
    ignoreBrokenPipes()
    var set = sigset_t()
    sigemptyset(&set)
    for number in [SIGINT, SIGTERM, SIGHUP] where !Self.isIgnored(number) {
      sigaddset(&set, number)
    }
    pthread_sigmask(SIG_BLOCK, &set, nil)
    start(set)
  }

  /// Calls `action` at the first signal, at once where that has come already.
  func onFirst(_ action: @escaping @Sendable () -> Void) {
    cancellation.withLock { $0 = action }
    if signal != nil { action() }
  }

  private static func isIgnored(_ number: Int32) -> Bool {
    var action = sigaction()
    sigaction(number, nil, &action)
    #if canImport(Glibc)
      let handler = action.__sigaction_handler.sa_handler
    #else
      let handler = action.__sigaction_u.__sa_handler
    #endif
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private func start(_ set: sigset_t) {
    let watch = Unmanaged.passRetained(Watch(set: set, interruption: self))
    #if canImport(Glibc)
      var thread = pthread_t()
    #else
      var thread: pthread_t?
    #endif
    let status = pthread_create(
      &thread, nil,
      { context in
        guard let context else { return nil }
        Unmanaged<Watch>.fromOpaque(context).takeRetainedValue().run()
        return nil
      }, watch.toOpaque())
    if status == 0 { pthread_detach(thread) } else { watch.release() }
  }

  fileprivate func receive(_ number: Int32) {
    let isFirst = received.withLock { received in
      defer { received = received ?? number }
      return received == nil
    }
    // Someone who asks twice does not want to wait.
    guard isFirst else { _exit(128 + number) }
    cancellation.withLock { $0 }?()
  }
}

/// What the thread that waits for signals works with.
private final class Watch {
  private var set: sigset_t
  private let interruption: Interruption

  init(set: sigset_t, interruption: Interruption) {
    self.set = set
    self.interruption = interruption
  }

  func run() {
    var number: Int32 = 0
    while sigwait(&set, &number) == 0 { interruption.receive(number) }
  }
}

/// Writing to a pipe that nobody reads is an error of that write, not the end of the process.
private func ignoreBrokenPipes() {
  _ = signal(SIGPIPE, SIG_IGN)
}
