import FieldpackCore
import FieldpackHTTP
import FieldpackServices

/// The receiver of synchronisations, at `/sync`.
extension ServerRouter {
  func synchronise(_ request: ServerRequest) async -> ServerResponse {
    guard request.isSafe || mayWrite(nil, request) else {
      return problem(ProblemDocument(403, "This server gives edits, and takes none."), request)
    }
    guard isOwn(request) else {
      return problem(ProblemDocument(403, "Pages of other sites may not ask this."), request)
    }
    let response = await SyncService(of: file.store).respond(
      to: request.method == "HEAD" ? "GET" : request.method,
      path: "/" + request.path.joined(separator: "/"), query: request.query.text,
      body: request.body)
    return ServerResponse(response.status, response.contentType, response.body)
  }
}
