import CSQLite
import FieldpackThreads
import Synchronization

/// Stops the work of a connection from any thread.
///
/// A handle may outlive its connection: interrupting then does nothing.
public final class InterruptHandle: Sendable {
  private struct State {
    var handle: OpaquePointer?
    var currentRun: UInt64 = 0
    var lastRun: UInt64 = 0
  }

  private let state: Locked<State>
  private let requested = Atomic<Bool>(false)

  init(handle: OpaquePointer) {
    // SQLite lets any thread interrupt an open connection.
    nonisolated(unsafe) let state = State(handle: handle)
    self.state = Locked(state)
  }

  /// Interrupts the statements that are running; they throw an error that `isInterrupted`.
  public func interrupt() {
    state.withLock {
      if let handle = $0.handle { sqlite3_interrupt(handle) }
    }
  }

  /// Interrupts the statements that are running, and keeps all others from stepping until a run
  /// begins. So a call between two statements also takes effect.
  public func stop() {
    state.withLock {
      requested.store(true, ordering: .relaxed)
      if let handle = $0.handle { sqlite3_interrupt(handle) }
    }
  }

  /// Whether the current run was cancelled; each further step of it throws.
  var isRequested: Bool { requested.load(ordering: .relaxed) }

  /// Begins a run, a piece of work that can be cancelled as a whole; returns its number and the
  /// number of the run around it.
  func beginRun() -> (run: UInt64, outer: UInt64) {
    state.withLock {
      let outer = $0.currentRun
      $0.lastRun += 1
      $0.currentRun = $0.lastRun
      requested.store(false, ordering: .relaxed)
      return ($0.lastRun, outer)
    }
  }

  func endRun(outer: UInt64) {
    state.withLock {
      $0.currentRun = outer
      requested.store(false, ordering: .relaxed)
    }
  }

  /// Cancels the run with this number and no other, so that a late cancellation cannot hit another
  /// run.
  func interrupt(run: UInt64) {
    state.withLock {
      guard let handle = $0.handle, run == $0.currentRun else { return }
      // SQLite forgets an interrupt that comes between two statements; this flag keeps it.
      requested.store(true, ordering: .relaxed)
      sqlite3_interrupt(handle)
    }
  }

  func invalidate() {
    state.withLock { $0.handle = nil }
  }
}
