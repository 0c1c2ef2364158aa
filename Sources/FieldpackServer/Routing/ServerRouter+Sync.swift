import FieldpackCore
import FieldpackHTTP
import FieldpackServices

/// The receiver of synchronisations, at `/sync`.
extension ServerRouter {
  func synchronise(_ request: ServerRequest) async -> ServerResponse {
    let methods = request.path == ["sync", "edits"] ? ["GET", "HEAD", "POST"] : ["GET", "HEAD"]
    if let answer = answer(toMethodOf: request, taking: methods) { return answer }
    guard request.isSafe || isWritable else {
      return problem(ProblemDocument(403, "This server gives edits, and takes none."), request)
    }
    guard isOwn(request) else {
      return problem(ProblemDocument(403, "Pages of other sites may not ask this."), request)
    }
    let layer = request.text("layer").map { LayerID($0) }
    guard layer.map({ request.isSafe ? mayRead($0, request) : mayWrite($0, request) }) ?? true
    else {
      return problem(ProblemDocument(403, "This layer is not for this token."), request)
    }
    let response = await published.content.peer.respond(
      to: request.method == "HEAD" ? "GET" : request.method,
      path: "/" + request.path.joined(separator: "/"), query: request.query.text,
      body: request.body)
    let body = layer == nil ? readable(response.body, request) : response.body
    return ServerResponse(response.status, response.contentType, body)
  }

  /// The list of layers without those that the caller may not read.
  private func readable(_ list: [UInt8], _ request: ServerRequest) -> [UInt8] {
    guard let rights = request.caller.rights, !rights.readEverything,
      let document = try? JSONValueReader.read(String(decoding: list, as: UTF8.self)),
      case .array(let layers)? = document["layers"]
    else { return list }
    let shown = layers.filter { layer in
      layer["name"]?.string.map { mayRead(LayerID($0), request) } ?? false
    }
    return Array(JSONValue.members(["layers": .array(shown)]).text.utf8)
  }
}
