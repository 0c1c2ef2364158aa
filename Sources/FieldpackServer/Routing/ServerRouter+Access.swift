import FieldpackCore
import FieldpackHTTP

/// Who may do what.
extension ServerRouter {
  /// Whether whoever asks may change a layer.
  ///
  /// - Parameter layer: `nil` for the file as a whole.
  func mayWrite(_ layer: LayerID?, _ request: ServerRequest) -> Bool { isWritable }

  /// Whether whoever asks may bring captures and motion.
  func mayIngest(_ request: ServerRequest) -> Bool { isWritable }

  /// Whether a request comes from no page of another site. Browsers send the field with every request
  /// that a page of another site makes and that could change something.
  func isOwn(_ request: ServerRequest) -> Bool {
    guard let origin = request.fields["Origin"] else { return true }
    // An origin has no path, but the address of a server behind a proxy may have one.
    let own = base(of: request).text
    return own == origin || own.hasPrefix(origin + "/")
  }
}

extension ServerRequest {
  /// Whether the method changes nothing (RFC 9110, 9.2.1).
  var isSafe: Bool { ["GET", "HEAD", "OPTIONS"].contains(method) }
}
