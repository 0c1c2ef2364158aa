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
  private struct State {
    /// Exchanges that the thread has not seen.
    var incoming: [Transfer] = []
    /// Exchanges whose readers have made room.
    var resumed: [Transfer] = []
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

  func start(_ transfer: Transfer) {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.incoming.append(transfer) }
      return state.isClosed
    }
    if isClosed { transfer.reception.end(transfer.cancelled) }
    wake()
  }

  /// Goes on with an exchange that had to wait for its reader.
  func resume(_ transfer: Transfer) {
    state.withLock { $0.resumed.append(transfer) }
    wake()
  }

  func cancel(_ transfer: Transfer) {
    transfer.isCancelled.withLock { $0 = true }
    wake()
  }

  /// Waits for something of an exchange, which is cancelled with the task.
  func whileNotCancelled<Value: Sendable>(
    _ transfer: Transfer, _ wait: (Transfer) async throws(FieldpackError) -> Value
  ) async throws(FieldpackError) -> Value {
    let result = await withTaskCancellationHandler { () async -> Result<Value, FieldpackError> in
      do throws(FieldpackError) { return .success(try await wait(transfer)) } catch {
        return .failure(error)
      }
    } onCancel: {
      cancel(transfer)
    }
    return try result.get()
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

  private typealias Running = [UnsafeMutableRawPointer: Transfer]

  private func runUntilClosed() {
    guard let multi = state.withLock({ $0.multi?.raw }) else { return }
    var running: Running = [:]
    while begin(multi, &running) {
      var count: Int32 = 0
      curl_multi_perform(multi, &count)
      finish(multi, &running)
      curl_multi_poll(multi, nil, 0, Self.longestSleep, nil)
    }
    for (_, transfer) in running { end(transfer, multi, transfer.cancelled) }
    state.withLock { $0.multi = nil }
    curl_multi_cleanup(multi)
  }

  /// In milliseconds; the library wakes by itself for what it has to do.
  private static let longestSleep: Int32 = 1 << 30

  /// Takes what is new, goes on with what has room again, stops what is cancelled; gives whether to
  /// go on.
  private func begin(_ multi: UnsafeMutableRawPointer, _ running: inout Running) -> Bool {
    let (incoming, resumed, isClosed) = state.withLock { state in
      defer { (state.incoming, state.resumed) = ([], []) }
      return (state.incoming, state.resumed, state.isClosed)
    }
    for transfer in incoming {
      let raw = transfer.handle.raw
      if curl_multi_add_handle(multi, raw) == CURLM_OK {
        running[raw] = transfer
      } else {
        transfer.reception.end(FieldpackError(.io, "libcurl takes no exchange"))
      }
    }
    for (raw, transfer) in running where transfer.isCancelled.withLock({ $0 }) {
      running[raw] = nil
      end(transfer, multi, transfer.cancelled)
    }
    for transfer in resumed where running[transfer.handle.raw] != nil {
      curl_easy_pause(transfer.handle.raw, CURLPAUSE_CONT)
    }
    return !isClosed
  }

  private func finish(_ multi: UnsafeMutableRawPointer, _ running: inout Running) {
    var left: Int32 = 0
    while let message = curl_multi_info_read(multi, &left) {
      guard message.pointee.msg == CURLMSG_DONE, let raw = message.pointee.easy_handle,
        let transfer = running.removeValue(forKey: raw)
      else { continue }
      end(transfer, multi, transfer.failure(fieldpack_curl_message_result(message)))
    }
  }

  private func end(
    _ transfer: Transfer, _ multi: UnsafeMutableRawPointer, _ error: FieldpackError?
  ) {
    curl_multi_remove_handle(multi, transfer.handle.raw)
    transfer.reception.end(error)
  }
}
