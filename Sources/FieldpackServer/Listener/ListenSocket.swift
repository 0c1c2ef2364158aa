import FieldpackCore
import FieldpackHTTP

// Its header brings the types of addresses, too, and the compiler may take them from there.
#if Server
  import CMicrohttpd
#endif
#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The socket on which connections come in.
enum ListenSocket {
  /// - Throws: `.unavailable` where another program listens there or the machine does not have the
  ///   address, `.permission`, `.io`.
  static func open(_ address: ListenAddress) throws(FieldpackError) -> Int32 {
    #if canImport(Glibc)
      let stream =
        Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        | Int32(SOCK_NONBLOCK.rawValue)
    #else
      let stream = SOCK_STREAM
    #endif
    let isVersion4 = NetworkAddress.version4(address.host) != nil
    let socket = socket(isVersion4 ? AF_INET : AF_INET6, stream, 0)
    guard socket >= 0 else { throw failure(address) }
    var yes: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    let status = isVersion4 ? bind4(socket, address) : bind6(socket, address)
    guard status == 0, listen(socket, 1024) == 0 else {
      let error = failure(address)
      close(socket)
      throw error
    }
    return socket
  }

  private static func bind4(_ socket: Int32, _ address: ListenAddress) -> Int32 {
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = in_port_t(UInt16(address.port).bigEndian)
    inet_pton(AF_INET, address.host, &name.sin_addr)
    return bind(socket, to: name)
  }

  private static func bind6(_ socket: Int32, _ address: ListenAddress) -> Int32 {
    var name = sockaddr_in6()
    name.sin6_family = sa_family_t(AF_INET6)
    name.sin6_port = in_port_t(UInt16(address.port).bigEndian)
    inet_pton(AF_INET6, address.host, &name.sin6_addr)
    return bind(socket, to: name)
  }

  private static func bind<Name>(_ socket: Int32, to name: Name) -> Int32 {
    withUnsafePointer(to: name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        #if canImport(Glibc)
          Glibc.bind(socket, name, socklen_t(MemoryLayout<Name>.size))
        #elseif canImport(Darwin)
          Darwin.bind(socket, name, socklen_t(MemoryLayout<Name>.size))
        #endif
      }
    }
  }

  /// The port that the system chose.
  static func port(of socket: Int32) throws(FieldpackError) -> Int {
    var name = sockaddr_storage()
    var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let status = withUnsafeMutablePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &size) }
    }
    guard status == 0 else { throw .system(errno, "ask for the port of", "the socket") }
    return withUnsafeBytes(of: &name) { bytes in Int(bytes[2]) << 8 | Int(bytes[3]) }
  }

  static func close(_ socket: Int32) {
    #if canImport(Glibc)
      _ = Glibc.close(socket)
    #elseif canImport(Darwin)
      _ = Darwin.close(socket)
    #endif
  }

  private static func failure(_ address: ListenAddress) -> FieldpackError {
    switch errno {
    case EADDRINUSE:
      FieldpackError(
        .unavailable,
        "another program listens on \(address). Try: another port, or port 0 for a free one")
    case EADDRNOTAVAIL:
      FieldpackError(.unavailable, "this machine does not have the address \(address.host)")
    case EACCES:
      FieldpackError(
        .permission, "this user may not listen on \(address). Try: a port above 1023")
    default: .system(errno, "listen on", address.description)
    }
  }
}
