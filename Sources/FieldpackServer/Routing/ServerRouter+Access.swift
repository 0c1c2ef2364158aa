import FieldpackCore
import FieldpackField
import FieldpackHTTP

/// What the caller of a request may do.
extension ServerRouter {
  /// Whether clients may change the file, which nobody may where the file cannot be written.
  var isWritable: Bool { published.options.isWritable }

  /// Whether the caller may change a layer.
  ///
  /// - Parameter layer: `nil` for the file as a whole.
  func mayWrite(_ layer: LayerID?, _ request: ServerRequest) -> Bool {
    isWritable && (request.caller.rights?.mayWrite(layer) ?? true) && mayRead(layer, request)
  }

  /// Whether the caller may read a layer.
  ///
  /// - Parameter layer: `nil` for the file as a whole.
  func mayRead(_ layer: LayerID?, _ request: ServerRequest) -> Bool {
    guard let rights = request.caller.rights else { return true }
    guard rights.mayRead(layer) else { return false }
    // Shared layers hold rows about people among the rows of other layers.
    let isShared = layer.map { Self.shared.contains($0.rawValue.lowercased()) } ?? true
    return !isShared || rights.contains(.bio) || !published.hasBioLayers
  }

  /// The layer of media, and that of the values that lost a conflict of a synchronisation.
  private static let shared: Set<String> = [MediaLayer.id.rawValue, "conflict"]

  /// Whether the caller may send captures, motion and positions.
  func mayIngest(_ request: ServerRequest) -> Bool {
    isWritable && (request.caller.rights?.contains(.ingest) ?? true)
  }

  /// The documents without the layers that the caller may not read.
  func shown(_ documents: ServerDocuments, to request: ServerRequest) -> ServerDocuments {
    guard let rights = request.caller.rights, !rights.readEverything else { return documents }
    return documents.keeping { mayRead($0, request) }
  }

  /// Whether a request does not come from a page of a foreign site. Browsers send the field `Origin` with
  /// every request of such a page that could change something.
  func isOwn(_ request: ServerRequest) -> Bool {
    guard let origin = request.fields["Origin"] else { return true }
    if origins.contains(origin) { return true }
    // An origin has no path, but the address of a server behind a proxy may have one.
    let own = base(of: request).text
    return own == origin || own.hasPrefix(origin + "/")
  }
}

extension ServerRequest {
  /// Whether the method changes nothing (RFC 9110, 9.2.1).
  var isSafe: Bool { ["GET", "HEAD", "OPTIONS"].contains(method) }
}
