package import FieldpackCore
import FieldpackField
import FieldpackHTTP
package import FieldpackSensors

/// Lets clients ask a simulated sensor by HTTP.
package final class SensorSimulatorServer: Sendable {
  private let simulator: SensorSimulator
  #if Server
    private let listener = Locked<ServerListener?>(nil)
  #endif

  package init(_ simulator: SensorSimulator) { self.simulator = simulator }

  /// Begins to answer requests.
  ///
  /// - Returns: the address, with the port that was free where 0 was asked for.
  /// - Throws: `.unavailable`, `.permission`, and `.unsupported` in a build without the trait `Server`.
  package func listen(on address: ListenAddress) throws(FieldpackError) -> ListenAddress {
    #if Server
      let listener = try ServerListener(address, handler: SensorSimulatorHandler(simulator))
      self.listener.withLock { $0 = listener }
      var address = address
      address.port = listener.port
      return address
    #else
      throw FieldpackError(
        .unsupported,
        "this build of Fieldpack cannot listen. Try: install libmicrohttpd-dev, and build with the "
          + "package trait Server")
    #endif
  }

  package func close() async {
    #if Server
      let listener = listener.withLock { listener in
        defer { listener = nil }
        return listener
      }
      await listener?.close(grace: .seconds(1))
    #endif
  }
}

/// Gives a simulated sensor the parts of requests.
struct SensorSimulatorHandler: RequestHandling {
  let simulator: SensorSimulator
  private static let longestBody = 1 << 20

  init(_ simulator: SensorSimulator) { self.simulator = simulator }

  func refusal(of head: ServerRequest, bodyLength: Int?) -> ServerResponse? {
    bodyLength ?? 0 > Self.longestBody ? ServerResponse(413) : nil
  }

  func answerAtOnce(_ request: ServerRequest) -> ServerResponse? { nil }

  func answer(_ request: ServerRequest) async -> ServerResponse {
    let response = await simulator.answer(request.method, request.path, body: request.body)
    let body: ServerResponse.Body
    switch response.body {
    case .bytes(let bytes): body = .bytes(bytes)
    case .endless(let bytes): body = .stream(ResponseStream(PieceSource { _ in bytes }))
    case .frames(let interval):
      body = .stream(
        ResponseStream(PieceSource(interval: interval) { [simulator] in simulator.frame($0) }))
    }
    return ServerResponse(response.status, fields: response.fields, body: body)
  }
}

/// Bytes without an end, which are made when the client can take them.
private final class PieceSource: ByteSource {
  private struct State {
    var piece: [UInt8] = []
    var taken = 0
    var number = 0
    var isWaiting = false
    var isEnded = false
    var isFailed = false
    var wake: (@Sendable () -> Void)?
  }

  private let interval: Duration?
  private let make: @Sendable (Int) -> [UInt8]
  private let state = Locked(State())

  /// - Parameters:
  ///   - interval: how long is waited between two pieces.
  ///   - make: gives a piece by its number, from 0.
  init(interval: Duration? = nil, _ make: @escaping @Sendable (Int) -> [UInt8]) {
    self.interval = interval
    self.make = make
  }

  func take(
    into buffer: UnsafeMutableRawBufferPointer, orPause pause: () -> @Sendable () -> Void
  ) -> ResponseStream.Piece {
    state.withLock { state in
      if state.isFailed || state.isEnded { return .failure }
      if state.taken == state.piece.count {
        guard !state.isWaiting else {
          state.wake = pause()
          return .nothing
        }
        (state.piece, state.taken) = (make(state.number), 0)
        state.number += 1
        if let interval { wait(interval, &state) }
      }
      let count = min(buffer.count, state.piece.count - state.taken)
      state.piece.withUnsafeBytes { piece in
        buffer.copyMemory(from: .init(rebasing: piece[state.taken..<state.taken + count]))
      }
      state.taken += count
      return .bytes(count)
    }
  }

  private func wait(_ interval: Duration, _ state: inout State) {
    state.isWaiting = true
    Task {
      try? await Task.sleep(for: interval)
      wake { $0.isWaiting = false }
    }
  }

  private func wake(_ change: (inout State) -> Void) {
    let wake = state.withLock { state in
      change(&state)
      defer { state.wake = nil }
      return state.wake
    }
    wake?()
  }

  func stop() { wake { $0.isFailed = true } }

  func abandon() {
    state.withLock { state in
      (state.isEnded, state.wake) = (true, nil)
    }
  }
}
