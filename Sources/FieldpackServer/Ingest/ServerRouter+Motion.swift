import Fieldpack
import FieldpackCore
import FieldpackHTTP

/// The receiver of devices that post motion, at `/motion`.
extension ServerRouter {
  func move(_ request: ServerRequest) async -> ServerResponse {
    guard Self.isJSON(request.fields["Content-Type"]) else {
      return problem(ProblemDocument(415, "Motion comes as application/json."), request)
    }
    do throws(FieldpackError) {
      let response = try await devices.motion.answer(request.body)
      return ServerResponse(
        response.status, "text/plain; charset=utf-8", Array(response.body.utf8))
    } catch {
      return problem(error, request, while: .body)
    }
  }

  private static func isJSON(_ type: String?) -> Bool {
    let name = type?.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
    return name?.lowercased() == MediaType.json
  }
}
