import FieldpackCore

/// The tokens of clients that sign in as with SpatialConnect's server: JSON Web Tokens (RFC 7519)
/// that are valid for two weeks, or until the server ends.
struct OldTokens: Sendable {
  private let secret = AccessTokens.secret()

  static let lifetime: Int64 = 14 * 86_400

  private static let head = #"{"alg":"HS256","typ":"JWT"}"#

  func token(for user: String, at now: Instant) -> String {
    let start = now.milliseconds / 1000
    let claims: JSONValue = [
      "user": ["email": .text(user)], "iat": .integer(start),
      "exp": .integer(start + Self.lifetime),
    ]
    let encode = Base64.encodeForAddress as ([UInt8]) -> String
    let text = encode(Array(Self.head.utf8)) + "." + encode(Array(claims.text.utf8))
    return text + "." + encode(code(of: text))
  }

  /// Whose token it is; `nil` for one that was not made here, or whose time is over.
  func user(of token: String, at now: Instant) -> String? {
    let parts = token.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 3, let given = Base64.decode(parts[2].utf8) else { return nil }
    let own = code(of: parts[0] + "." + parts[1])
    guard AccessTokens.areEqual(given, own),
      let bytes = Base64.decode(parts[1].utf8),
      let claims = try? JSONValueReader.read(String(decoding: bytes, as: UTF8.self)),
      let end = claims["exp"]?.number, end > Double(now.milliseconds) / 1000
    else { return nil }
    return claims["user"]?["email"]?.string
  }

  private func code(of text: some StringProtocol) -> [UInt8] {
    HMAC.sha256(Array(text.utf8), key: secret)
  }
}
