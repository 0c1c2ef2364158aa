import Fieldpack
import FieldpackCore
import FieldpackHTTP

/// Asks a backend for tokens, in the way that its config names.
struct TokenRequests: Sendable {
  let address: BackendAddress
  let method: RemoteConfig.Authentication
  let client: HTTPClient

  private static let maximumLength = 1 << 16

  /// - Throws: `.permission` with the status of the answer as its cause where the backend refuses the
  ///   user.
  func signIn(
    _ user: String, _ password: String, at now: Instant
  ) async throws(FieldpackError) -> TokenAnswer {
    guard case .exchange(let client) = method else {
      return try await signInAtServer(user, password, at: now)
    }
    return try await askExchange(
      client, [("grant_type", "password"), ("username", user), ("password", password)],
      refusal: "refuses the user or the password")
  }

  /// - Throws: `.permission` with the status of the answer as its cause where the backend refuses the
  ///   token.
  func renew(
    _ refreshToken: Secret, of client: String
  ) async throws(FieldpackError) -> TokenAnswer {
    try await askExchange(
      client, [("grant_type", "refresh_token"), ("refresh_token", refreshToken.text)],
      refusal: "takes the sign-in no longer")
  }

  private func signInAtServer(
    _ user: String, _ password: String, at now: Instant
  ) async throws(FieldpackError) -> TokenAnswer {
    let body = JSONValue.object([
      .init(name: "email", value: .text(user)), .init(name: "password", value: .text(password)),
    ])
    let response = try await send(
      "/api/authenticate", body.text, ["Content-Type": "application/json"])
    let refusal = failure(
      .permission, "refuses the user or the password", underlying: response.failure)
    if [401, 403].contains(response.status) { throw refusal }
    let answer = try document(of: response)
    guard let result = answer["result"], result != .null else {
      if let error = answer["error"], error != .null { throw refusal }
      throw failure(.invalidData, "gives an answer without a 'result'")
    }
    return try checked { () throws(TokenAnswer.Mistake) in
      try TokenAnswer(result: result, at: now)
    }
  }

  private func askExchange(
    _ client: String, _ form: [(name: String, value: String)], refusal: String
  ) async throws(FieldpackError) -> TokenAnswer {
    let body = form.map { "\($0.name)=\(FormText.encoded($0.value))" }.joined(separator: "&")
    let response = try await send(
      "/o/token/", body,
      [
        "Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json",
        "Authorization": "Basic " + Base64.encode("\(client):".utf8),
      ])
    if let refused = Self.refusal(response, refusal) {
      throw failure(.permission, refused, underlying: response.failure)
    }
    let answer = try document(of: response)
    return try checked { () throws(TokenAnswer.Mistake) in try TokenAnswer(oauth: answer) }
  }

  /// What an answer refuses (RFC 6749, 5.2); `nil` where it is no refusal.
  private static func refusal(_ response: HTTPResponse, _ usual: String) -> String? {
    guard [400, 401, 403].contains(response.status) else { return nil }
    let answer = try? JSONValueReader.read(String(decoding: response.body, as: UTF8.self))
    switch answer?["error"]?.string {
    case "invalid_client", "unauthorized_client":
      return "does not take the 'client_id' of the config"
    case "invalid_grant": return usual
    default: return response.status == 400 ? nil : usual
    }
  }

  // MARK: The exchange

  private func send(
    _ path: String, _ body: String, _ fields: HTTPFields
  ) async throws(FieldpackError) -> HTTPResponse {
    do throws(FieldpackError) {
      return try await client.send(
        HTTPRequest(
          .post, address.url(path), fields: fields, body: .bytes(Array(body.utf8)),
          maximumLength: Self.maximumLength))
    } catch {
      throw address.failure(error)
    }
  }

  private func document(of response: HTTPResponse) throws(FieldpackError) -> JSONValue {
    let body = try response.checked(address.host).body
    guard let answer = try? JSONValueReader.read(String(decoding: body, as: UTF8.self)) else {
      throw failure(.invalidData, "gives an answer that is no JSON")
    }
    return answer
  }

  private func checked(
    _ answer: () throws(TokenAnswer.Mistake) -> TokenAnswer
  ) throws(FieldpackError) -> TokenAnswer {
    do throws(TokenAnswer.Mistake) { return try answer() } catch {
      throw failure(.invalidData, error.reason)
    }
  }

  /// An error that names the server, and nothing that it was sent or answers.
  private func failure(
    _ code: FieldpackError.Code, _ reason: String, underlying: HTTPFailure? = nil
  ) -> FieldpackError {
    FieldpackError(code, "\(address.host) \(reason)", underlying: underlying)
  }
}

extension HTTPResponse {
  fileprivate var failure: HTTPFailure { .status(status) }
}

extension FieldpackError {
  /// Whether a backend has refused who signs in.
  var isRefusedSignIn: Bool { code == .permission && httpFailure != nil }
}

/// Values of forms that are sent as `application/x-www-form-urlencoded`.
private enum FormText {
  static func encoded(_ value: String) -> String {
    var text = ""
    for byte in value.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
        UInt8(ascii: "_"):
        text.unicodeScalars.append(UnicodeScalar(byte))
      default: text += (byte < 16 ? "%0" : "%") + String(byte, radix: 16, uppercase: true)
      }
    }
    return text
  }
}
