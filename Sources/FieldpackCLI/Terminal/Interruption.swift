import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Turns the signals that end a program into the cancellation of its task.
///
/// A process has at most one.
final class Interruption: Sendable {
  private let received = Locked<Int32?>(nil)
  private let cancellation = Locked<(@Sendable () -> Void)?>(nil)

  /// The signal that has come, if any; the exit status is then 128 more.
  var signal: Int32? { received.withLock { $0 } }

  /// Keeps the signals from ending the process.
  ///
  /// One that the process was told to ignore, as by `nohup`, stays ignored.
  init() {
    ignoreFailedWrites()
    var ends: [Int32] = [-1, -1]
    guard makePipe(&ends) == 0 else { return }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    signalPipe = ends[1]
    let input = ends[0]
    let isRunning = SystemThread.start(stackSize: nil) { self.watch(input) }
    guard isRunning else { return }
    for number in [SIGINT, SIGTERM, SIGHUP] { Self.handle(number) }
  }

  /// Calls `action` at the first signal, at once where that has come already.
  func onFirst(_ action: @escaping @Sendable () -> Void) {
    cancellation.withLock { $0 = action }
    if signal != nil { action() }
  }

  // The main thread waits in libdispatch with no signal blocked, so that `sigwait` in another
  // thread would never see one: a handler hands them over.
  private static func handle(_ number: Int32) {
    var action = sigaction()
    sigaction(number, nil, &action)
    guard !isIgnored(action) else { return }
    action = sigaction()
    setHandler(&action)
    action.sa_flags = SA_RESTART
    sigaction(number, &action, nil)
  }

  private static func isIgnored(_ action: sigaction) -> Bool {
    #if canImport(Glibc)
      let handler = action.__sigaction_handler.sa_handler
    #else
      let handler = action.__sigaction_u.__sa_handler
    #endif
    return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  private static func setHandler(_ action: inout sigaction) {
    #if canImport(Glibc)
      action.__sigaction_handler.sa_handler = passOn
    #else
      action.__sigaction_u.__sa_handler = passOn
    #endif
  }

  /// Takes signals as their handler passes them on, on a thread of its own.
  private func watch(_ descriptor: Int32) {
    var number: UInt8 = 0
    while true {
      let count = read(descriptor, &number, 1)
      if count == 1 {
        receive(Int32(number))
      } else if count == 0 || errno != EINTR {
        return
      }
    }
  }

  private func receive(_ number: Int32) {
    let isFirst = received.withLock { received in
      defer { received = received ?? number }
      return received == nil
    }
    // Someone who asks twice does not want to wait.
    guard isFirst else {
      PendingFile.removeAll()
      HiddenTyping.end()
      _exit(128 + number)
    }
    cancellation.withLock { $0 }?()
  }
}

// Written once, before the first handler is set, and read by handlers only.
nonisolated(unsafe) private var signalPipe: Int32 = -1

/// The signal handler: only calls that are safe in one.
private func passOn(_ number: Int32) {
  let before = errno
  var byte = UInt8(truncatingIfNeeded: number)
  _ = write(signalPipe, &byte, 1)
  errno = before
}

/// `pipe(2)`, out of the way of the method of that name.
private func makePipe(_ ends: inout [Int32]) -> Int32 { pipe(&ends) }

/// Writing to a pipe that nobody reads, or beyond the size that a file may have, is an error of
/// that write, not the end of the process.
private func ignoreFailedWrites() {
  _ = signal(SIGPIPE, SIG_IGN)
  _ = signal(SIGXFSZ, SIG_IGN)
}
