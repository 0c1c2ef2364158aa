public import FieldpackCore

/// The answer of a server whose body comes in pieces, for bodies that are long or have no end.
///
///     let stream = try await client.stream(HTTPRequest(.get, address, maximumLength: .max))
///     for try await bytes in stream { … }
///
/// At most about 1 MiB waits to be read; then the server has to wait. The exchange ends when the
/// stream is released, or the task that reads it is cancelled. Each byte is given once, to whoever
/// asks first.
public final class HTTPStream: AsyncSequence, Sendable {
  /// Status, fields and address of the answer; its body is empty.
  public let head: HTTPResponse
  private let transfer: Transfer
  /// Kept, because the exchanges of a client end with it.
  private let client: HTTPClient

  init(_ head: HTTPResponse, _ transfer: Transfer, of client: HTTPClient) {
    self.head = head
    self.transfer = transfer
    self.client = client
  }

  deinit { client.loop.cancel(transfer) }

  /// The next bytes of the body, at least one; `nil` after the last.
  ///
  /// - Throws: as ``HTTPClient/send(_:progress:)``.
  public func next() async throws(FieldpackError) -> [UInt8]? {
    try await client.loop.whileNotCancelled(transfer) { transfer async throws(FieldpackError) in
      try await transfer.reception.body { client.loop.resume(transfer) }
    }
  }

  public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

  public struct Iterator: AsyncIteratorProtocol {
    let stream: HTTPStream

    public mutating func next() async throws(FieldpackError) -> [UInt8]? { try await stream.next() }

    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(FieldpackError) -> [UInt8]? { try await stream.next() }
  }

  /// Reads the rest of a short body, so that the connection can be used again.
  func drain() async throws(FieldpackError) {
    var left = 64 << 10
    while left > 0, let bytes = try await next() { left -= bytes.count }
  }
}
