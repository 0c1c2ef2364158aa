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
    // The app takes a list of what the server wants to tell it, and sends again what was not answered so.
    case .ownTracks where mistakes == 0: results = []
    case .traccar where mistakes == 0:
      return ServerResponse(200, "text/plain; charset=utf-8", [])
    default: break
    }
    var bytes: [UInt8] = []
    JSONValue.array(results).append(to: &bytes)
    let isAllBad = !results.isEmpty && mistakes == results.count
    return ServerResponse(isAllBad ? 400 : 200, MediaType.json, bytes)
  }
}
