import FieldpackCore

/// The browsers that have signed in with a token.
final class ServerSessions: Sendable {
  static let cookie = "fieldpack_session"
  private static let mostKept = 10_000
  /// How long a session lasts.
  static let length = Duration.seconds(12 * 3600)

  private struct Session {
    /// The hash of the token that the session was begun with; the session ends when the token is revoked.
    var token: [UInt8]
    var begun: Duration
  }

  /// The sessions by the hash of the browser's cookie, so that the time of a search tells nothing about
  /// the cookies.
  private let sessions = Locked<[[UInt8]: Session]>([:])

  /// - Returns: the value of the cookie for the browser.
  func begin(_ token: AccessToken, at moment: Duration) -> String {
    let text = AccessTokens.random()
    sessions.withLock { sessions in
      if sessions.count >= Self.mostKept {
        sessions = sessions.filter { moment - $0.value.begun < Self.length }
      }
      if sessions.count >= Self.mostKept,
        let oldest = sessions.min(by: { $0.value.begun < $1.value.begun })
      {
        sessions[oldest.key] = nil
      }
      sessions[Self.digest(text)] = Session(token: token.digest, begun: moment)
    }
    return text
  }

  /// The hash of the token that a session was begun with.
  func token(of text: String, at moment: Duration) -> [UInt8]? {
    sessions.withLock { sessions in
      guard let session = sessions[Self.digest(text)], moment - session.begun < Self.length else {
        return nil
      }
      return session.token
    }
  }

  func end(_ text: String) { sessions.withLock { $0[Self.digest(text)] = nil } }

  private static func digest(_ text: String) -> [UInt8] { SHA256.digest(Array(text.utf8)) }
}
