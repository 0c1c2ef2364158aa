#if PostGIS
  import CPQ
  import FieldpackCore

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  extension PostgresConnection {
    /// The texts of the notifications that come within a time; none where none comes.
    func notifications(within limit: Duration) throws(FieldpackError) -> [String] {
      try check()
      let found = takeNotifications()
      guard found.isEmpty else { return found }
      var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
      guard poll(&descriptor, 1, Int32(clamping: limit.wholeMilliseconds)) > 0 else { return [] }
      // Nothing but notifications comes, each of them short.
      beginAnswer()
      try consume()
      // After the last words of a server that goes away, the next call finds the end of the connection.
      return takeNotifications()
    }

    private func takeNotifications() -> [String] {
      var found: [String] = []
      while let notification = PQnotifies(handle) {
        if let text = notification.pointee.extra { found.append(String(cString: text)) }
        PQfreemem(notification)
      }
      return found
    }
  }
#endif
