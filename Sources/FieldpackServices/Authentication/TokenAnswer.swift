import FieldpackCore

/// What a backend gives to who signs in.
struct TokenAnswer: Hashable, Sendable {
  var token: Secret
  /// `nil` where the answer has none; then an older one holds on.
  var refreshToken: Secret?
  /// How long the token holds; `nil` where the backend does not tell.
  var lifetime: Duration?

  /// The longest lifetime that is believed, of a hundred years.
  private static let longestLifetime: Int64 = 100 * 366 * 86_400
  private static let maximumTokenLength = 16_384

  /// Whether a text can stand in the header of a request, as a token.
  static func isToken(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.count <= maximumTokenLength
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
  }

  /// Why an answer gives no token.
  struct Mistake: Error {
    /// What follows the name of the server.
    let reason: String
  }

  private static func token(
    _ value: JSONValue?, _ name: String
  ) throws(Mistake) -> Secret {
    guard let text = value?.string, isToken(text) else {
      throw Mistake(reason: "gives no '\(name)' that is a token")
    }
    return Secret(text)
  }

  // MARK: Servers

  /// The answer of a backend: an object with a member `token`.
  init(result: JSONValue, at now: Instant) throws(Mistake) {
    token = try Self.token(result["token"], "token")
    lifetime = Self.lifetime(ofJWT: token.text, at: now)
  }

  /// How long a JSON Web Token holds by its claims (RFC 7519), from now on; `nil` where it does not tell.
  ///
  /// The clock of the backend may differ from this one, so that the time between two claims counts.
  private static func lifetime(ofJWT token: String, at now: Instant) -> Duration? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let bytes = Base64.decode(parts[1].utf8),
      let claims = try? JSONValueReader.read(String(decoding: bytes, as: UTF8.self)),
      let end = claims["exp"]?.number
    else { return nil }
    let start = claims["iat"]?.number ?? Double(now.milliseconds) / 1000
    guard end > start, end - start <= Double(longestLifetime) else { return nil }
    return .milliseconds(Int64((end - start) * 1000))
  }

  // MARK: OAuth 2

  /// The answer to a request for a token (RFC 6749, 5.1).
  init(oauth answer: JSONValue) throws(Mistake) {
    if let kind = answer["token_type"], kind.string?.lowercased() != "bearer" {
      throw Mistake(reason: "gives a 'token_type' other than Bearer")
    }
    token = try Self.token(answer["access_token"], "access_token")
    if let value = answer["refresh_token"], value != .null {
      refreshToken = try Self.token(value, "refresh_token")
    }
    if let value = answer["expires_in"], value != .null {
      guard let seconds = value.number, 1...Double(Self.longestLifetime) ~= seconds else {
        throw Mistake(reason: "gives an 'expires_in' that is no number of seconds to come")
      }
      lifetime = .milliseconds(Int64(seconds * 1000))
    }
  }
}
