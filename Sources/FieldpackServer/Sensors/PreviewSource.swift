import FieldpackCore
import FieldpackField
import FieldpackSensors

/// The frames of a preview as `multipart/x-mixed-replace`. A client that takes them slowly gets the newest.
final class PreviewSource: ByteSource {
  private struct State {
    var bytes: [UInt8]
    var taken = 0
    /// The frame that comes next.
    var next: PreviewFrame?
    var last: PreviewFrame?
    var hasNews = false
    var isEnded = false
    var isFailed = false
    var wake: (@Sendable () -> Void)?
    var work: [Task<Void, Never>] = []
  }

  private let boundary: String
  private let isStillAllowed: (@Sendable () -> Bool)?
  private let state: Locked<State>

  /// A client that has gone is noticed when it is sent something, so the last frame is sent again after so
  /// long. A sensor that has shown nothing by then is given up.
  static let beatPause = Duration.seconds(15)

  /// - Parameter isStillAllowed: whether the client may look on; `nil` for always.
  init(
    _ frames: Subscription<PreviewFrame>, boundary: String,
    while isStillAllowed: (@Sendable () -> Bool)? = nil, clock: FieldClock = .system
  ) {
    self.boundary = boundary
    self.isStillAllowed = isStillAllowed
    state = Locked(State(bytes: Array("--\(boundary)\r\n".utf8)))
    let taking = Task { [weak self] in
      for await frame in frames.stream { self?.take(frame) }
      self?.change { $0.isEnded = true }
    }
    let beating = Task { [weak self] in
      while !Task.isCancelled {
        do throws(CancellationError) { try await clock.sleep(for: Self.beatPause) } catch { return }
        self?.beat()
      }
    }
    state.withLock { $0.work = [taking, beating] }
  }

  deinit { endWork() }

  var pieceSize: Int { 32 << 10 }

  private func take(_ frame: PreviewFrame) {
    change { state in
      (state.next, state.last, state.hasNews) = (frame, frame, true)
    }
  }

  private func beat() {
    change { state in
      if !state.hasNews { state.next = state.last }
      state.isEnded = state.isEnded || state.last == nil
      state.hasNews = false
    }
  }

  // MARK: Taking

  func take(
    into buffer: UnsafeMutableRawBufferPointer, orPause pause: () -> @Sendable () -> Void
  ) -> ResponseStream.Piece {
    state.withLock { state in
      if state.isFailed { return .failure }
      if state.taken == state.bytes.count {
        guard isStillAllowed?() ?? true else { return .end }
        guard let frame = state.next else {
          if state.isEnded { return .end }
          state.wake = pause()
          return .nothing
        }
        (state.bytes, state.taken, state.next) = (part(frame), 0, nil)
      }
      let count = min(buffer.count, state.bytes.count - state.taken)
      state.bytes.withUnsafeBytes { bytes in
        buffer.copyMemory(from: .init(rebasing: bytes[state.taken..<state.taken + count]))
      }
      state.taken += count
      return .bytes(count)
    }
  }

  /// A frame with the mark behind it, which tells browsers that the frame is whole.
  private func part(_ frame: PreviewFrame) -> [UInt8] {
    let type = frame.contentType.map { "Content-Type: \($0)\r\n" } ?? ""
    return Array("\(type)Content-Length: \(frame.bytes.count)\r\n\r\n".utf8) + frame.bytes
      + Array("\r\n--\(boundary)\r\n".utf8)
  }

  private func change(_ body: (inout State) -> Void) {
    let wake = state.withLock { state in
      body(&state)
      defer { state.wake = nil }
      return state.wake
    }
    wake?()
  }

  // MARK: End

  func stop() { change { $0.isFailed = true } }

  func abandon() {
    state.withLock { state in
      (state.isEnded, state.next, state.wake) = (true, nil, nil)
    }
    endWork()
  }

  private func endWork() {
    let work = state.withLock { state in
      defer { state.work = [] }
      return state.work
    }
    for task in work { task.cancel() }
  }
}
