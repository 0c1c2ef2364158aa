public import FieldpackCore

/// Sends requests by HTTP and HTTPS, without cookies, and verifies TLS.
///
/// A few redirects are followed, within one server only unless the request says otherwise. A body is
/// given as it is, never decompressed. Connections are kept for later requests. One thread serves all
/// exchanges of a client. It sleeps while there is nothing to transfer, and ends with the client.
///
///     let client = try HTTPClient()
///     let page = try await client.send(HTTPRequest(.get, "https://example.org/")).checked("page")
public final class HTTPClient: Sendable {
  /// Called with the bytes of the request's body that are sent so far, and its size in bytes.
  ///
  /// Calls come on the client's thread and should return quickly.
  public typealias Progress = @Sendable (_ sent: Int64, _ total: Int64) -> Void

  public let configuration: HTTPConfiguration
  let loop: TransferLoop

  public init(_ configuration: HTTPConfiguration = .init()) throws(FieldpackError) {
    self.configuration = configuration
    loop = try TransferLoop(configuration)
  }

  deinit { loop.close() }

  /// The response to a request, whatever its status is: see ``HTTPResponse/checked(_:at:)``.
  ///
  /// Cancelling the task stops the transfer.
  /// - Throws: `.unavailable` where there is no connection, it broke or took too long,
  ///   `.invalidData` for an answer that is no HTTP, is too long or leads elsewhere,
  ///   `.invalidArgument` for a request that cannot be sent, `.interrupted` when cancelled. Messages
  ///   show addresses without their queries.
  public func send(
    _ request: HTTPRequest, progress: Progress? = nil
  ) async throws(FieldpackError) -> HTTPResponse {
    let stream = try await stream(request, progress: progress)
    var response = stream.head
    while let bytes = try await stream.next() { response.body.append(contentsOf: bytes) }
    return response
  }

  /// The response to a request as soon as its header is there; its body follows in pieces.
  ///
  /// The limits of request and configuration hold for the whole body: for one without an end,
  /// ``HTTPRequest/maximumLength`` is `.max`, ``HTTPConfiguration/timeout`` `nil` and
  /// ``HTTPConfiguration/lowSpeed`` 0.
  /// - Throws: as ``send(_:progress:)``.
  public func stream(
    _ request: HTTPRequest, progress: Progress? = nil
  ) async throws(FieldpackError) -> HTTPStream {
    try await stream(request, timeout: configuration.timeout, progress: progress)
  }

  /// - Parameters:
  ///   - timeout: the time for the whole exchange, instead of the configuration's.
  ///   - isPublicOnly: whether only addresses of the internet at large are asked; those that such an
  ///     address leads to have to be anyway.
  package func stream(
    _ request: HTTPRequest, timeout: Duration?, isPublicOnly: Bool = false,
    progress: Progress? = nil
  ) async throws(FieldpackError) -> HTTPStream {
    let clock = ContinuousClock()
    let end = timeout.map { clock.now.advanced(by: $0) }
    var request = request
    var address = try HTTPAddress(request.url)
    var isPublicOnly = isPublicOnly
    for _ in 0...max(0, configuration.maximumRedirects) {
      let transfer = try Transfer(
        request, to: address, configuration, timeout: end.map { $0 - clock.now },
        isPublicOnly: isPublicOnly, progress: progress)
      let head = try await loop.whileNotCancelled(transfer) {
        transfer async throws(FieldpackError) in
        loop.start(transfer)
        return try await transfer.reception.head()
      }
      let stream = HTTPStream(head, transfer, of: self)
      guard let next = try Self.redirect(head, of: request, from: address) else { return stream }
      try await stream.drain()
      Self.follow(head.status, &request)
      if !address.leads(to: next) { request.fields.keepWhatIsNoSecret() }
      isPublicOnly = isPublicOnly || transfer.isPublic.withLock { $0 }
      address = next
    }
    throw FieldpackError(
      .invalidData, .redirect, address.shown,
      configuration.maximumRedirects < 1
        ? "the answer is a redirect, and none is followed"
        : "more than \(configuration.maximumRedirects) redirects follow each other")
  }

  /// Where a response leads; `nil` where it is the answer.
  private static func redirect(
    _ response: HTTPResponse, of request: HTTPRequest, from address: HTTPAddress
  ) throws(FieldpackError) -> HTTPAddress? {
    guard [301, 302, 303, 307, 308].contains(response.status),
      let location = response.fields["Location"]
    else { return nil }
    let next: HTTPAddress
    do throws(FieldpackError) {
      next = try HTTPAddress(location, relativeTo: address)
    } catch {
      throw FieldpackError(
        .invalidData, .redirect, address.shown,
        "the answer leads to what is not followed: \(error.message)")
    }
    guard address.leads(to: next) || request.mayGo(from: address, to: next) else {
      throw FieldpackError(
        .invalidData, .redirect, address.shown,
        "the answer leads to another server, \(next.scheme)://\(next.host):\(next.port), "
          + "and is not followed")
    }
    return next
  }

  /// What a request becomes by a redirect (RFC 9110, 15.4).
  private static func follow(_ status: Int, _ request: inout HTTPRequest) {
    let keeps = status == 307 || status == 308 || request.method == .head
    guard !keeps, status == 303 || request.method == .post else { return }
    request.method = .get
    request.body = .none
    request.fields["Content-Type"] = nil
  }
}
