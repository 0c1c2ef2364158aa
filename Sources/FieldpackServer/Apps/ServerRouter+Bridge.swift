import FieldpackCore
import FieldpackHTTP
import FieldpackServices

/// The bridge: `/bridge/events` gives events, and `/bridge` takes messages, or is a WebSocket for both.
extension ServerRouter {
  /// Who asks the bridge: a page of a bundle by the bundle's key, or somebody without a page.
  private struct BridgeClient {
    var bundle: String?
    /// Pages of bundles have no origin, and read answers only where these fields let any page read them.
    var fields: HTTPFields
  }

  /// - Returns: `nil` for pages of other sites.
  private func client(_ request: ServerRequest, _ apps: AppHost) async -> BridgeClient? {
    if let key = request.text("key") {
      guard let bundle = await apps.bundles?.name(ofKey: key) else { return nil }
      return BridgeClient(
        bundle: bundle, fields: ["Access-Control-Allow-Origin": "*", "Cache-Control": "no-store"])
    }
    return isOwn(request) ? BridgeClient(fields: ["Cache-Control": "no-store"]) : nil
  }

  /// Whether a request is one to the bridge that shows the key of a bundle; the key is looked up later.
  func showsKey(_ request: ServerRequest) -> Bool {
    apps != nil && request.path == ["bridge"] && request.text("key") != nil
  }

  func bridge(_ request: ServerRequest, _ apps: AppHost) async -> ServerResponse {
    guard let client = await client(request, apps) else {
      return problem(ProblemDocument(403, "Pages of other sites may not ask this."), request)
    }
    var response: ServerResponse
    switch (request.path.dropFirst().first, request.method) {
    case ("events", "GET"):
      if let stream = await apps.listen(bundle: client.bundle, in: published.room) {
        response = ServerResponse(
          200, fields: ["Content-Type": "text/event-stream"], body: .stream(stream))
      } else {
        response = problem(ProblemDocument(503, "Too many pages listen already."), request)
      }
    case (nil, "GET") where WebSocketHandshake.isAsked(by: request):
      response = connect(request, apps)
    case (nil, "POST"): response = await take(request, client, apps)
    case (nil, "OPTIONS"):
      response = ServerResponse(
        204,
        fields: [
          "Allow": "POST, OPTIONS", "Access-Control-Allow-Methods": "POST",
          "Access-Control-Allow-Headers": "Content-Type",
        ])
    case (nil, "GET"), (nil, "HEAD"), ("events", "HEAD"):
      response = problem(
        ProblemDocument(404, "Messages are sent to /bridge, and events come from /bridge/events."),
        request)
    case (nil, _): response = notAllowed(["GET", "POST", "OPTIONS"], request)
    case ("events", _): response = notAllowed(["GET"], request)
    default: response = problem(ProblemDocument(404, "There is no such address."), request)
    }
    response.fields.fields += client.fields.fields
    return response
  }

  private func connect(_ request: ServerRequest, _ apps: AppHost) -> ServerResponse {
    guard let fields = WebSocketHandshake.answer(to: request) else {
      var response = problem(
        ProblemDocument(400, "The request opens no WebSocket of version 13."), request)
      response.fields["Sec-WebSocket-Version"] = "13"
      return response
    }
    guard let socket = apps.connect() else {
      return problem(ProblemDocument(503, "Too many pages listen already."), request)
    }
    return ServerResponse(101, fields: fields, body: .socket(socket))
  }

  private func take(
    _ request: ServerRequest, _ client: BridgeClient, _ apps: AppHost
  ) async -> ServerResponse {
    let messages = Self.messages(request.body)
    guard !messages.isEmpty else {
      return problem(ProblemDocument(400, "The body has no message."), request)
    }
    guard let id = request.text("session") else {
      return ServerResponse(
        200, fields: ["Content-Type": "application/x-ndjson"],
        body: .stream(apps.answer(messages, in: published.room)))
    }
    guard let session = apps.openSession(id, bundle: client.bundle) else {
      return problem(ProblemDocument(404, "There is no such session."), request)
    }
    for message in messages { await session.receive(message) }
    return ServerResponse(204)
  }

  /// A message, an array of messages, or a message a line.
  private static func messages(_ body: [UInt8]) -> [String] {
    let text = String(decoding: body, as: UTF8.self)
    if case .array(let messages)? = try? JSONValueReader.read(text) { return messages.map(\.text) }
    if (try? JSONValueReader.read(text)) != nil { return [text] }
    return text.split(whereSeparator: \.isNewline).map(String.init)
  }

  /// Answers for the addresses that old apps know; `nil` for others.
  func app(_ request: ServerRequest) async -> ServerResponse? {
    guard let apps else { return nil }
    let isOfApps =
      switch request.path.first {
      case "bridge", "bundles": true
      case "api": request.path.count > 1
      default: false
      }
    // Apps reach all stores of the config.
    let mayUseAll = mayRead(nil, request) && request.caller.rights?.mayWrite(nil) ?? true
    guard !isOfApps || mayUseAll else {
      return problem(
        ProblemDocument(403, "Apps need a token that may read and write everything."), request)
    }
    switch request.path.first {
    case "bridge": return await bridge(request, apps)
    case BridgeShim.name: return shim(request)
    case "bundles": return await bundles(request, apps)
    // The document `/api` is that of OGC API Features.
    case "api" where request.path.count > 1: return await oldServer(request, apps)
    default: return nil
    }
  }

  func shim(_ request: ServerRequest) -> ServerResponse {
    if let answer = answer(toMethodOf: request, taking: ["GET", "HEAD"]) { return answer }
    let bytes = Array(BridgeShim.script.utf8)
    let tag = PublishedStore.tag(of: bytes)
    let fields: HTTPFields = [
      "Content-Type": "text/javascript; charset=utf-8", "ETag": tag,
      // Scripts that are modules ask as other sites do.
      "Access-Control-Allow-Origin": "*",
    ]
    if Negotiation.has(tag, in: request.fields["If-None-Match"]) {
      return ServerResponse(304, fields: fields)
    }
    return ServerResponse(200, fields: fields, body: .bytes(bytes))
  }
}
