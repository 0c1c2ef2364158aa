import FieldpackCore
import FieldpackHTTP
import Foundation

@testable import FieldpackServer

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A connection on which any bytes go, also those that are no request.
final class RawConnection: Sendable {
  private let socket: Int32

  init(_ address: String) throws {
    let port = try requirePort(address)
    #if canImport(Glibc)
      socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      socket = Darwin.socket(AF_INET, SOCK_STREAM, 0)
    #endif
    // A test that waits for nothing ends all the same.
    var limit = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_port = in_port_t(port.bigEndian)
    inet_pton(AF_INET, "127.0.0.1", &name.sin_addr)
    let socket = socket
    let status = withUnsafePointer(to: name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw FieldpackError(.unavailable, "no connection") }
  }

  deinit { close(socket) }

  /// - Returns: whether all bytes went out.
  @discardableResult func send(_ text: String) -> Bool { send(Array(text.utf8)) }

  @discardableResult func send(_ bytes: [UInt8]) -> Bool {
    #if canImport(Glibc)
      let flags = Int32(MSG_NOSIGNAL)
    #else
      let flags: Int32 = 0
    #endif
    var sent = 0
    while sent < bytes.count {
      let count = bytes[sent...].withUnsafeBytes {
        #if canImport(Glibc)
          Glibc.send(socket, $0.baseAddress, $0.count, flags)
        #else
          Darwin.send(socket, $0.baseAddress, $0.count, flags)
        #endif
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Says that nothing more will come.
  func endSending() {
    #if canImport(Glibc)
      shutdown(socket, Int32(SHUT_WR))
    #else
      shutdown(socket, SHUT_WR)
    #endif
  }

  /// What comes until the server closes the connection, or until `isEnough`; `nil` where neither comes.
  func receive(
    until isEnough: @escaping @Sendable (String) -> Bool = { _ in false }
  ) async -> String? {
    let socket = socket
    return await withCheckedContinuation { continuation in
      // A thread of its own, because those of tasks have to answer meanwhile.
      Thread.detachNewThread {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
          let count = recv(socket, &buffer, buffer.count, 0)
          if count < 0, errno == EINTR { continue }
          if count < 0, errno == EAGAIN { return continuation.resume(returning: nil) }
          if count > 0 { bytes += buffer[..<count] }
          let text = String(decoding: bytes, as: UTF8.self)
          if count <= 0 || isEnough(text) { return continuation.resume(returning: text) }
        }
      }
    }
  }

  /// Sends, and gives what comes until the server closes the connection.
  func exchange(_ text: String) async -> String {
    send(text)
    return await receive() ?? "nothing came"
  }
}

private func requirePort(_ address: String) throws -> UInt16 {
  guard let port = address.split(separator: ":").last.flatMap({ UInt16($0) }) else {
    throw FieldpackError(.invalidArgument, "no port")
  }
  return port
}

/// The statuses of the answers that a connection has given.
func statuses(_ text: String) -> [Int] {
  text.matches(of: #/HTTP/1\.1 (\d{3}) /#).compactMap { Int($0.output.1) }
}

extension TestServer {
  /// Sends one request as it is, and follows nothing.
  func raw(
    _ method: String, _ path: String, fields: HTTPFields = [:], body: String = ""
  ) async throws -> Answer {
    var text = "\(method) \(path) HTTP/1.1\r\nConnection: close\r\n"
    if fields["Host"] == nil { text += "Host: \(address.dropFirst("http://".count))\r\n" }
    for field in fields.fields { text += "\(field.name): \(field.value)\r\n" }
    if method == "POST" { text += "Content-Length: \(body.utf8.count)\r\n" }
    let answer = await (try RawConnection(address)).exchange(text + "\r\n" + body)
    let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
    var found = HTTPFields()
    for line in parts[0].split(separator: "\r\n").dropFirst() {
      let sides = line.split(separator: ":", maxSplits: 1)
      if sides.count == 2 {
        found.fields.append(.init(String(sides[0]), String(sides[1].dropFirst())))
      }
    }
    return Answer(
      status: statuses(String(parts[0])).first ?? 0, fields: found,
      body: Array((parts.count > 1 ? parts[1] : "").utf8))
  }
}
