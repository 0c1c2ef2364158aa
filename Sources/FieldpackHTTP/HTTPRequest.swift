/// What a server is asked.
public struct HTTPRequest: Hashable, Sendable {
  /// What is to be done, such as `GET`.
  public struct Method: RawRepresentable, Hashable, Sendable {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }

    public static let get = Method(rawValue: "GET")
    public static let head = Method(rawValue: "HEAD")
    public static let post = Method(rawValue: "POST")
    public static let put = Method(rawValue: "PUT")
    public static let delete = Method(rawValue: "DELETE")
  }

  /// What is sent with it.
  public enum Body: Hashable, Sendable {
    case none
    case bytes([UInt8])
    /// A regular file, by its path; read while it is sent.
    case file(String)
    case multipart(MultipartForm)
  }

  public var method: Method
  /// Absolute, http or https, with what is no ASCII percent-encoded.
  public var url: String
  public var fields: HTTPFields
  public var body: Body
  /// The longest body of a response that is taken, in bytes.
  public var maximumLength: Int

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
}

/// What a server answers.
public struct HTTPResponse: Hashable, Sendable {
  public var status: Int
  public var fields: HTTPFields
  public var body: [UInt8]
  /// Where the answer is from: another address than the request's after a redirect.
  public var url: String

  /// Whether the status is one of success, 200 to 299.
  public var isSuccess: Bool { (200..<300).contains(status) }

  /// The type that the server says the body has, in small letters and without parameters.
  public var contentType: String? {
    fields["Content-Type"]?.split(separator: ";").first.map { HTTPSyntax.trimmed($0).lowercased() }
  }
}
