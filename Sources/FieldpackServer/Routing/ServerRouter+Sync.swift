import FieldpackCore
import FieldpackHTTP
import FieldpackServices

/// The receiver of synchronisations, at `/sync`.
extension ServerRouter {
  func synchronise(_ request: ServerRequest) async -> ServerResponse {
    guard ["GET", "HEAD"].contains(request.method) || isWritable else {
      return problem(
        ProblemDocument(403, "This server gives edits, and takes none."),
        request)
    }
    guard isOwn(request.fields["Origin"], request) else {
      return problem(ProblemDocument(403, "Pages of other sites may not ask this."), request)
    }
    let query = request.query.map {
      "\(PercentText.encode($0.name))=\(PercentText.encode($0.value))"
    }
    let response = await SyncService(of: file.store).respond(
      to: request.method == "HEAD" ? "GET" : request.method,
      path: "/" + request.path.joined(separator: "/"), query: query.joined(separator: "&"),
      body: request.body)
    return ServerResponse(response.status, response.contentType, response.body)
  }

  /// Whether a request comes from no page of another site. Browsers send the field with every request
  /// that a page of another site makes and that could change something.
  private func isOwn(_ origin: String?, _ request: ServerRequest) -> Bool {
    guard let origin else { return true }
    return LinkBase(origin).text == base(of: request).text
  }
}
