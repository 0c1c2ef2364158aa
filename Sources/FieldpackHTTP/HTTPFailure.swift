import CCURL
public import FieldpackCore

/// What went wrong with an exchange, as the `underlying` of the error.
public enum HTTPFailure: Error, Hashable, Sendable {
  /// No connection, or it broke.
  case connection
  /// Longer than the configuration lets it take.
  case timeout
  /// The server cannot prove to be the one of that name.
  case untrusted
  /// The body ended before its end.
  case cutShort
  /// More than the request takes, of the body or of the header.
  case tooLong
  /// To another server, or once too often.
  case redirect
  /// An answer that is no HTTP.
  case malformed
  /// A status outside 200 to 299; see ``HTTPResponse/checked(_:)``.
  case status(Int)
}

extension FieldpackError {
  /// What went wrong with an exchange by HTTP, where that is what the error is of.
  public var httpFailure: HTTPFailure? { underlying as? HTTPFailure }

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
  /// The response itself where its status is one of success.
  ///
  /// - Parameter subject: what was asked for, for the message.
  /// - Throws: `.notFound` for 404 and 410, `.permission` for 401 and 403, `.unavailable` for 408,
  ///   429 and 500 up, `.invalidData` for others.
  public func checked(_ subject: String) throws(FieldpackError) -> HTTPResponse {
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
      underlying: HTTPFailure.status(status))
  }
}
