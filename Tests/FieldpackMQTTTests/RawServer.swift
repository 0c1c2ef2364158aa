#if MQTT
  import FieldpackTestSupport
  import Foundation

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// A server on 127.0.0.1 that speaks bytes as a test tells it to, with one connection after the other.
  final class RawServer: Sendable {
    let port: Int
    private let listener: Int32

    /// - Parameter serve: called with the descriptor of each connection, which is closed afterwards.
    init(_ serve: @escaping @Sendable (Int32) -> Void) throws {
      let (listener, port) = try LoopbackServer.listen()
      (self.listener, self.port) = (listener, Int(port))
      Thread.detachNewThread {
        while true {
          let connection = accept(listener, nil, nil)
          // So it is once the listener is shut down; a client that has gone again ends nothing.
          if connection < 0, errno == EINVAL { break }
          guard connection >= 0 else { continue }
          serve(connection)
          close(connection)
        }
        close(listener)
      }
    }

    // The thread closes the listener: its number could else be that of the next server's listener when
    // the thread comes back to it.
    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    // MARK: Packets

    /// The next packet, whose length takes one byte; empty at the end.
    static func packet(_ connection: Int32) -> [UInt8] {
      var head = [UInt8](repeating: 0, count: 2)
      guard read(connection, &head, 2) == 2 else { return [] }
      var rest = [UInt8](repeating: 0, count: Int(head[1]))
      var count = 0
      while count < rest.count {
        let got = rest.withUnsafeMutableBytes {
          read(connection, $0.baseAddress! + count, $0.count - count)
        }
        guard got > 0 else { return [] }
        count += got
      }
      return head + rest
    }

    /// Sends bytes; `false` where the client takes no more.
    @discardableResult
    static func send(_ bytes: [UInt8], to connection: Int32) -> Bool {
      var count = 0
      while count < bytes.count {
        let sent = bytes.withUnsafeBytes {
          Glibc.send(
            connection, $0.baseAddress! + count, $0.count - count, Int32(MSG_NOSIGNAL))
        }
        guard sent > 0 else { return false }
        count += sent
      }
      return true
    }
  }
#endif
