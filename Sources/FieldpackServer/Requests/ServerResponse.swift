package import FieldpackHTTP

/// What the server answers.
package struct ServerResponse: Sendable {
  package enum Body: Sendable {
    case bytes([UInt8])
    /// Bytes that are made while the client takes them.
    case stream(ResponseStream)
    /// The connection itself, for another protocol; the status is 101.
    case socket(any SocketWork)
  }

  package var status: Int
  package var fields: HTTPFields
  package var body: Body

  package init(_ status: Int, fields: HTTPFields = [:], body: Body = .bytes([])) {
    self.status = status
    self.fields = fields
    self.body = body
  }

  /// A document of that media type.
  package init(_ status: Int = 200, _ type: String, _ bytes: [UInt8]) {
    self.init(status, fields: ["Content-Type": type], body: .bytes(bytes))
  }
}

/// Goes on with a connection that has changed from HTTP to another protocol.
package protocol SocketWork: Sendable {
  /// Reads and writes the connection until its end, on a thread of its own. The socket does not block, and
  /// the caller closes it.
  ///
  /// - Parameter first: the bytes of the new protocol that the client has sent already.
  func run(on socket: Int32, after first: [UInt8])
}

/// Answers requests. All functions may be called on many threads at a time.
package protocol RequestHandling: Sendable {
  /// The refusal of a request with that head, whose body is then not read; `nil` to go on. The function is
  /// called again while the body comes.
  ///
  /// - Parameter bodyLength: how long the body will be, or is so far; `nil` where that is not known.
  func refusal(of head: ServerRequest, bodyLength: Int?) -> ServerResponse?
  /// Notes in the head who sends the request. The function is called once for each request.
  ///
  /// - Parameter address: gives the address of the client's machine.
  /// - Returns: a refusal; `nil` to go on.
  func admit(_ head: inout ServerRequest, from address: () -> String) -> ServerResponse?
  /// Takes the body of a request with that head; `nil` where the body is to be kept in memory.
  func receiver(of head: ServerRequest) -> (any BodyReceiving)?
  /// The answer to a request that needs no waiting, such as for a document that is kept or for a feature
  /// that is found soon; `nil` where ``answer(_:)`` has to make it.
  func answerAtOnce(_ request: ServerRequest) -> ServerResponse?
  func answer(_ request: ServerRequest) async -> ServerResponse
}

extension RequestHandling {
  package func admit(_ head: inout ServerRequest, from address: () -> String) -> ServerResponse? {
    nil
  }
  package func receiver(of head: ServerRequest) -> (any BodyReceiving)? { nil }
}
