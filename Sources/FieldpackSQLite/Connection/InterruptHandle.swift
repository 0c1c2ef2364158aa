import CSQLite
import Synchronization

/// Stops the work of a connection from any thread.
///
/// A handle may outlive its connection: interrupting then does nothing.
public final class InterruptHandle: @unchecked Sendable {
  // `handle` and `currentRun` are guarded by `lock`.
  private let lock = PlatformLock()
  private var handle: OpaquePointer?
  private var currentRun: UInt64 = 0
  private var lastRun: UInt64 = 0
  private let requested = Atomic<Bool>(false)

  init(handle: OpaquePointer) {
    self.handle = handle
  }

  /// Interrupts the statements that are running; they throw an error that `isInterrupted`.
  public func interrupt() {
    lock.withLock {
      if let handle { sqlite3_interrupt(handle) }
    }
  }

  /// Interrupts the statements that are running, and keeps all others from stepping until a run
  /// begins. So a call between two statements also takes effect.
  public func stop() {
    lock.withLock {
      requested.store(true, ordering: .relaxed)
      if let handle { sqlite3_interrupt(handle) }
    }
  }

  /// Whether the current run was cancelled; each further step of it throws.
  var isRequested: Bool { requested.load(ordering: .relaxed) }

  /// Begins a run, a piece of work that can be cancelled as a whole; returns its number and the
  /// number of the run around it.
  func beginRun() -> (run: UInt64, outer: UInt64) {
    lock.withLock {
      let outer = currentRun
      lastRun += 1
      currentRun = lastRun
      requested.store(false, ordering: .relaxed)
      return (lastRun, outer)
    }
  }

  func endRun(outer: UInt64) {
    lock.withLock {
      currentRun = outer
      requested.store(false, ordering: .relaxed)
    }
  }

  /// Cancels the run with this number and no other, so that a late cancellation cannot hit another
  /// run.
  func interrupt(run: UInt64) {
    lock.withLock {
      guard let handle, run == currentRun else { return }
      // SQLite forgets an interrupt that comes between two statements; this flag keeps it.
      requested.store(true, ordering: .relaxed)
      sqlite3_interrupt(handle)
    }
  }

  func invalidate() {
    lock.withLock { handle = nil }
  }
}
