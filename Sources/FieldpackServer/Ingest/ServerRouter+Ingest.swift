import Fieldpack
import FieldpackCore
import FieldpackGeoPackage
import FieldpackHTTP

/// What devices bring: captures and motion.
extension ServerRouter {
  /// The longest body that a request may have, in bytes.
  func longestBody(of head: ServerRequest) -> Int {
    if head.isSafe { return 64 << 10 }
    guard head.method == "POST" || head.method == "PUT", mayIngest(head) else { return 16 << 20 }
    return switch head.path.first {
    case "upload", "uploads": ResumableUploads.longest
    case "motion": 1 << 20
    default: 16 << 20
    }
  }

  func receiver(of head: ServerRequest) -> (any BodyReceiving)? {
    guard let intake, let store = published.ownFile?.store, mayIngest(head), isOwn(head) else {
      return nil
    }
    switch (head.method, head.path.first, head.path.count) {
    case ("POST", "upload", 1):
      return UploadReceiver(head, folder: FileSystem.split(store.path).folder)
    case ("PUT", "uploads", 2): return intake.uploads.receiver(of: head)
    default: return nil
    }
  }

  func ingest(_ request: ServerRequest) async -> ServerResponse {
    let methods = Self.methods(of: request.path)
    guard !methods.isEmpty else {
      return problem(ProblemDocument(404, "There is no such address."), request)
    }
    if let answer = answer(toMethodOf: request, taking: methods) { return answer }
    if request.path[0] == "captures" {
      guard mayReadCaptures(request) else {
        return problem(ProblemDocument(403, "Captures are not for this token."), request)
      }
    } else if !mayIngest(request) {
      return problem(ProblemDocument(403, "This server takes no captures and no motion."), request)
    }
    do throws(FieldpackError) {
      switch request.path[0] {
      case "upload": return await upload(request)
      case "uploads": return try await resume(request.path[1], request)
      case "motion": return await move(request)
      default: return try await captures(Array(request.path.dropFirst()), request)
      }
    } catch {
      return problem(error, request, while: .resource)
    }
  }

  func mayReadCaptures(_ request: ServerRequest) -> Bool {
    mayRead(CaptureLayers.capture, request) && mayRead(CaptureLayers.media, request)
  }

  private static func methods(of path: [String]) -> [String] {
    switch (path[0], path.count) {
    case ("upload", 1), ("motion", 1): ["POST"]
    case ("uploads", 2): ["GET", "HEAD", "PUT", "DELETE"]
    case ("captures", 1...3): ["GET", "HEAD"]
    default: []
    }
  }
}
