import Fieldpack
import FieldpackCore
import FieldpackHTTP

/// Captures as the pages of Strabo's viewer load them: `/TOKEN/TOKEN.js`, and its media beside it.
extension ServerRouter {
  /// Whether a request is one of the viewer, which may ask where the captures are public.
  func isOfViewer(_ request: ServerRequest) -> Bool {
    hasPublicCaptures && mayReadCaptures(request) && request.path.count == 2
      && ["GET", "HEAD"].contains(request.method)
      && request.path[1].hasPrefix(request.path[0] + ".")
  }

  func viewed(_ request: ServerRequest) async -> ServerResponse {
    do throws(FieldpackError) {
      let catalogue = CaptureCatalogue(try published.store)
      let capture = try await catalogue.capture(request.path[0])
      guard capture.info.token == request.path[0] else {
        return problem(ProblemDocument(404, "There is no such capture."), request)
      }
      if request.path[1] == "\(capture.info.token).js" {
        return try await script(of: capture, in: catalogue, request)
      }
      let wanted = try await catalogue.files(of: capture).first { $0.name == request.path[1] }
      guard let wanted else {
        return problem(ProblemDocument(404, "The capture does not have that file."), request)
      }
      return try await media(wanted.role, of: capture, in: catalogue, request)
    } catch {
      guard error.code != .notFound else {
        return problem(ProblemDocument(404, "There is no such capture."), request)
      }
      return problem(error, request, while: .resource)
    }
  }

  /// What Strabo's viewer has its script call.
  private static let usualCallback = "S.currentRamble._processResponse"

  private func script(
    of capture: Capture, in catalogue: CaptureCatalogue, _ request: ServerRequest
  ) async throws(FieldpackError) -> ServerResponse {
    let callback = request.text("callback") ?? Self.usualCallback
    guard Self.isCallback(callback) else {
      return problem(ProblemDocument(400, "The callback is no name of a function."), request)
    }
    guard case .object(var members) = capture.info.document else {
      return problem(ProblemDocument(404, "There is no such capture."), request)
    }
    let points = try await catalogue.geodata(of: capture).points.map { point -> JSONValue in
      .members([
        "timestamp": .real(point.time),
        "coords": .array([.real(point.latitude), .real(point.longitude)]),
        // The viewer reads both forms.
        "latitude": .real(point.latitude), "longitude": .real(point.longitude),
        "accuracy": point.accuracy.map { .real($0) }, "heading": .real(point.heading ?? 0),
      ])
    }
    members.append(.init(name: "points", value: .array(points)))
    if !members.contains(where: { $0.name == "description" }) {
      members.append(.init(name: "description", value: ""))
    }
    // Both signs may stand in JSON, and end a line in older scripts.
    let json = JSONValue.object(members).text
      .replacing("\u{2028}", with: "\\u2028").replacing("\u{2029}", with: "\\u2029")
    // The comment keeps the callback's name from being the beginning of a file of another type.
    return ServerResponse(
      200, "text/javascript; charset=utf-8", Array("/**/\(callback)(\(json));\n".utf8))
  }

  /// Whether a text is names with dots between them, as scripts call functions.
  static func isCallback(_ text: String) -> Bool {
    guard (1...128).contains(text.utf8.count) else { return false }
    return text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { name in
      guard let first = name.utf8.first, !(0x30...0x39).contains(first) else { return false }
      return name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"):
          true
        default: false
        }
      }
    }
  }
}
