import FieldpackCore
import FieldpackHTTP

/// Positions of devices, at `/fixes`.
extension ServerRouter {
  func takeFixes(_ request: ServerRequest) async -> ServerResponse {
    // Without tokens a GET must not write; see `refusal(ofGet:)`.
    let methods = published.options.hasTokens ? ["GET", "POST"] : ["POST"]
    if let answer = answer(toMethodOf: request, taking: methods) { return answer }
    var response = await taken(request)
    // A GET that writes must reach the server each time.
    response.fields["Cache-Control"] = "no-store"
    return response
  }

  private func taken(_ request: ServerRequest) async -> ServerResponse {
    if let reason = refusal(of: request) {
      return problem(ProblemDocument(403, reason), request)
    }
    do throws(FieldpackError) {
      let body = try FixBody(request)
      return answer(body, try await devices.fixes.take(body.entries.flatMap(\.fixes)))
    } catch {
      return problem(error, request, while: .body)
    }
  }

  // MARK: Rights

  /// The token in the address of a request that brings a position, because apps such as OsmAnd send only an
  /// address. The server ignores a token in any other address.
  func tokenInAddress(of request: ServerRequest) -> String? {
    guard request.path == ["fixes"], request.fields["Authorization"] == nil else { return nil }
    return request.text("token")
  }

  /// Why the positions of a request are not taken; `nil` where they are.
  private func refusal(of request: ServerRequest) -> String? {
    if request.method == "GET", let reason = refusal(ofGet: request) { return reason }
    guard mayIngest(request) else { return "This server takes no positions." }
    // Proxies write addresses to their logs.
    let rights = request.caller.rights ?? []
    guard tokenInAddress(of: request) == nil || rights.allSatisfy({ $0 == .ingest }) else {
      return "A token in an address may have the right 'ingest' alone."
    }
    return nil
  }

  /// Why positions do not come by GET. A browser sends a GET for any page, with a cookie or a password that
  /// it has kept, and often without `Origin`. So only a token counts that no page can have the browser add.
  private func refusal(ofGet request: ServerRequest) -> String? {
    let site = request.fields["Sec-Fetch-Site"] ?? "none"
    guard isOwn(request), site == "none" else { return "Pages may not send positions by GET." }
    let scheme = request.fields["Authorization"]?.prefix { $0 != " " }.lowercased()
    let isTold = scheme == "bearer" || tokenInAddress(of: request) != nil
    guard isTold, request.caller.token != nil else {
      return "A position comes by GET only with a token, as the parameter 'token'."
    }
    return nil
  }

  // MARK: Answers

  private func answer(_ body: FixBody, _ outcomes: [FixIntake.Outcome]) -> ServerResponse {
    var left = outcomes[...]
    var results: [JSONValue] = []
    var mistakes = 0
    for entry in body.entries {
      let own = left.prefix(entry.fixes.count)
      left = left.dropFirst(entry.fixes.count)
      let isFuture = own.contains(.future)
      let mistake = isFuture ? "the fix lies in the future" : entry.mistake
      if mistake != nil { mistakes += 1 }
      results.append(
        .members([
          "line": JSONValue(entry.line), "taken": JSONValue(own.count { $0 == .taken }),
          "known": own.contains(.known) ? JSONValue(own.count { $0 == .known }) : nil,
          "mistake": mistake.map { .text($0) },
        ]))
    }
    switch body.sender {
    // OwnTracks expects an array of messages from the server, and sends its fixes again after any other
    // answer.
    case .ownTracks where mistakes == 0: results = []
    case .traccar where mistakes == 0:
      return ServerResponse(200, "text/plain; charset=utf-8", [])
    default: break
    }
    let isAllBad = !results.isEmpty && mistakes == results.count
    let body = JSONValue.array(results).text
    return ServerResponse(isAllBad ? 400 : 200, MediaType.json, Array(body.utf8))
  }
}
