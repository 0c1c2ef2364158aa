import CCURL
package import FieldpackCore

/// An address taken apart by the library that also connects to it, so that both read it alike.
package struct HTTPAddress: Hashable, Sendable {
  let url: String
  package let scheme: String
  package let host: String
  package let port: String
  package let path: String

  /// - Parameter base: what `text` is relative to, where it may be relative.
  /// - Throws: `.invalidArgument` for what is no address, has another scheme than http and https, or
  ///   holds a user name.
  package init(
    _ text: String, relativeTo base: HTTPAddress? = nil
  ) throws(FieldpackError) {
    guard text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw FieldpackError(
        .invalidArgument,
        "the address has a blank, or a sign that is not ASCII. Try: encode it as %20")
    }
    guard let handle = curl_url() else {
      throw FieldpackError(.io, "there is no memory for an address")
    }
    defer { curl_url_cleanup(handle) }
    if let base { _ = curl_url_set(handle, CURLUPART_URL, base.url, 0) }
    guard curl_url_set(handle, CURLUPART_URL, text, 0) == CURLUE_OK,
      let scheme = Self.part(CURLUPART_SCHEME, of: handle),
      let host = Self.part(CURLUPART_HOST, of: handle),
      let whole = Self.part(CURLUPART_URL, of: handle)
    else { throw FieldpackError(.invalidArgument, "this is no absolute address of http or https") }
    guard scheme == "http" || scheme == "https" else {
      throw FieldpackError(.invalidArgument, "the scheme \(scheme) is not http or https")
    }
    guard Self.part(CURLUPART_USER, of: handle) == nil,
      Self.part(CURLUPART_PASSWORD, of: handle) == nil
    else {
      throw FieldpackError(
        .invalidArgument, "the address of \(host) holds a user name. Try: a field Authorization")
    }
    url = whole
    self.scheme = scheme
    self.host = host.lowercased()
    port = Self.part(CURLUPART_PORT, of: handle, UInt32(CURLU_DEFAULT_PORT)) ?? ""
    path = Self.part(CURLUPART_PATH, of: handle) ?? "/"
  }

  private static func part(
    _ part: CURLUPart, of handle: OpaquePointer, _ flags: UInt32 = 0
  ) -> String? {
    var text: UnsafeMutablePointer<CChar>?
    guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
    defer { curl_free(text) }
    return String(cString: text)
  }

  /// Scheme, host and port.
  package var origin: String { "\(scheme)://\(host):\(port)" }

  /// The origin as browsers write it: without the usual port of the scheme.
  package var webOrigin: String {
    port == (scheme == "https" ? "443" : "80") ? "\(scheme)://\(host)" : origin
  }

  package var isEncrypted: Bool { scheme == "https" }

  /// Whether the address is one of this machine: nobody else sees what is sent there. `localhost` is
  /// never looked up.
  package var isLoopback: Bool {
    if host == "localhost" || host == "[::1]" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  /// The address for messages: without its query, where keys stand.
  var shown: String { origin + path }

  /// Whether a redirect may lead from here to `other`: to the same server, or from http to https
  /// there.
  func leads(to other: HTTPAddress) -> Bool {
    guard host == other.host else { return false }
    if scheme == other.scheme { return port == other.port }
    return scheme == "http" && port == "80" && other.scheme == "https" && other.port == "443"
  }
}
