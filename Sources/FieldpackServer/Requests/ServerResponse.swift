public import FieldpackHTTP

/// What the server answers.
public struct ServerResponse: Sendable {
  public enum Body: Sendable {
    case bytes([UInt8])
    /// Bytes that are made while the client takes them.
    case stream(ResponseStream)
    /// The connection itself, for another protocol; the status is 101.
    case socket(any SocketWork)
  }

  public var status: Int
  public var fields: HTTPFields
  public var body: Body

  public init(_ status: Int, fields: HTTPFields = [:], body: Body = .bytes([])) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// A document of that media type.
  public init(_ status: Int = 200, _ type: String, _ bytes: [UInt8]) {
    self.init(status, fields: ["Content-Type": type], body: .bytes(bytes))
  }
}

/// What goes on with a connection that is HTTP no longer.
public protocol SocketWork: Sendable {
  /// Reads and writes the connection until its end, on a thread of its own. The socket is not to be
  /// closed, and does not block.
  ///
  /// - Parameter first: what the client has sent already.
  func run(on socket: Int32, after first: [UInt8])
}

/// Answers requests. Both functions may be called on many threads at a time.
public protocol RequestHandling: Sendable {
  /// Why a request with that head gets no answer; its body is only read where this is `nil`. It is asked
  /// again while the body comes.
  ///
  /// - Parameter bodyLength: how long the body will be, or is so far; `nil` where that is not known.
  func refusal(of head: ServerRequest, bodyLength: Int?) -> ServerResponse?
  /// Notes who asks. It is called once, with the head.
  ///
  /// - Parameter address: gives the address of the client's machine.
  /// - Returns: why whoever asks gets no answer.
  func admit(_ head: inout ServerRequest, from address: () -> String) -> ServerResponse?
  /// What takes the body of a request with that head; `nil` where the body is to be kept in memory.
  func receiver(of head: ServerRequest) -> (any BodyReceiving)?
  /// The answer to a request that needs no waiting, such as for a document that is kept; `nil` where
  /// ``answer(_:)`` is to be asked.
  func answerAtOnce(_ request: ServerRequest) -> ServerResponse?
  func answer(_ request: ServerRequest) async -> ServerResponse
}

extension RequestHandling {
  public func admit(_ head: inout ServerRequest, from address: () -> String) -> ServerResponse? {
    nil
  }
  public func receiver(of head: ServerRequest) -> (any BodyReceiving)? { nil }
}
