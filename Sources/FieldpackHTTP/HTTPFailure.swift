import CCURL
public import FieldpackCore

/// Why an exchange failed, as the `underlying` of the error.
public enum HTTPFailure: Error, Hashable, Sendable {
  /// There was no connection, or it broke.
  case connection
  /// The exchange took longer than the configuration allows.
  case timeout
  /// The server's certificate does not prove its name.
  case untrusted
  /// The body is shorter than announced.
  case cutShort
  /// Body or header is longer than the request allows.
  case tooLong
  /// A redirect leads to another server, or is one too many.
  case redirect
  /// The answer is not HTTP, or contradicts the request or itself.
  case malformed
  /// The body is another than the one that is wanted, by its digest.
  case digest
  /// A status outside 200 to 299; see ``HTTPResponse/checked(_:at:)``.
  ///
  /// - Parameter asked: how long the server asks to wait before the next request.
  case status(Int, asked: Duration? = nil)
}

extension FieldpackError {
  /// Why an exchange by HTTP failed, where that is the cause of the error.
  public var httpFailure: HTTPFailure? { underlying as? HTTPFailure }

  /// How long the server that refused a request asks to wait before the next one.
  package var askedPause: Duration? {
    if case .status(_, let asked) = httpFailure { asked } else { nil }
  }

  init(_ code: Code, _ failure: HTTPFailure, _ address: String, _ message: String) {
    self.init(code, "\(address): \(message)", underlying: failure)
  }

  /// - Parameters:
  ///   - address: the address without what may be secret in it.
  ///   - detail: what the library has to say.
  init(_ result: CURLcode, _ address: String, _ detail: String) {
    let text = detail.isEmpty ? String(cString: curl_easy_strerror(result)) : detail
    switch result {
    case CURLE_OPERATION_TIMEDOUT: self.init(.unavailable, .timeout, address, text)
    case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR:
      self.init(.unavailable, .untrusted, address, text)
    case CURLE_PARTIAL_FILE, CURLE_GOT_NOTHING: self.init(.unavailable, .cutShort, address, text)
    case CURLE_FILESIZE_EXCEEDED: self.init(.invalidData, .tooLong, address, text)
    case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_HTTP2, CURLE_HTTP2_STREAM,
      CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR:
      self.init(.invalidData, .malformed, address, text)
    case CURLE_URL_MALFORMAT, CURLE_BAD_FUNCTION_ARGUMENT:
      self.init(.invalidArgument, "\(address): \(text)")
    case CURLE_OUT_OF_MEMORY: self.init(.io, "\(address): \(text)")
    default: self.init(.unavailable, .connection, address, text)
    }
  }
}

extension HTTPResponse {
  /// Returns the response if its status is one of success.
  ///
  /// - Parameters:
  ///   - subject: what was asked for, for the message.
  ///   - now: the moment from which a server that names a date asks to wait.
  /// - Throws: `.notFound` for 404 and 410, `.permission` for 401 and 403, `.unavailable` for 408,
  ///   429 and 500 up, `.invalidData` for others.
  public func checked(
    _ subject: String, at now: Instant = .now
  ) throws(FieldpackError) -> HTTPResponse {
    if isSuccess { return self }
    let code: FieldpackError.Code =
      switch status {
      case 404, 410: .notFound
      case 401, 403: .permission
      case 408, 429, 500...: .unavailable
      default: .invalidData
      }
    throw FieldpackError(
      code, "\(subject): the server answers with status \(status)",
      underlying: HTTPFailure.status(status, asked: retryAfter(at: now)))
  }
}
