import CSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// How long a connection waits for locks, and when it stops its work.
final class Waiting {
  var busyTimeout: Duration
  var deadline: ContinuousClock.Instant?
  /// How long the work may take from the first look at the clock on, where there is no deadline.
  var patience: Duration?
  var clock = DeadlineClock.system
  /// The number of instructions that the running statement may still take before its next row.
  private var stepsLeft: Int?
  /// Whether the last step reached its limit of instructions.
  private(set) var isOutOfSteps = false
  private let interruptHandle: InterruptHandle
  private var busySince = ContinuousClock.now

  init(interruptHandle: InterruptHandle, busyTimeout: Duration) {
    self.interruptHandle = interruptHandle
    self.busyTimeout = busyTimeout
  }

  var isDeadlinePassed: Bool {
    guard let deadline else { return false }
    return clock.now >= deadline
  }

  /// Installs a busy handler that notices cancellation and deadlines; SQLite's own busy timeout
  /// sleeps through them.
  func install(on handle: OpaquePointer) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_busy_handler(handle, busyCallback, context)
  }

  private static let stepsBetweenLooks = 4_000

  /// Checks the deadline and the limit of instructions after every 4,000 virtual machine
  /// instructions.
  func watchDeadline(on handle: OpaquePointer) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    let looks = deadline != nil || patience != nil || stepsLeft != nil
    sqlite3_progress_handler(
      handle, looks ? Int32(Self.stepsBetweenLooks) : 0, progressCallback, context)
  }

  /// Runs one step, and ends it where it takes more than `steps` instructions.
  func limited(to steps: Int, on handle: OpaquePointer, _ body: () -> Int32) -> Int32 {
    let before = stepsLeft
    stepsLeft = steps
    isOutOfSteps = false
    watchDeadline(on: handle)
    defer {
      stepsLeft = before
      watchDeadline(on: handle)
    }
    return body()
  }

  private func beginPatience() {
    guard let patience, deadline == nil else { return }
    deadline = clock.now + patience
  }

  fileprivate var goesOn: Bool {
    beginPatience()
    if isDeadlinePassed { return false }
    guard let left = stepsLeft else { return true }
    stepsLeft = left - Self.stepsBetweenLooks
    isOutOfSteps = left <= Self.stepsBetweenLooks
    return !isOutOfSteps
  }

  fileprivate func waitsAgain(after attempts: Int32) -> Bool {
    beginPatience()
    if attempts == 0 { busySince = .now }
    guard !interruptHandle.isRequested, !isDeadlinePassed,
      ContinuousClock.now - busySince < busyTimeout
    else { return false }
    let pauses: [UInt32] = [1, 2, 5, 10, 15, 20, 25, 25, 25, 50]
    usleep(pauses[min(Int(attempts), pauses.count - 1)] * 1_000)
    return true
  }
}

private let busyCallback: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32 = {
  context, attempts in
  guard let context else { return 0 }
  let waiting = Unmanaged<Waiting>.fromOpaque(context).takeUnretainedValue()
  return waiting.waitsAgain(after: attempts) ? 1 : 0
}

private let progressCallback: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { context in
  guard let context else { return 0 }
  return Unmanaged<Waiting>.fromOpaque(context).takeUnretainedValue().goesOn ? 0 : 1
}
