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
    // Whatever a server answers but that it has the capture, the capture is sent again.
    isWorthAnother = true
    error = node.flatMap { Self.refusal($0, of: token) }
    if node == nil {
      error = FieldpackError(.invalidData, "the server's answer is no JSON object")
    }
  }

  /// Why an answer does not say that the server has the capture; `nil` where it does.
  ///
  /// It does by the capture's token (StraboServer) or by `error_present` that is false (Toast).
  private static func refusal(_ node: JSONValue, of token: String) -> FieldpackError? {
    guard case .object = node else {
      return FieldpackError(.invalidData, "the server's answer is no JSON object")
    }
    // The text "true" is what servers send.
    if isTrue(node["error"]) || isTrue(node["error_present"]) {
      return FieldpackError(
        .unavailable, "the server refused it: \(message(node) ?? "without a reason")")
    }
    if let answered = node["token"] {
      return answered == .text(token)
        ? nil : FieldpackError(.invalidData, "the server answered for another capture")
    }
    if node["error_present"] == .boolean(false) || node["error_present"] == .text("false") {
      return nil
    }
    return FieldpackError(
      .invalidData, "the server's answer does not say that it has the capture")
  }

  private static func isTrue(_ node: JSONValue?) -> Bool {
    node == .text("true") || node == .boolean(true)
  }

  private static func message(_ node: JSONValue) -> String? {
    for name in ["message", "error_string"] {
      if case .text(let text)? = node[name], !text.isEmpty { return String(text.prefix(500)) }
    }
    if case .integer(let number)? = node["error_number"] { return "error \(number)" }
    return nil
  }
}
