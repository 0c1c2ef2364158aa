import FieldpackHTTP

/// The methods that an address takes.
extension ServerRouter {
  /// The answer to `OPTIONS` and to a method that an address does not take; `nil` for those that it takes.
  func answer(toMethodOf request: ServerRequest, taking methods: [String]) -> ServerResponse? {
    let all = methods + ["OPTIONS"]
    if request.method == "OPTIONS" {
      return ServerResponse(200, fields: ["Allow": all.joined(separator: ", ")])
    }
    return methods.contains(request.method) ? nil : notAllowed(all, request)
  }

  func notAllowed(_ methods: [String], _ request: ServerRequest) -> ServerResponse {
    var response = problem(
      ProblemDocument(405, "This address does not take \(request.method)."), request)
    response.fields["Allow"] = methods.joined(separator: ", ")
    return response
  }
}
