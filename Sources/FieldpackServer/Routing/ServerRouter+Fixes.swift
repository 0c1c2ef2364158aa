import FieldpackCore
import FieldpackHTTP

/// Positions of devices, at `/fixes`.
extension ServerRouter {
  func takeFixes(_ request: ServerRequest) async -> ServerResponse {
    if let answer = answer(toMethodOf: request, taking: ["POST"]) { return answer }
    guard mayIngest(request) else {
      return problem(ProblemDocument(403, "This server takes no positions."), request)
    }
    do throws(FieldpackError) {
      let body = try FixBody(request)
      return answer(body, try await fixes.take(body.entries.flatMap(\.fixes)))
    } catch {
      return problem(error, request, while: .body)
    }
  }

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
