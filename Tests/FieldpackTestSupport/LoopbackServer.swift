import FieldpackCore
import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A small HTTP server on 127.0.0.1 that answers what a test tells it to.
///
///     let server = try LoopbackServer { .text(200, "seen \($0.target)") }
///     let response = try await client.send(HTTPRequest(.get, server.address + "/a"))
///
/// It keeps connections open as HTTP/1.1 does, takes bodies by `Content-Length` only, and goes with
/// the value.
public final class LoopbackServer: Sendable {
  public struct Request: Sendable, Hashable {
    public var method: String
    /// The path with its query, as it came.
    public var target: String
    /// Name and value of each line of the header.
    public var fields: [[String]]
    public var body: [UInt8]
    /// Which connection it came on, from 0.
    public var connection: Int

    public subscript(name: String) -> String? {
      fields.first { $0[0].lowercased() == name.lowercased() }?[1]
    }
  }

  public enum Reply: Sendable {
    case response(Int, fields: [[String]] = [], body: [UInt8])
    /// Bytes as they are; then the server closes the connection, or waits until the client does.
    case raw([UInt8], waits: Bool = false)
    /// A whole answer in pieces, which are asked for by their numbers until there is none.
    case pieces(length: Int, @Sendable (Int) -> [UInt8]?)
    /// No answer; the connection stays until the client closes it.
    case silence
    /// The connection is closed without an answer.
    case nothing

    /// The whole of `body`, or the part of it that a request goes on with, if that is of this version.
    public static func whole(_ body: [UInt8], _ tag: String, for request: Request) -> Reply {
      let fields = [["ETag", tag]]
      guard request["If-Range"] == tag, let range = request["Range"],
        let start = Int(range.dropFirst("bytes=".count).dropLast()), start < body.count
      else { return .response(200, fields: fields, body: body) }
      let part = ["Content-Range", "bytes \(start)-\(body.count - 1)/\(body.count)"]
      return .response(206, fields: fields + [part], body: Array(body[start...]))
    }

    public static func text(_ status: Int, _ text: String, fields: [[String]] = []) -> Reply {
      .response(status, fields: fields, body: Array(text.utf8))
    }
  }

  private struct State {
    var requests: [Request] = []
    var connections: [Int32] = []
    var left = 0
    var isClosed = false
  }

  public let port: UInt16
  private let listener: Int32
  private let state: Locked<State>
  private let worker: Worker

  /// - Parameters:
  ///   - keepsRequests: whether ``requests`` has them; else none.
  ///   - answer: called on the connection's thread.
  public init(
    keepsRequests: Bool = true, _ answer: @escaping @Sendable (Request) -> Reply
  ) throws {
    (listener, port) = try Self.listen()
    state = Locked(State())
    worker = Worker(
      listener: listener, state: state, keepsRequests: keepsRequests, answer: answer)
    onNewThread { [worker] in worker.accept() }
  }

  deinit {
    // Nobody closes a descriptor meanwhile, whose number could then be that of another connection.
    state.withLock { state in
      state.isClosed = true
      for descriptor in state.connections { shutdown(descriptor, Int32(SHUT_RDWR)) }
    }
    shutdown(listener, Int32(SHUT_RDWR))
  }

  public var address: String { "http://127.0.0.1:\(port)" }
  /// All that came so far, in order.
  public var requests: [Request] { state.withLock { $0.requests } }
  /// How many clients went away while the server waited for that.
  public var left: Int { state.withLock { $0.left } }

  /// A port that nobody listens at.
  public static func freePort() throws -> UInt16 {
    let (listener, port) = try listen()
    close(listener)
    return port
  }

  /// A socket that listens on a free port of this machine, and the port.
  public static func listen() throws -> (Int32, UInt16) {
    #if canImport(Glibc)
      let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
      let descriptor = socket(AF_INET, SOCK_STREAM, 0)
    #endif
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        bind(descriptor, pointer, size) == 0 && Self.listening(descriptor)
          && getsockname(descriptor, pointer, &size) == 0
      }
    }
    guard isBound else { throw RunFailure(description: "no port on 127.0.0.1") }
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }

  private static func listening(_ descriptor: Int32) -> Bool {
    #if canImport(Glibc)
      Glibc.listen(descriptor, 64) == 0
    #else
      Darwin.listen(descriptor, 64) == 0
    #endif
  }

  /// What the threads share with the server.
  private struct Worker: Sendable {
    let listener: Int32
    let state: Locked<State>
    let keepsRequests: Bool
    let answer: @Sendable (Request) -> Reply

    func accept() {
      var number = 0
      while true {
        #if canImport(Glibc)
          let descriptor = Glibc.accept(listener, nil, nil)
        #else
          let descriptor = Darwin.accept(listener, nil, nil)
        #endif
        guard descriptor >= 0 else { break }
        state.withLock { state in
          state.connections.append(descriptor)
          if state.isClosed { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
        let connection = number
        number += 1
        onNewThread { serve(descriptor, connection) }
      }
      close(listener)
    }

    private func serve(_ descriptor: Int32, _ connection: Int) {
      var waiting: [UInt8] = []
      while let request = readRequest(descriptor, connection, &waiting) {
        if keepsRequests { state.withLock { $0.requests.append(request) } }
        guard reply(answer(request), to: descriptor) else { break }
      }
      state.withLock { state in
        state.connections.removeAll { $0 == descriptor }
        close(descriptor)
      }
    }

    /// - Returns: whether the connection goes on.
    private func reply(_ reply: Reply, to descriptor: Int32) -> Bool {
      switch reply {
      case .nothing: return false
      case .silence:
        waitForEnd(of: descriptor)
        return false
      case .raw(let bytes, let waits):
        send(bytes, to: descriptor)
        if waits { waitForEnd(of: descriptor) }
        return false
      case .pieces(let length, let piece):
        send(Array("HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\n\r\n".utf8), to: descriptor)
        for bytes in sequence(first: 0, next: { $0 + 1 }).lazy.map(piece) {
          guard let bytes else { return true }
          guard send(bytes, to: descriptor) else { break }
        }
        return false
      case .response(let status, let fields, let body):
        var head = "HTTP/1.1 \(status) Status\r\nContent-Length: \(body.count)\r\n"
        for field in fields { head += "\(field[0]): \(field[1])\r\n" }
        return send(Array((head + "\r\n").utf8) + body, to: descriptor)
      }
    }

    private func waitForEnd(of descriptor: Int32) {
      var byte: UInt8 = 0
      while recv(descriptor, &byte, 1, 0) > 0 {}
      state.withLock { $0.left += 1 }
    }

    @discardableResult
    private func send(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
      var left = ArraySlice(bytes)
      while !left.isEmpty {
        let count = left.withUnsafeBytes { buffer in
          #if canImport(Glibc)
            Glibc.send(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
          #else
            Darwin.send(descriptor, buffer.baseAddress, buffer.count, 0)
          #endif
        }
        guard count > 0 else { return false }
        left = left.dropFirst(count)
      }
      return true
    }

    private func readRequest(
      _ descriptor: Int32, _ connection: Int, _ waiting: inout [UInt8]
    ) -> Request? {
      let end = Array("\r\n\r\n".utf8)
      while waiting.firstRange(of: end) == nil {
        guard receive(descriptor, &waiting) else { return nil }
      }
      guard let range = waiting.firstRange(of: end) else { return nil }
      let lines = String(decoding: waiting[..<range.lowerBound], as: UTF8.self)
        .replacing("\r\n", with: "\n").split(separator: "\n", omittingEmptySubsequences: false)
      let words = lines[0].split(separator: " ")
      let fields = lines.dropFirst().map { line in
        let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let value = parts.count > 1 ? String(parts[1]) : ""
        return [String(parts[0]), value.hasPrefix(" ") ? String(value.dropFirst()) : value]
      }
      waiting.removeSubrange(..<range.upperBound)
      var request = Request(
        method: String(words.first ?? ""), target: words.count > 1 ? String(words[1]) : "",
        fields: fields, body: [], connection: connection)
      let length = request["Content-Length"].flatMap { Int($0) } ?? 0
      while waiting.count < length { guard receive(descriptor, &waiting) else { return nil } }
      request.body = Array(waiting[..<length])
      waiting.removeSubrange(..<length)
      return request
    }

    private func receive(_ descriptor: Int32, _ waiting: inout [UInt8]) -> Bool {
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      let count = recv(descriptor, &chunk, chunk.count, 0)
      guard count > 0 else { return false }
      waiting.append(contentsOf: chunk[..<count])
      return true
    }
  }
}

private func onNewThread(_ body: @escaping @Sendable () -> Void) {
  let thread = Thread { body() }
  thread.stackSize = 1 << 20
  thread.start()
}
