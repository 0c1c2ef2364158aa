#if PostGIS
  import CPQ
  import FieldpackCore

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// Makes a connection step by step, so that it ends in time, can be cancelled, and takes no more from a
  /// server than a greeting: libpq itself would read on for as long as something comes.
  struct PostgresOpening {
    private var keywords: [(name: String, value: String)]
    private let shown: String
    private let limit: Duration
    private let hasOwnPatience: Bool

    /// More than a server has to say before the first statement.
    private static let longestGreeting = 1 << 20
    /// For how long sent data may stay without an answer of the other machine, in milliseconds.
    private static let patience: Int32 = 60_000

    /// - Throws: `.configuration` where the address has a time limit that is no number.
    init(_ address: PostgresAddress, limits: PostgresLimits) throws(FieldpackError) {
      shown = address.shown
      keywords = address.keywords
      var limit = limits.connecting
      if let place = keywords.firstIndex(where: { $0.name == "connect_timeout" }) {
        guard let seconds = Int(keywords.remove(at: place).value), (0...86_400).contains(seconds)
        else {
          throw FieldpackError(
            .configuration, "the connect_timeout of \(shown) is no number of seconds up to 86400")
        }
        limit = .seconds(seconds == 0 ? 86_400 : seconds)
      }
      self.limit = max(limit, .seconds(2))
      hasOwnPatience = keywords.contains { $0.name == "tcp_user_timeout" }
      if let password = address.password { keywords.append(("password", password)) }
      keywords += [("client_encoding", "UTF8"), ("gssencmode", "disable")]
      for standard in standards where !keywords.contains(where: { $0.name == standard.name }) {
        keywords.append(standard)
      }
    }

    /// While connecting, libpq tries the next address of a name when the system gives the first one up, which
    /// is before we do.
    private var standards: [(name: String, value: String)] {
      [
        ("application_name", "fieldpack"), ("keepalives_idle", "30"), ("keepalives_interval", "10"),
        ("keepalives_count", "3"), ("tcp_user_timeout", "\(limit.wholeMilliseconds * 3 / 4)"),
      ]
    }

    /// A connection that is made, or one that has the reason why it is not.
    ///
    /// - Throws: `.unavailable` for a server that is silent or says too much; `.interrupted`.
    mutating func open() throws(FieldpackError) -> OpaquePointer {
      while true {
        guard let handle = start() else {
          throw FieldpackError(.unavailable, "there is no memory for a connection")
        }
        // Otherwise libpq writes the server's notices to standard error.
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        let isAnswered: Bool
        do throws(FieldpackError) { isAnswered = try finish(handle) } catch {
          PQfinish(handle)
          throw error
        }
        guard isAnswered else {
          let hasOthers = leaveOut(hostsUpTo: handle)
          PQfinish(handle)
          if hasOthers { continue }
          throw silence
        }
        if !hasOwnPatience, PQstatus(handle) == CONNECTION_OK {
          fieldpack_pq_set_patience(PQsocket(handle), Self.patience)
        }
        return handle
      }
    }

    private var silence: FieldpackError {
      FieldpackError(
        .unavailable,
        "no connection to \(shown): it does not answer within \(limit.wholeMilliseconds / 1_000) s")
    }

    private func start() -> OpaquePointer? {
      var names: [UnsafePointer<CChar>?] = []
      var values: [UnsafePointer<CChar>?] = []
      for (name, value) in keywords {
        names.append(UnsafePointer(strdup(name)))
        values.append(UnsafePointer(strdup(value)))
      }
      defer { for copy in names + values { free(UnsafeMutablePointer(mutating: copy)) } }
      return PQconnectStartParams(names + [nil], values + [nil], 0)
    }

    /// - Returns: `false` where a server is silent for too long.
    private func finish(_ handle: OpaquePointer) throws(FieldpackError) -> Bool {
      guard PQstatus(handle) != CONNECTION_BAD else { return true }
      var events = POLLOUT
      var (socket, address): (Int32, String?) = (-1, nil)
      var end = ContinuousClock.now
      var size = AnswerSize(most: Self.longestGreeting, socket: socket)
      while true {
        let tried = PQhostaddr(handle).map { String(cString: $0) }
        if PQsocket(handle) != socket || tried != address {
          // Another address is tried, maybe on a socket with the same number.
          (socket, address) = (PQsocket(handle), tried)
          end = .now + limit
          size = AnswerSize(most: Self.longestGreeting, socket: socket)
        }
        var descriptor = pollfd(fd: socket, events: Int16(events), revents: 0)
        let isReady = poll(&descriptor, 1, 100) > 0
        if Task.isCancelled { throw FieldpackError(.interrupted, "interrupted") }
        guard ContinuousClock.now < end else { return false }
        guard isReady else { continue }
        var state = PGRES_POLLING_FAILED
        let (_, isShort) = size.count {
          state = PQconnectPoll(handle)
          return true
        }
        guard isShort else {
          throw FieldpackError(
            .unavailable, "no connection to \(shown): its greeting does not end")
        }
        switch state {
        case PGRES_POLLING_READING: events = POLLIN
        case PGRES_POLLING_WRITING: events = POLLOUT
        default: return true
        }
      }
    }

    /// Leaves out the host that was tried last, and those before it.
    ///
    /// - Returns: whether others are left.
    private mutating func leaveOut(hostsUpTo handle: OpaquePointer) -> Bool {
      guard let place = keywords.firstIndex(where: { $0.name == "host" }) else { return false }
      let hosts = keywords[place].value.split(separator: ",", omittingEmptySubsequences: false)
      let tried = PQhost(handle).map { String(cString: $0) } ?? ""
      guard let last = hosts.firstIndex(where: { $0 == tried }), last + 1 < hosts.count else {
        return false
      }
      keywords[place].value = hosts[(last + 1)...].joined(separator: ",")
      guard let place = keywords.firstIndex(where: { $0.name == "port" }) else { return true }
      let ports = keywords[place].value.split(separator: ",", omittingEmptySubsequences: false)
      if ports.count == hosts.count {
        keywords[place].value = ports[(last + 1)...].joined(separator: ",")
      }
      return true
    }
  }
#endif
