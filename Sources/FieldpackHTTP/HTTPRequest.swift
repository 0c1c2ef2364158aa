import FieldpackCore

/// A request to a server.
public struct HTTPRequest: Hashable, Sendable {
  /// The method of a request, such as `GET`.
  public struct Method: RawRepresentable, Hashable, Sendable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let get = Method(rawValue: "GET")
    public static let head = Method(rawValue: "HEAD")
    public static let post = Method(rawValue: "POST")
    public static let put = Method(rawValue: "PUT")
    public static let delete = Method(rawValue: "DELETE")
  }

  /// The body of a request.
  public enum Body: Hashable, Sendable {
    case none
    case bytes([UInt8])
    /// A regular file, by its path; read while it is sent.
    case file(String)
    case multipart(MultipartForm)
  }

  public var method: Method
  /// An absolute address, http or https, in ASCII with percent encoding.
  public var url: String
  public var fields: HTTPFields
  public var body: Body
  /// The size of the largest body of a response that is accepted, in bytes.
  public var maximumLength: Int
  /// Whether redirects of `GET` and `HEAD` may lead to other servers, but never from https to http.
  ///
  /// No redirect leads from the internet into this machine or its own network (`127.0.0.1`,
  /// `192.168.0.0/16`, `169.254.169.254` …), whatever names stand there.
  /// Another server gets only fields that hold no secret: `Accept`, `Accept-Encoding`,
  /// `Accept-Language`, `Range`, and the conditions such as `If-None-Match`.
  public var followsToOtherServers = false

  public init(
    _ method: Method = .get, _ url: String, fields: HTTPFields = [:], body: Body = .none,
    maximumLength: Int = 16 << 20
  ) {
    self.method = method
    self.url = url
    self.fields = fields
    self.body = body
    self.maximumLength = maximumLength
  }

  func mayGo(from address: HTTPAddress, to other: HTTPAddress) -> Bool {
    followsToOtherServers && body == .none && (method == .get || method == .head)
      && (address.scheme == "http" || other.scheme == "https")
  }
}

/// The answer of a server.
public struct HTTPResponse: Hashable, Sendable {
  public var status: Int
  public var fields: HTTPFields
  public var body: [UInt8]
  /// The address that answered, which differs from the request's after a redirect.
  public var url: String

  /// Whether the status is one of success, 200 to 299.
  public var isSuccess: Bool { (200..<300).contains(status) }

  /// The media type of the body as the server states it, in lower case and without parameters.
  public var contentType: String? {
    fields["Content-Type"]?.split(separator: ";").first.map { $0.trimmedOfSpace.lowercased() }
  }
}
