import FieldpackCore
import FieldpackHTTP

/// What a server made of an upload.
struct UploadAnswer: Sendable {
  var status: Int?
  /// `nil` where it was taken.
  var error: FieldpackError?
  /// Whether the same may go well a little later.
  var isWorthAnother = false
  /// How long the server asks to wait before that.
  var asked: Duration?

  init(error: FieldpackError, isWorthAnother: Bool) {
    self.error = error
    self.isWorthAnother = isWorthAnother
  }

  /// - Parameter token: of the capture that was sent.
  init(_ response: HTTPResponse, token: String, at now: Instant) {
    status = response.status
    let node = response.body.withUnsafeBufferPointer { bytes in
      try? JSONValueReader.read(bytes, maximumDepth: 32)
    }
    guard response.isSuccess else {
      isWorthAnother = [408, 429].contains(response.status) || response.status >= 500
      asked = response.retryAfter(at: now)
      let said = node.flatMap(Self.message).map { ": \($0)" } ?? ""
      error = FieldpackError(
        .unavailable, "the server answered with the status \(response.status)\(said)")
      return
    }
    guard let node, case .object = node else {
      error = FieldpackError(.invalidData, "the server's answer is no JSON object")
      return
    }
    // The text "true" is what servers send.
    if node["error"] == .text("true") || node["error"] == .boolean(true) {
      error = FieldpackError(
        .unavailable, "the server refused it: \(Self.message(node) ?? "without a reason")")
    } else if let answered = node["token"], answered != .text(token) {
      error = FieldpackError(.invalidData, "the server answered for another capture")
    }
  }

  private static func message(_ node: JSONValue) -> String? {
    guard case .text(let text)? = node["message"] else { return nil }
    return String(text.prefix(500))
  }
}
