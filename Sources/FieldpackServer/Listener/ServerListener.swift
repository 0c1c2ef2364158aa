#if Server
  import CMicrohttpd
  import FieldpackCore
  import FieldpackField
  import FieldpackHTTP

  /// Takes requests by HTTP/1.1 and gives them to a handler.
  ///
  /// Two threads of libmicrohttpd read and write all connections. A request that needs time is put aside
  /// until a task has its answer.
  final class ServerListener: Sendable {
    /// What one client, and all together, may take of the server.
    struct Limits: Sendable {
      var connections = 10_000
      /// Of one address; 0 is any number.
      var connectionsPerAddress = 0
      /// How long the head of a request may take. A body may take a second more for each KiB.
      var request = Duration.seconds(60)
      /// How long a connection may send nothing.
      var timeout = Duration.seconds(30)
      /// The longest head of a request, in bytes.
      var head = 16 << 10
    }

    /// `@unchecked` because libmicrohttpd locks its daemon itself.
    private struct Daemon: @unchecked Sendable {
      let raw: OpaquePointer
    }

    private struct State {
      var daemon: Daemon?
      var running: [Int: Running] = [:]
      /// The connections that are put aside for tasks, and whether somebody looks at them.
      var sockets: [Int: (socket: Int32, since: ContinuousClock.Instant)] = [:]
      var isWatched = false
      /// Whether somebody looks after the connections.
      var isSwept = false
      var last = 0
      var isClosing = false
      var isBrokenOff = false
      var whenIdle: CheckedContinuation<Void, Never>?

      /// libmicrohttpd does not end while a connection is put aside for a task.
      var isIdle: Bool {
        guard isBrokenOff else { return running.isEmpty }
        return running.values.allSatisfy { if case .task = $0 { false } else { true } }
      }
    }

    /// How far a request is that was not answered at once.
    enum Running {
      /// A task makes its answer, and the connection is put aside.
      case task(Task<Void, Never>?)
      case stream(ResponseStream)
      /// The client takes an answer that is whole.
      case whole

      /// Ends the work. A stream that failed never puts its connection aside again.
      func breakOff() {
        switch self {
        case .task(let task): task?.cancel()
        case .stream(let stream): stream.fail()
        case .whole: break
        }
      }
    }

    let handler: any RequestHandling
    let port: Int
    let peers: ListenerPeers
    let journal: ServerJournal?
    private let clock: FieldClock
    private let tidy: @Sendable () async -> Void
    private let sweeper = Locked<Task<Void, Never>?>(nil)
    private let state = Locked(State())

    /// - Parameter tidy: called soon after the start, every few seconds as long as there are connections,
    ///   and twice after the last of them has gone.
    /// - Throws: `.unavailable` where the address is taken, `.permission`.
    init(
      _ address: ListenAddress, limits: Limits = Limits(), certificate: ServerCertificate? = nil,
      journal: ServerJournal? = nil, clock: FieldClock = .system, handler: any RequestHandling,
      tidy: @escaping @Sendable () async -> Void = {}
    ) throws(FieldpackError) {
      self.handler = handler
      self.journal = journal
      (self.clock, self.tidy) = (clock, tidy)
      let most = min(limits.connections, OpenFiles.limit - 128)
      peers = ListenerPeers(
        limit: most, patience: limits.request, isEncrypted: certificate != nil,
        uptime: { clock.uptime })
      let socket = try ListenSocket.open(address)
      port = try ListenSocket.port(of: socket)
      var settings = fieldpack_mhd_settings()
      settings.socket = socket
      settings.threads = 2
      // Each thread takes half of the connections. Those that are broken off count until they are closed.
      settings.connections = UInt32(clamping: 2 * (most + 64))
      settings.connections_per_address = UInt32(clamping: limits.connectionsPerAddress)
      settings.timeout_seconds = UInt32(clamping: limits.timeout.components.seconds)
      settings.memory_per_connection = limits.head
      // The daemon's threads use it until the daemon is stopped.
      let context = Unmanaged.passRetained(self)
      settings.context = context.toOpaque()
      settings.handle = handleRequest
      settings.completed = completeRequest
      settings.begin = beginRequest
      settings.notify = notifyConnection
      guard let daemon = Self.start(&settings, certificate) else {
        context.release()
        ListenSocket.close(socket)
        throw certificate?.mismatch
          ?? FieldpackError(.unavailable, "the server cannot start to listen on \(address)")
      }
      let kept = Daemon(raw: daemon)
      state.withLock { $0.daemon = kept }
      sweepWhereNobodyDoes()
    }

    private static func start(
      _ settings: inout fieldpack_mhd_settings, _ certificate: ServerCertificate?
    ) -> OpaquePointer? {
      guard let certificate else { return fieldpack_mhd_start(&settings) }
      // libmicrohttpd reads both while it starts.
      return (certificate.chain + [0]).withUnsafeBufferPointer { chain in
        (certificate.key + [0]).withUnsafeBufferPointer { key in
          chain.withMemoryRebound(to: CChar.self) { chain in
            key.withMemoryRebound(to: CChar.self) { key in
              settings.certificate = chain.baseAddress
              settings.key = key.baseAddress
              return fieldpack_mhd_start(&settings)
            }
          }
        }
      }
    }

    /// The number of open connections; `nil` once the listener takes no more.
    var openConnections: Int? { state.withLock { $0.isClosing } ? nil : peers.count }

    /// Takes no more requests, waits for the running ones, and closes all connections. What still runs
    /// after the grace is broken off: a client may take its answer as slowly as it likes.
    func close(grace: Duration = .seconds(5)) async {
      let daemon = state.withLock { state in
        state.isClosing = true
        defer { state.daemon = nil }
        return state.daemon
      }
      guard let daemon else { return }
      sweeper.withLock { $0 }?.cancel()
      let limit = Task {
        try? await Task.sleep(for: grace)
        breakOff()
      }
      await withCheckedContinuation { continuation in
        let isIdle = state.withLock { state in
          if !state.isIdle { state.whenIdle = continuation }
          return state.isIdle
        }
        if isIdle { continuation.resume() }
      }
      limit.cancel()
      MHD_stop_daemon(daemon.raw)
      Unmanaged.passUnretained(self).release()
    }

    /// Ends what still runs.
    private func breakOff() {
      let running = state.withLock { state in
        state.isBrokenOff = true
        return Array(state.running.values)
      }
      for running in running { running.breakOff() }
      change { _ in }
    }

    // MARK: Connections

    /// Notes a new connection.
    func open(_ socket: Int32) {
      peers.begin(socket)
      sweepWhereNobodyDoes()
    }

    /// Looks after the connections as long as there are some. A server that nobody uses sleeps.
    private func sweepWhereNobodyDoes() {
      let isFirst = state.withLock { state in
        guard !state.isSwept, !state.isClosing else { return false }
        state.isSwept = true
        return true
      }
      guard isFirst else { return }
      let task = Task {
        // What is unused at one look is closed at the next one.
        var looksLeft = 2
        while looksLeft > 0, (try? await clock.sleep(for: Self.timeBetweenSweeps)) != nil {
          if state.withLock({ $0.isClosing }) { return }
          peers.sweep()
          let before = looksLeft
          looksLeft = state.withLock { state in
            let left = peers.isEmpty ? before - 1 : 2
            state.isSwept = left > 0
            return left
          }
          await tidy()
        }
      }
      sweeper.withLock { $0 = task }
    }

    private static let timeBetweenSweeps = Duration.seconds(5)

    /// Whether somebody looks after the connections.
    var isSwept: Bool { state.withLock { $0.isSwept } }

    // MARK: Requests

    /// Notes a request that a task will answer; `nil` where the listener closes.
    func begin(on socket: Int32) -> Int? {
      let (number, isFirst) = state.withLock { state -> (Int?, Bool) in
        guard !state.isClosing else { return (nil, false) }
        state.last += 1
        state.running[state.last] = .task(nil)
        state.sockets[state.last] = (socket, .now)
        defer { state.isWatched = true }
        return (state.last, !state.isWatched)
      }
      if isFirst { watch() }
      return number
    }

    /// Cancels the tasks of clients that have closed their connections, as long as there are tasks:
    /// libmicrohttpd does not watch connections that are put aside.
    private func watch() {
      Task {
        var goesOn = true
        while goesOn {
          try? await Task.sleep(for: Self.timeBetweenLooks)
          let (gone, rest) = state.withLock { state -> ([Running], Int) in
            state.isWatched = !state.sockets.isEmpty
            let limit = ContinuousClock.now - Self.patience
            let gone = state.sockets.filter { _, waiting in
              waiting.since < limit && fieldpack_mhd_is_closed(waiting.socket) != 0
            }
            return (gone.keys.compactMap { state.running[$0] }, state.sockets.count)
          }
          for case .task(let task) in gone { task?.cancel() }
          goesOn = rest > 0
        }
      }
    }

    /// A client that only ends its sending looks like one that has closed its connection. Such a client gets
    /// an answer that is ready within this time.
    private static let patience = Duration.seconds(5)
    private static let timeBetweenLooks = Duration.milliseconds(250)

    /// Notes how far a request is.
    func set(_ running: Running, for number: Int) {
      var isBrokenOff = false
      change { state in
        if state.running[number] != nil { state.running[number] = running }
        if case .task = running {} else { state.sockets[number] = nil }
        isBrokenOff = state.isBrokenOff
      }
      if isBrokenOff { running.breakOff() }
    }

    /// Notes that the client has its answer, or has gone.
    func end(_ number: Int) {
      change { ($0.running[number], $0.sockets[number]) = (nil, nil) }
    }

    private func change(_ body: (inout State) -> Void) {
      let continuation = state.withLock { state in
        body(&state)
        guard state.isClosing, state.isIdle else { return nil as CheckedContinuation<Void, Never>? }
        defer { state.whenIdle = nil }
        return state.whenIdle
      }
      continuation?.resume()
    }
  }
#endif
