import FieldpackCore
import FieldpackHTTP

/// Signing in with a browser.
extension ServerGate {
  /// The answer to a request for `/login` or `/logout`; `nil` for another path, and on a server without
  /// tokens.
  func signing(_ request: ServerRequest) -> ServerResponse? {
    guard rules.tokens != nil else { return nil }
    switch request.path {
    case ["login"]:
      switch request.method {
      case "GET", "HEAD": return loginPage(200, to: router.base(of: request).href([]))
      case "POST": return signIn(request)
      default: return notAllowed("GET, HEAD, POST", request)
      }
    case ["logout"]:
      return request.method == "POST" ? signOut(request) : notAllowed("POST", request)
    default: return nil
    }
  }

  private func notAllowed(_ methods: String, _ request: ServerRequest) -> ServerResponse {
    var response = problem(405, "This address does not take \(request.method).", request)
    response.fields["Allow"] = methods
    return response
  }

  /// Whether the form comes from a page of this server. Pages of allowed origins do not count, unlike in
  /// ``ServerRouter/isOwn(_:)``: a page of another site could sign a browser in with its owner's token.
  private func isOwnPage(_ request: ServerRequest) -> Bool {
    guard let origin = request.fields["Origin"] else {
      // Browsers send Origin with each form; other programs need not.
      return request.fields["Sec-Fetch-Site"].map { $0 == "same-origin" || $0 == "none" } ?? true
    }
    let own = router.base(of: request).text
    return own == origin || own.hasPrefix(origin + "/")
  }

  private func signIn(_ request: ServerRequest) -> ServerResponse {
    guard isOwnPage(request) else {
      return problem(403, "Pages of other sites may not sign in.", request)
    }
    var token = ""
    var target = ""
    for (name, value) in request.form ?? [] {
      if name == "token" { token = value }
      if name == "to" { target = value }
    }
    // A token that was copied from a terminal may end with a blank.
    token = String(token.filter { !$0.isWhitespace })
    guard let found = rules.tokens?.token(of: token, told: logRefusal) else {
      let refusal = failure(request)
      return refusal.status == 429 ? refusal : loginPage(401, to: target, isWrong: true)
    }
    let base = router.base(of: request).text
    var response = ServerResponse(303)
    response.fields["Location"] = isWithin(base, target) ? target : base + "/"
    response.fields["Set-Cookie"] = cookie(
      sessions.begin(found, at: uptime()), seconds: ServerSessions.length.components.seconds)
    response.fields["Cache-Control"] = "no-store"
    return response
  }

  /// Whether an address is one of this server, also as browsers read it.
  private func isWithin(_ base: String, _ target: String) -> Bool {
    guard target.hasPrefix(base + "/") else { return false }
    return RequestTarget(String(target.dropFirst(base.count))) != nil
      && target.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
  }

  private func signOut(_ request: ServerRequest) -> ServerResponse {
    guard isOwnPage(request) else {
      return problem(403, "Pages of other sites may not sign out.", request)
    }
    if let text = RequestFraming.cookie(ServerSessions.cookie, in: request.fields) {
      sessions.end(text)
    }
    var response = ServerResponse(303)
    response.fields["Location"] = router.base(of: request).text + "/login"
    response.fields["Set-Cookie"] = cookie("", seconds: 0)
    return response
  }

  private func cookie(_ value: String, seconds: Int64) -> String {
    "\(ServerSessions.cookie)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict"
      + (rules.isEncrypted ? "; Secure" : "")
  }

  // MARK: The page

  // Not a ``DocumentPage``, whose policy forbids forms and which has links of the document only.
  func loginPage(_ status: Int, to target: String, isWrong: Bool = false) -> ServerResponse {
    let note = isWrong ? "<p role=\"alert\">There is no such token.</p>\n" : ""
    let action = (router.publicBase?.pathPrefix ?? "") + "/login"
    let page = """
      <!DOCTYPE html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <title>Sign in</title>
      </head>
      <body>
      <main>
      <h1>Sign in</h1>
      \(note)<form method="post" action="\(XMLText.escaped(action))">
      <input type="hidden" name="to" value="\(XMLText.escaped(target))">
      <p><label for="token">Token</label>
      <input type="password" id="token" name="token" required autofocus
      autocomplete="current-password"></p>
      <p><button>Sign in</button></p>
      </form>
      </main>
      </body>
      </html>

      """
    return ServerResponse(
      status,
      fields: [
        "Content-Type": MediaType.html, "Cache-Control": "no-store",
        "Referrer-Policy": "same-origin",
        "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'self'; "
          + "frame-ancestors 'none'",
      ], body: .bytes(Array(page.utf8)))
  }
}
