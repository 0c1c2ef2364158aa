import FieldpackCore
import FieldpackHTTP

/// Finds out who sends a request, refuses who may not, and gives the others' requests to the router.
final class ServerGate: RequestHandling {
  struct Rules: Sendable {
    /// `nil` where nobody needs a token.
    var tokens: AccessTokens?
    /// The rights of a request without a token. `nil`: where there are tokens, each request needs one;
    /// where there are none, everything is allowed and nobody is counted.
    var withoutToken: [AccessRight]?
    /// The sites whose pages may send requests, such as `https://map.example`.
    var origins: Set<String> = []
    /// Whether a proxy names the client of each request.
    var isBehindProxy = false
    /// How many requests a token may send in a second, and an address without a token.
    var perSecond = 100
    /// Whether browsers send cookies only by TLS.
    var isEncrypted = false
  }

  let router: ServerRouter
  let rules: Rules
  let sessions = ServerSessions()
  let uptime: @Sendable () -> Duration
  private let requests: RateLimit
  private let failures = RateLimit(perSecond: 0.1, atOnce: 10)

  init(_ router: ServerRouter, _ rules: Rules, uptime: @escaping @Sendable () -> Duration) {
    (self.router, self.rules, self.uptime) = (router, rules, uptime)
    let perSecond = Double(max(1, rules.perSecond))
    requests = RateLimit(perSecond: perSecond, atOnce: 10 * perSecond)
  }

  // MARK: Handling

  func refusal(of head: ServerRequest, bodyLength: Int?) -> ServerResponse? {
    guard let refusal = router.refusal(of: head, bodyLength: bodyLength) else {
      guard head.path == ["login"], bodyLength ?? 0 > 4 << 10 else { return nil }
      return dressed(problem(413, "The form to sign in has at most 4 kB.", head), head)
    }
    return dressed(refusal, head)
  }

  func admit(_ head: inout ServerRequest, from address: () -> String) -> ServerResponse? {
    if let problem = RequestFraming.problem(of: head.fields) {
      // Nobody knows where the next request on the connection would begin.
      var response = self.problem(400, problem, head)
      response.fields["Connection"] = "close"
      return dressed(response, head)
    }
    if let answer = preflight(head) { return answer }
    // A browser asks for a sandboxed page without any token.
    if head.method == "OPTIONS", router.showsKey(head) { return nil }
    guard rules.tokens != nil || rules.withoutToken != nil else { return nil }
    head.caller.address = client(of: head, from: address)
    return identify(&head).map { dressed($0, head) }
  }

  func receiver(of head: ServerRequest) -> (any BodyReceiving)? { router.receiver(of: head) }

  func answerAtOnce(_ request: ServerRequest) -> ServerResponse? {
    router.answerAtOnce(request).map { dressed($0, request) }
  }

  func answer(_ request: ServerRequest) async -> ServerResponse {
    if let answer = signing(request) { return dressed(answer, request) }
    let answer = await router.answer(request)
    // Some clients send their token only after the status 401.
    guard answer.status == 403, rules.tokens != nil, request.caller.token == nil,
      router.isOwn(request)
    else { return dressed(answer, request) }
    return dressed(unauthorized(request), request)
  }

  // MARK: Who asks

  /// The address of the client. A proxy appends the address that it sees to the list that it got.
  private func client(of head: ServerRequest, from address: () -> String) -> String {
    guard rules.isBehindProxy else { return RequestFraming.network(of: address()) }
    let told =
      head.fields.values(of: "X-Forwarded-For").last
      ?? head.fields.values(of: "Forwarded").last
    guard let told, let client = RequestFraming.lastClient(in: told) else { return address() }
    return RequestFraming.network(of: client)
  }

  private enum Credentials {
    case none
    case token(String)
    case session([UInt8])
    case broken
  }

  private func credentials(of head: ServerRequest) -> Credentials {
    if let text = head.fields["Authorization"] {
      return RequestFraming.token(in: text).map { .token($0) } ?? .broken
    }
    if let text = router.tokenInAddress(of: head) { return .token(text) }
    guard let text = RequestFraming.cookie(ServerSessions.cookie, in: head.fields),
      let digest = sessions.token(of: text, at: uptime())
    else { return .none }
    return .session(digest)
  }

  /// Notes who sends the request.
  ///
  /// - Returns: a refusal of a client without a valid token, or of one that asks too often.
  private func identify(_ head: inout ServerRequest) -> ServerResponse? {
    let token: AccessToken?
    switch credentials(of: head) {
    case .none: return identifyWithoutToken(&head)
    case .token(let text): token = rules.tokens?.token(of: text, told: logRefusal)
    case .session(let digest):
      token = rules.tokens?.token(digest: digest, told: logRefusal)
      // The browser of a session whose token was revoked has to be able to sign in again.
      if token == nil { return identifyWithoutToken(&head) }
    case .broken: token = nil
    }
    guard let token else {
      // A server without tokens ignores the ones that clients send.
      guard rules.tokens != nil else { return identifyWithoutToken(&head) }
      return failure(head)
    }
    head.caller.rights = token.rights
    head.caller.token = token
    let digest = token.digest
    head.caller.isStillAllowed = { [rules] in
      rules.tokens?.token(digest: digest, told: { _ in }) == token
    }
    return limited("token " + token.name, head)
  }

  private func identifyWithoutToken(_ head: inout ServerRequest) -> ServerResponse? {
    head.caller.rights = rules.withoutToken ?? []
    if let refusal = limited("address " + head.caller.address, head) { return refusal }
    guard rules.withoutToken == nil, head.path != ["login"], head.path != ["logout"] else {
      return nil
    }
    return unauthorized(head)
  }

  private func limited(_ key: String, _ head: ServerRequest) -> ServerResponse? {
    requests.take(key, at: uptime()).map { tooMany($0, head) }
  }

  /// The answer to a wrong token. Wrong tokens do not delay a right one from the same address, which several
  /// clients may share.
  func failure(_ head: ServerRequest) -> ServerResponse {
    if let wait = failures.take(head.caller.address, at: uptime()) { return tooMany(wait, head) }
    return unauthorized(head)
  }

  private func tooMany(_ wait: Duration, _ head: ServerRequest) -> ServerResponse {
    var response = problem(429, "There were too many requests. Ask again later.", head)
    response.fields["Retry-After"] = "\(max(1, wait.components.seconds + 1))"
    return response
  }

  /// Logs why the file of tokens cannot be read.
  func logRefusal(_ error: FieldpackError) {
    router.logger.error("all tokens are refused", ["reason": .text("\(error)")])
  }

  /// Asks for a token. A browser gets the page to sign in, without the scheme Basic: the browser would send
  /// a password of that scheme also with requests that pages of other sites make.
  func unauthorized(_ head: ServerRequest) -> ServerResponse {
    guard Negotiation.prefersPage(head) else {
      var response = problem(401, "This address needs a token.", head)
      response.fields.fields += [
        .init("WWW-Authenticate", "Bearer realm=\"fieldpack\""),
        .init("WWW-Authenticate", "Basic realm=\"fieldpack\", charset=\"UTF-8\""),
      ]
      return response
    }
    var response = loginPage(401, to: router.base(of: head).href(head.path))
    response.fields["WWW-Authenticate"] = "Bearer realm=\"fieldpack\""
    return response
  }

  func problem(_ status: Int, _ detail: String, _ head: ServerRequest) -> ServerResponse {
    router.problem(ProblemDocument(status, detail), head)
  }

  // MARK: Pages of other sites

  /// The answer to a browser that asks whether a page of another site may send a request.
  private func preflight(_ head: ServerRequest) -> ServerResponse? {
    guard head.method == "OPTIONS", let origin = head.fields["Origin"],
      head.fields["Access-Control-Request-Method"] != nil, !router.showsKey(head)
    else { return nil }
    var response = ServerResponse(204)
    if rules.origins.contains(origin) {
      response.fields = [
        "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS, POST, PUT, PATCH, DELETE",
        "Access-Control-Allow-Headers":
          "Authorization, Content-Type, If-Match, If-None-Match, Last-Event-ID, Range, Content-Crs, "
          + "Content-Range, Content-Digest, Repr-Digest, Digest",
        "Access-Control-Max-Age": "600",
      ]
    }
    return dressed(response, head)
  }

  /// The answer with the fields that tell browsers which pages may read it and whether to keep it.
  private func dressed(_ response: ServerResponse, _ request: ServerRequest) -> ServerResponse {
    var response = response
    if request.caller.token != nil, response.fields["Cache-Control"] == nil {
      response.fields["Cache-Control"] = "private, no-cache"
    }
    guard !rules.origins.isEmpty else { return response }
    let varied = response.fields["Vary"].map { $0 + ", Origin" }
    response.fields["Vary"] = varied ?? "Origin"
    // Cookies are not allowed here: a page of another site sends a token of its own.
    if let origin = request.fields["Origin"], rules.origins.contains(origin) {
      response.fields["Access-Control-Allow-Origin"] = origin
      response.fields["Access-Control-Expose-Headers"] = "Content-Crs, ETag, Link, Location"
    }
    return response
  }
}
