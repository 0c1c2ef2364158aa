import FieldpackCore
import FieldpackField

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A WebSocket connection, which a thread of its own reads and writes.
final class WebSocket: SocketWork {
  private struct State {
    var output: [[UInt8]] = []
    /// How much of the first is sent.
    var sent = 0
    var outputCount = 0
    /// Messages that nobody has taken yet.
    var waiting = 0
    var hasSaidClose = false
    var hasEnded = false
    var isWoken = false
    var whenEnded: [CheckedContinuation<Void, Never>] = []
  }

  /// The messages of the client, whose reader calls ``handled()`` after each.
  let messages: AsyncStream<String>
  private let sink: AsyncStream<String>.Continuation
  private let state = Locked(State())
  private let wakes: (reading: Int32, writing: Int32)?
  private let clock: FieldClock

  /// While so many messages wait, no more are read from the client.
  private static let mostWaiting = 16
  /// A client is too slow when more bytes than this wait to be sent to it.
  private static let mostOutput = 64 << 20
  private static let pause = Duration.seconds(15)
  private static let patience = Duration.seconds(60)
  private static let goodbye = Duration.seconds(2)

  init(clock: FieldClock = .system) {
    (messages, sink) = AsyncStream.makeStream(of: String.self)
    self.clock = clock
    var pair: (Int32, Int32) = (-1, -1)
    let made = withUnsafeMutablePointer(to: &pair) { pair in
      pair.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) }
    }
    wakes = made == 0 ? (pair.0, pair.1) : nil
    guard made == 0 else { return }
    for end in [pair.0, pair.1] {
      _ = fcntl(end, F_SETFD, FD_CLOEXEC)
      _ = fcntl(end, F_SETFL, O_NONBLOCK)
    }
  }

  deinit {
    guard let wakes else { return }
    _ = shut(wakes.reading)
    _ = shut(wakes.writing)
  }

  // MARK: From other threads

  func send(_ text: String) {
    put(WebSocketReader.text(text))
  }

  /// Says good-bye, after all that was sent before.
  func close(_ reason: WebSocketClose) {
    let isFirst = state.withLock { state in
      defer { state.hasSaidClose = true }
      return !state.hasSaidClose
    }
    if isFirst { put(WebSocketReader.close(reason), isGoodbye: true) }
  }

  /// A message was taken.
  func handled() {
    state.withLock { $0.waiting -= 1 }
    wake()
  }

  /// Waits for the end of the connection.
  func ended() async {
    await withCheckedContinuation { continuation in
      let hasEnded = state.withLock { state in
        if !state.hasEnded { state.whenEnded.append(continuation) }
        return state.hasEnded
      }
      if hasEnded { continuation.resume() }
    }
  }

  private func put(_ bytes: [UInt8], isGoodbye: Bool = false) {
    state.withLock { state in
      guard !state.hasEnded, !state.hasSaidClose || isGoodbye else { return }
      state.output.append(bytes)
      state.outputCount += bytes.count
    }
    wake()
  }

  private func wake() {
    guard let wakes else { return }
    let isFirst = state.withLock { state in
      defer { state.isWoken = true }
      return !state.isWoken
    }
    guard isFirst else { return }
    var byte: UInt8 = 0
    _ = write(wakes.writing, &byte, 1)
  }

  // MARK: The thread

  func run(on socket: Int32, after first: [UInt8]) {
    if let wakes { serve(socket, first, wakes.reading) }
    let waiting = state.withLock { state in
      state.hasEnded = true
      (state.output, state.outputCount) = ([], 0)
      defer { state.whenEnded = [] }
      return state.whenEnded
    }
    sink.finish()
    for continuation in waiting { continuation.resume() }
  }

  /// Where the connection is, for the thread alone.
  private struct Progress {
    var reader = WebSocketReader()
    var hasHeardClose = false
    var lastHeard: Duration
    var lastPing: Duration
    var closeTime: Duration?
  }

  private func serve(_ socket: Int32, _ first: [UInt8], _ waker: Int32) {
    var progress = Progress(lastHeard: clock.uptime, lastPing: clock.uptime)
    take(first, &progress)
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while !isOver(&progress) {
      let (hasOutput, isFull) = state.withLock { state in
        (!state.output.isEmpty, state.waiting >= Self.mostWaiting)
      }
      let events = (isFull ? 0 : Int16(POLLIN)) | (hasOutput ? Int16(POLLOUT) : 0)
      var polled = [
        pollfd(fd: socket, events: events, revents: 0),
        pollfd(fd: waker, events: Int16(POLLIN), revents: 0),
      ]
      guard poll(&polled, 2, 1000) >= 0 || errno == EINTR else { return }
      if polled[1].revents != 0 {
        var drained = [UInt8](repeating: 0, count: 64)
        _ = read(waker, &drained, drained.count)
        // A wake in between writes no byte; the next turn of the loop finds what it was for.
        state.withLock { $0.isWoken = false }
      }
      let found = polled[0].revents
      if found & Int16(POLLERR | POLLNVAL) != 0 { return }
      if found & Int16(POLLIN | POLLHUP) != 0 {
        let count = recv(socket, &buffer, buffer.count, 0)
        if count > 0 {
          progress.lastHeard = clock.uptime
          take(buffer[..<count], &progress)
        } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
          return
        }
      }
      if found & Int16(POLLOUT) != 0, !flush(to: socket) { return }
    }
  }

  private func take(_ bytes: some Sequence<UInt8>, _ progress: inout Progress) {
    guard !progress.hasHeardClose else { return }
    do throws(WebSocketClose) {
      for event in try progress.reader.take(bytes) {
        switch event {
        case .text(let text):
          state.withLock { $0.waiting += 1 }
          sink.yield(text)
        case .ping(let payload): put(WebSocketReader.pong(payload))
        case .pong: break
        case .close(let reason):
          progress.hasHeardClose = true
          close(reason)
        }
      }
    } catch {
      progress.hasHeardClose = true
      close(error)
    }
  }

  /// Whether the connection can end; asks a silent client for a sign of life.
  private func isOver(_ progress: inout Progress) -> Bool {
    let now = clock.uptime
    let (count, hasSaidClose) = state.withLock { ($0.outputCount, $0.hasSaidClose) }
    if hasSaidClose {
      if progress.hasHeardClose, count == 0 { return true }
      let end = progress.closeTime ?? now + Self.goodbye
      progress.closeTime = end
      return now > end
    }
    if count > Self.mostOutput { close(.tooSlow) }
    if now - progress.lastHeard > Self.patience { return true }
    if now - progress.lastHeard > Self.pause, now - progress.lastPing > Self.pause {
      progress.lastPing = now
      put(WebSocketReader.ping)
    }
    return false
  }

  /// Sends what the client takes now; `false` where it has gone.
  private func flush(to socket: Int32) -> Bool {
    state.withLock { state in
      while let first = state.output.first {
        let count = first.withUnsafeBytes { bytes in
          Self.send(UnsafeRawBufferPointer(rebasing: bytes[state.sent...]), to: socket)
        }
        if count < 0 { return errno == EAGAIN || errno == EINTR }
        state.sent += count
        state.outputCount -= count
        guard state.sent == first.count else { return true }
        state.output.removeFirst()
        state.sent = 0
      }
      return true
    }
  }

  private static func send(_ bytes: UnsafeRawBufferPointer, to socket: Int32) -> Int {
    #if canImport(Glibc)
      Glibc.send(socket, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    #elseif canImport(Darwin)
      Darwin.send(socket, bytes.baseAddress, bytes.count, 0)
    #endif
  }
}

/// `close(2)`, out of the way of the method of that name.
private func shut(_ descriptor: Int32) -> Int32 { close(descriptor) }
