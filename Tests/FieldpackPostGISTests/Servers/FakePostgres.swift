#if PostGIS
  import FieldpackCore
  import FieldpackTestSupport
  import Foundation

  @testable import FieldpackPostGIS

  #if canImport(Glibc)
    import Glibc
  #elseif canImport(Darwin)
    import Darwin
  #endif

  /// A server on 127.0.0.1 that speaks the protocol of PostgreSQL, version 3, and answers statements
  /// with what a test says. Nobody signs in, and there is no TLS.
  ///
  /// It knows one table, `wells`, with the id `fid`, the geometry `geom` in WGS 84, the integer `depth` and
  /// the text `name`.
  final class FakePostgres: Sendable {
    /// What a statement is answered with.
    enum Answer: Sendable {
      case messages([UInt8])
      /// These, and then the end of the connection.
      case cut([UInt8])
      /// These, then pieces without end, until nobody takes them.
      case endless([UInt8], piece: [UInt8])
      /// These, and then nothing any more; whoever wants to cancel waits, too.
      case silence([UInt8])
    }

    /// What the connection begins with, in place of the usual.
    typealias Greeting = @Sendable ([UInt8]) -> Answer

    let port: UInt16
    /// How many bytes clients have taken of endless answers.
    let endlessBytes = Locked(0)
    private let listener: Int32
    private let clients = Locked<Clients>(Clients())

    /// The connections that are open. Each is closed once, under the lock.
    private struct Clients {
      var open: [Int32] = []
      var isOver = false
    }

    /// - Parameters:
    ///   - greeting: is given what the server would say to a client that comes.
    ///   - answer: is given a statement; `nil` for the usual answer.
    init(
      greeting: @escaping Greeting = { .messages($0) },
      answer: @escaping @Sendable (String) -> Answer? = { _ in nil }
    ) throws {
      (listener, port) = try LoopbackServer.listen()
      let (listener, work) = (listener, Work(answer, greeting, endlessBytes, clients))
      Thread.detachNewThread { work.accept(listener) }
    }

    deinit {
      clients.withLock { clients in
        clients.isOver = true
        for client in clients.open { shutdown(client, Int32(SHUT_RDWR)) }
      }
      shutdown(listener, Int32(SHUT_RDWR))
    }

    var shown: String { "127.0.0.1:\(port)/fake" }

    var address: PostgresAddress {
      PostgresAddress(
        keywords: [
          ("host", "127.0.0.1"), ("port", "\(port)"), ("dbname", "fake"), ("user", "eva"),
          ("sslmode", "disable"), ("passfile", "/dev/null"),
        ], shown: shown)
    }

    func store(_ limits: PostgresLimits = PostgresLimits()) -> PostGISStore {
      PostGISStore(id: "survey", address: address, limits: limits)
    }

    /// What the threads share.
    private struct Work: Sendable {
      let answer: @Sendable (String) -> Answer?
      let greeting: Greeting
      let endlessBytes: Locked<Int>
      let clients: Locked<Clients>

      init(
        _ answer: @escaping @Sendable (String) -> Answer?, _ greeting: @escaping Greeting,
        _ endlessBytes: Locked<Int>, _ clients: Locked<Clients>
      ) {
        (self.answer, self.greeting) = (answer, greeting)
        (self.endlessBytes, self.clients) = (endlessBytes, clients)
      }

      func accept(_ listener: Int32) {
        signal(SIGPIPE, SIG_IGN)
        while true {
          let descriptor = acceptOne(listener)
          guard descriptor >= 0 else { break }
          clients.withLock { clients in
            clients.open.append(descriptor)
            if clients.isOver { shutdown(descriptor, Int32(SHUT_RDWR)) }
          }
          Thread.detachNewThread {
            serve(FakeClient(descriptor))
            clients.withLock { clients in
              clients.open.removeAll { $0 == descriptor }
              close(descriptor)
            }
          }
        }
        close(listener)
      }

      private func serve(_ client: FakeClient) {
        while true {
          guard let code = client.startup() else { return }
          // 80877102 cancels, and 80877103 and 80877104 ask for encryption.
          if code == 80_877_102 { return client.waitForEnd() }
          if code == 196_608 { break }
          client.send([UInt8(ascii: "N")])
        }
        guard reply(greeting(FakeMessages.greeting), to: client) else { return }
        while let statement = client.statement() {
          let word = statement.split(separator: " ").first ?? ""
          if word == "BEGIN" { client.inTransaction = true }
          if word == "COMMIT" || word == "ROLLBACK" { client.inTransaction = false }
          let usual = FakeMessages.usual(statement) + FakeMessages.ready(client.inTransaction)
          guard reply(answer(statement) ?? .messages(usual), to: client) else { return }
        }
      }

      /// - Returns: whether the connection goes on.
      private func reply(_ answer: Answer, to client: FakeClient) -> Bool {
        switch answer {
        case .messages(let bytes): return client.send(bytes)
        case .cut(let bytes):
          client.send(bytes)
          return false
        case .silence(let bytes):
          client.send(bytes)
          client.waitForEnd()
          return false
        case .endless(let bytes, let piece):
          client.send(bytes)
          while client.send(piece) { endlessBytes.withLock { $0 += piece.count } }
          return false
        }
      }
    }
  }

  /// The other end of a connection.
  private final class FakeClient {
    private let descriptor: Int32
    private var waiting: [UInt8] = []
    /// The statements that the client has prepared, by their names.
    private var prepared: [String: String] = [:]
    var inTransaction = false

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }

    func waitForEnd() { while fill() { waiting = [] } }

    private func fill() -> Bool {
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      let count = read(descriptor, &chunk, chunk.count)
      guard count > 0 else { return false }
      waiting += chunk[..<count]
      return true
    }

    private func take(_ count: Int) -> [UInt8]? {
      while waiting.count < count { guard fill() else { return nil } }
      defer { waiting.removeFirst(count) }
      return Array(waiting[..<count])
    }

    private func number() -> Int? {
      take(4).map { Int(UInt32(bigEndian: $0.span.bytes.unsafeLoad(as: UInt32.self))) }
    }

    /// The code of the message that a connection begins with.
    func startup() -> Int? {
      guard let length = number(), length >= 8, let code = number(), take(length - 8) != nil else {
        return nil
      }
      return code
    }

    /// The next statement: the text of a `Query`, or that of the `Parse` before a `Bind`.
    func statement() -> String? {
      var text: String?
      while let type = take(1)?[0], let length = number(), let body = take(max(0, length - 4)) {
        switch type {
        case UInt8(ascii: "Q"): return String(decoding: body.prefix { $0 != 0 }, as: UTF8.self)
        case UInt8(ascii: "P"):
          let words = body.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
          guard words.count == 3 else { return nil }
          prepared[String(decoding: words[0], as: UTF8.self)] = String(
            decoding: words[1], as: UTF8.self)
        case UInt8(ascii: "B"):
          // The portal, which has no name, and the statement.
          let name = body.dropFirst().prefix { $0 != 0 }
          text = prepared[String(decoding: name, as: UTF8.self)]
        case UInt8(ascii: "S"):
          if let text { return text }
          send(FakeMessages.message("1", []) + FakeMessages.ready(inTransaction))
        case UInt8(ascii: "X"): return nil
        default: break
        }
      }
      return nil
    }
  }
  private func acceptOne(_ listener: Int32) -> Int32 { accept(listener, nil, nil) }
#endif
