#if os(Linux)
  public import FieldpackCore
  import FieldpackField
  import FieldpackLocation
  import Glibc

  /// How this machine reaches others, told by the kernel whenever a link, an address or a route changes.
  ///
  /// A link counts that is up, has a carrier and a route to other machines; it is wifi where it is a
  /// radio's. A machine without any network device reaches itself, which then counts as reachable.
  public final class LinuxReachability: Reachability {
    private let broadcast: Broadcast<NetworkPath>
    private let stop = StopSignal()

    /// - Throws: `.unavailable` where the kernel does not answer, or no thread can be started.
    public init() throws(FieldpackError) {
      let socket = try NetlinkSocket(groups: NetlinkSocket.changes)
      let first = try NetlinkSocket.path()
      let (broadcast, stop) = (Broadcast(capacity: 1, present: first), self.stop)
      self.broadcast = broadcast
      // The system's stack is large enough, and a signal is no change.
      let isRunning = SystemThread.start(stackSize: nil, blocksSignals: true) {
        Self.follow(socket, broadcast, stop, after: first)
      }
      guard isRunning else { throw SystemThread.shortage }
    }

    deinit { stop.raise() }

    public var paths: AsyncStream<NetworkPath> { broadcast.subscribe().stream }

    private static func follow(
      _ socket: NetlinkSocket, _ broadcast: Broadcast<NetworkPath>, _ stop: StopSignal,
      after first: NetworkPath
    ) {
      var told = first
      while true {
        do throws(FieldpackError) {
          try stop.check()
          // What changed since the last answer is read once more, and so is never missed.
          let path = try NetlinkSocket.path()
          if path != told { broadcast.send(path) }
          told = path
          try stop.wait(for: socket.descriptor)
          socket.drain()
        } catch {
          guard error.code != .interrupted else { break }
          // One reading may fail, such as where too many files are open.
          sleep(1)
        }
      }
      broadcast.finish()
    }
  }

  /// A socket of NETLINK_ROUTE. Its numbers are those of linux/rtnetlink.h, which Swift does not import.
  private final class NetlinkSocket: Sendable {
    let descriptor: Int32

    /// Links, and addresses and routes of IPv4 and IPv6.
    static let changes: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400

    init(groups: UInt32 = 0) throws(FieldpackError) {
      let kind = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue)
      descriptor = socket(AF_NETLINK, kind, 0)
      guard descriptor >= 0 else { throw Self.failure }
      // struct sockaddr_nl: family, padding, port and groups.
      var address: (UInt16, UInt16, UInt32, UInt32) = (UInt16(AF_NETLINK), 0, 0, groups)
      let bound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, 12) }
      }
      guard bound == 0 else { throw Self.failure }
    }

    deinit { close(descriptor) }

    private static var failure: FieldpackError {
      FieldpackError(
        .unavailable, "the state of the network is not told: \(String(cString: strerror(errno)))")
    }

    /// Takes what has arrived; that something did is all that matters.
    func drain() {
      var bytes = [UInt8](repeating: 0, count: 8192)
      while recv(descriptor, &bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
    }

    /// The present path.
    static func path() throws(FieldpackError) -> NetworkPath {
      var tables = NetworkTables()
      for type in [NetworkTables.Message.getLink, NetworkTables.Message.getRoute] {
        try NetlinkSocket().ask(type, &tables)
      }
      func has(_ name: String, of link: String) -> Bool {
        access("/sys/class/net/\(link)/\(name)", F_OK) == 0
      }
      return tables.path(
        isWireless: { has("wireless", of: $0) || has("phy80211", of: $0) },
        isDevice: { has("device", of: $0) })
    }

    private func ask(
      _ type: UInt16, _ tables: inout NetworkTables
    ) throws(FieldpackError) {
      let request = NetworkTables.request(type)
      guard send(descriptor, request, request.count, 0) == request.count else { throw Self.failure }
      var bytes = [UInt8](repeating: 0, count: 32768)
      var isLast = false
      while !isLast {
        let count = recv(descriptor, &bytes, bytes.count, 0)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { throw Self.failure }
        isLast = bytes.withUnsafeBytes {
          tables.add(UnsafeRawBufferPointer(rebasing: $0[..<count]))
        }
      }
    }
  }
#endif
