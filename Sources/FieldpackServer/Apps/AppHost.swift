import FieldpackCore
import FieldpackField
import FieldpackServices

/// What old apps find here: their bridge, the bundles of pages, and the server that they knew.
final class AppHost: Sendable {
  let bridge: Bridge
  let isWritable: Bool
  /// `nil` where no folder of bundles is served.
  let bundles: BundleFolder?
  let tokens = OldTokens()
  let submitted = SubmittedEdits()
  private let state = Locked(State())

  private struct State {
    var open: [String: OpenSession] = [:]
    var sockets: [String: OpenSocket] = [:]
    var isClosed = false

    /// Whether one more page may listen.
    var hasRoom: Bool { !isClosed && open.count + sockets.count < AppHost.mostSessions }
  }

  /// A page that listens for events.
  struct OpenSession: Sendable {
    let session: BridgeSession
    let stream: ResponseStream
    /// The bundle whose page it is; `nil` for other clients.
    let bundle: String?
    let alive: Task<Void, Never>
  }

  /// A page that is connected by a WebSocket.
  private struct OpenSocket: Sendable {
    let session: BridgeSession
    let socket: WebSocket
  }

  /// How many pages listen at a time.
  private static let mostSessions = 256
  /// How often a stream says that it goes on.
  private static let pause = Duration.seconds(15)

  init(_ bridge: Bridge, bundles: BundleFolder?, isWritable: Bool) {
    (self.bridge, self.bundles, self.isWritable) = (bridge, bundles, isWritable)
  }

  // MARK: Sessions

  /// A session whose replies go to `reply`. Clients are told nothing of the machine.
  func session(_ reply: @escaping @Sendable (BridgeReply) -> Void) -> BridgeSession {
    BridgeSession(
      of: bridge, rights: .init(writes: isWritable),
      words: { ProblemDocument($0, while: .parameters).detail }, reply: reply)
  }

  /// Begins a stream of server-sent events: first one `session`, with the id that messages name, then the
  /// replies.
  ///
  /// - Parameter room: for what the page has not taken.
  /// - Returns: `nil` where too many listen.
  func listen(bundle: String?, in room: SpillRoom) async -> ResponseStream? {
    let (id, stream) = (RandomID.make(), ResponseStream(in: room))
    let session = session { [weak self] reply in
      do throws(FieldpackError) { try stream.send(Array("data: \(reply.text)\n\n".utf8)) } catch {
        self?.end(id)
      }
    }
    let alive = Task { [weak self] in
      while (try? await Task.sleep(for: Self.pause)) != nil {
        do throws(FieldpackError) { try stream.send(Array(":\n\n".utf8)) } catch {
          self?.end(id)
          return
        }
      }
    }
    let isOpen = state.withLock { state in
      guard state.hasRoom else { return false }
      state.open[id] = OpenSession(session: session, stream: stream, bundle: bundle, alive: alive)
      return true
    }
    guard isOpen else {
      alive.cancel()
      return nil
    }
    try? stream.send(Array("event: session\ndata: \(id)\n\n".utf8))
    await session.start()
    return stream
  }

  /// The session of that id, if it is one of that bundle.
  func openSession(_ id: String, bundle: String?) -> BridgeSession? {
    state.withLock { state in
      guard let open = state.open[id], open.bundle == bundle else { return nil }
      return open.session
    }
  }

  /// Ends a session whose page has gone, or takes its events too slowly.
  private func end(_ id: String) {
    guard let open = state.withLock({ $0.open.removeValue(forKey: id) }) else { return }
    open.alive.cancel()
    open.stream.fail()
    Task { await open.session.cancel() }
  }

  /// Talks with a page by a WebSocket.
  ///
  /// - Returns: `nil` where too many listen.
  func connect() -> WebSocket? {
    let (id, socket) = (RandomID.make(), WebSocket())
    let session = session { socket.send($0.text) }
    let isOpen = state.withLock { state in
      guard state.hasRoom else { return false }
      state.sockets[id] = OpenSocket(session: session, socket: socket)
      return true
    }
    guard isOpen else { return nil }
    Task { [weak self] in
      await session.start()
      for await message in socket.messages {
        await session.receive(message)
        socket.handled()
      }
      await session.cancel()
      self?.state.withLock { $0.sockets[id] = nil }
    }
    return socket
  }

  /// The replies to messages, a line each, from a page that does not listen for more.
  ///
  /// - Parameter room: for what the page has not taken.
  func answer(_ messages: [String], in room: SpillRoom) -> ResponseStream {
    let stream = ResponseStream(in: room)
    let session = session { reply in
      do throws(FieldpackError) { try stream.send(Array((reply.text + "\n").utf8)) } catch {
        stream.fail()
      }
    }
    Task {
      for message in messages { await session.receive(message) }
      await session.finish()
      stream.finish()
    }
    return stream
  }

  /// Ends all sessions, and removes what was unpacked.
  func close() async {
    let (open, sockets) = state.withLock { state in
      state.isClosed = true
      defer { (state.open, state.sockets) = ([:], [:]) }
      return (Array(state.open.values), Array(state.sockets.values))
    }
    for connected in sockets {
      await connected.session.finish(givingUp: true)
      connected.socket.close(.goingAway)
    }
    for connected in sockets { await connected.socket.ended() }
    for open in open {
      open.alive.cancel()
      await open.session.finish(givingUp: true)
      open.stream.finish()
    }
    await bundles?.close()
  }
}
