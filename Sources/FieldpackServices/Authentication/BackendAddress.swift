import Fieldpack
import FieldpackCore
import FieldpackHTTP

/// The server of a backend, which secrets and edits are sent to.
struct BackendAddress: Hashable, Sendable {
  private let address: HTTPAddress
  private let position: FilePosition?

  /// - Throws: `.invalidArgument` for a config whose address cannot be asked.
  init(_ remote: RemoteConfig) throws(FieldpackError) {
    position = remote.position
    do throws(FieldpackError) { address = try HTTPAddress(remote.uri) } catch {
      throw error.adding(position: remote.position)
    }
  }

  /// - Throws: `.invalidArgument` for what cannot be asked.
  init(_ url: String) throws(FieldpackError) {
    (address, position) = (try HTTPAddress(url), nil)
  }

  /// The server with its scheme and port; the path of old configs is that of the config.
  var origin: String { address.origin }
  /// The name of the server for messages.
  var host: String { address.host }

  func url(_ path: String) -> String { address.origin + path }

  /// - Parameter allowsUnencrypted: whether others on the way may read what is sent.
  /// - Throws: `.permission` where they could and may not.
  func checkEncryption(allowsUnencrypted: Bool) throws(FieldpackError) {
    guard address.scheme != "https", !address.isLoopback, !allowsUnencrypted else { return }
    throw FieldpackError(
      .permission,
      "\(host) is asked by http, so that others on the way could read passwords, tokens and features",
      advice: .allowUnencrypted, position: position)
  }

  /// The failure of an exchange in words that hold nothing of what was sent or answered.
  func failure(_ error: FieldpackError) -> FieldpackError {
    let reason: String
    switch error.httpFailure {
    case .redirect: reason = "leads elsewhere, and is not followed there"
    case .tooLong: reason = "gives an answer that is too long"
    case .cutShort: reason = "gives an answer that is cut short"
    case .malformed: reason = "gives an answer that is not HTTP"
    // These are about the connection alone.
    case .connection, .timeout, .untrusted, .status, .digest, nil: return error
    }
    return FieldpackError(error.code, "\(host) \(reason)", underlying: error.underlying)
  }
}
