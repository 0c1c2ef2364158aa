import FieldpackCore
import FieldpackHTTP
import FieldpackServices

/// The receiver of synchronisations, at `/sync`.
extension ServerRouter {
  func synchronise(_ request: ServerRequest) async -> ServerResponse {
    guard ["GET", "HEAD"].contains(request.method) || isWritable else {
      return problem(ProblemDocument(403, "This server gives edits, and takes none."), request)
    }
    guard isOwn(request.fields["Origin"], request) else {
      return problem(ProblemDocument(403, "Pages of other sites may not ask this."), request)
    }
    let response = await SyncService(of: file.store).respond(
      to: request.method == "HEAD" ? "GET" : request.method,
      path: "/" + request.path.joined(separator: "/"), query: request.query.text,
      body: request.body)
    return ServerResponse(response.status, response.contentType, response.body)
  }

  /// Whether a request comes from no page of another site. Browsers send the field with every request
  /// that a page of another site makes and that could change something.
  private func isOwn(_ origin: String?, _ request: ServerRequest) -> Bool {
    guard let origin else { return true }
    // An origin has no path, but the address of a server behind a proxy may have one.
    let own = base(of: request).text
    return own == origin || own.hasPrefix(origin + "/")
  }
}
