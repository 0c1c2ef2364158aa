import FieldpackCore
import FieldpackField

/// Who is signed in, as it is kept: never with the password.
struct KeptSignIn: Hashable, Sendable {
  var user: String
  var token: Secret
  /// What a new token is asked for with; `nil` where the backend gives none.
  var refreshToken: Secret?
  var received: Instant
  /// Until when the token holds; `nil` where the backend does not tell.
  var expiry: Instant?

  /// Whether the token holds for so much longer, at least.
  func holds(for time: Duration = .zero, after now: Instant) -> Bool {
    guard let expiry else { return true }
    return expiry > now.advanced(by: time)
  }

  /// Whether the token holds for so long that no new one is asked for: for an hour, or for half of the
  /// time of a token that is given for less than two.
  func isFresh(at now: Instant) -> Bool {
    guard let expiry else { return true }
    let lifetime = Duration.milliseconds(expiry.milliseconds - received.milliseconds)
    return holds(for: min(.seconds(3_600), lifetime / 2), after: now)
  }
}

extension KeptSignIn {
  var document: JSONValue {
    func member(_ name: String, _ text: String?) -> JSONValue.Member {
      .init(name: name, value: text.map { .text($0) } ?? .null)
    }
    return .object([
      member("user", user), member("token", token.text),
      member("refresh_token", refreshToken?.text), member("received_at", received.description),
      member("expires_at", expiry?.description),
    ])
  }

  /// `nil` for what is no such document.
  init?(_ document: JSONValue) {
    guard let user = document["user"]?.string, let token = document["token"]?.string,
      TokenAnswer.isToken(token),
      let received = document["received_at"]?.string.flatMap({ Instant($0) })
    else { return nil }
    (self.user, self.token, self.received) = (user, Secret(token), received)
    if let text = document["refresh_token"]?.string {
      guard TokenAnswer.isToken(text) else { return nil }
      refreshToken = Secret(text)
    }
    if let text = document["expires_at"]?.string {
      guard let expiry = Instant(text) else { return nil }
      self.expiry = expiry
    }
  }
}
