import CCURL
import FieldpackCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The thread that moves the bytes of all exchanges of a client.
///
/// It sleeps in `curl_multi_poll` until a socket, a timer or a new exchange has work for it.
final class TransferLoop: Sendable {
  typealias Outcome = Result<HTTPResponse, FieldpackError>
  typealias Continuation = CheckedContinuation<Outcome, Never>

  private struct State {
    /// Exchanges that the thread has not seen.
    var incoming: [(Transfer, Continuation)] = []
    var isClosed = false
    /// The handle, while it may be woken.
    var multi: MultiHandle?
  }

  private struct MultiHandle: @unchecked Sendable {
    // Used by the loop's thread; others only wake it, which the library allows, under the lock.
    let raw: UnsafeMutableRawPointer
  }

  private let state: Locked<State>

  init(_ configuration: HTTPConfiguration) throws(FieldpackError) {
    guard HTTPLibrary.isReady, let multi = curl_multi_init() else {
      throw FieldpackError(.io, "libcurl cannot be set up")
    }
    _ = fieldpack_curl_multi_set_number(
      multi, CURLMOPT_MAX_HOST_CONNECTIONS, max(1, configuration.connectionsPerHost))
    state = Locked(State(multi: MultiHandle(raw: multi)))
    let isRunning = SystemThread.start(stackSize: nil, blocksSignals: true) {
      self.runUntilClosed()
    }
    guard isRunning else {
      curl_multi_cleanup(multi)
      throw SystemThread.shortage
    }
  }

  func run(_ transfer: Transfer) async -> Outcome {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in add(transfer, continuation) }
    } onCancel: {
      transfer.isCancelled.withLock { $0 = true }
      wake()
    }
  }

  private func add(_ transfer: Transfer, _ continuation: Continuation) {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.incoming.append((transfer, continuation)) }
      return state.isClosed
    }
    if isClosed { continuation.resume(returning: .failure(transfer.cancelled)) }
    wake()
  }

  /// Ends the thread, and what runs.
  func close() {
    state.withLock { $0.isClosed = true }
    wake()
  }

  private func wake() {
    state.withLock { state in
      if let multi = state.multi { curl_multi_wakeup(multi.raw) }
    }
  }

  // MARK: The thread

  private typealias Running = [UnsafeMutableRawPointer: (transfer: Transfer, done: Continuation)]

  private func runUntilClosed() {
    guard let multi = state.withLock({ $0.multi?.raw }) else { return }
    var running: Running = [:]
    while begin(multi, &running) {
      var count: Int32 = 0
      curl_multi_perform(multi, &count)
      finish(multi, &running)
      curl_multi_poll(multi, nil, 0, Self.longestSleep, nil)
    }
    for (_, entry) in running { end(entry, multi, .failure(entry.transfer.cancelled)) }
    state.withLock { $0.multi = nil }
    curl_multi_cleanup(multi)
  }

  /// In milliseconds; the library wakes by itself for what it has to do.
  private static let longestSleep: Int32 = 1 << 30

  /// Takes what is new, stops what is cancelled; gives whether to go on.
  private func begin(_ multi: UnsafeMutableRawPointer, _ running: inout Running) -> Bool {
    let (incoming, isClosed) = state.withLock { state in
      defer { state.incoming = [] }
      return (state.incoming, state.isClosed)
    }
    for (transfer, continuation) in incoming {
      let raw = transfer.handle.raw
      if curl_multi_add_handle(multi, raw) == CURLM_OK {
        running[raw] = (transfer, continuation)
      } else {
        continuation.resume(returning: .failure(FieldpackError(.io, "libcurl takes no exchange")))
      }
    }
    for (raw, entry) in running where entry.transfer.isCancelled.withLock({ $0 }) {
      running[raw] = nil
      end(entry, multi, .failure(entry.transfer.cancelled))
    }
    return !isClosed
  }

  private func finish(_ multi: UnsafeMutableRawPointer, _ running: inout Running) {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let raw = message.pointee.easy_handle,
        let entry = running.removeValue(forKey: raw)
      else { continue }
      end(entry, multi, entry.transfer.outcome(fieldpack_curl_message_result(message)))
    }
  }

  private func end(
    _ entry: (transfer: Transfer, done: Continuation), _ multi: UnsafeMutableRawPointer,
    _ outcome: Outcome
  ) {
    curl_multi_remove_handle(multi, entry.transfer.handle.raw)
    entry.done.resume(returning: outcome)
  }
}
