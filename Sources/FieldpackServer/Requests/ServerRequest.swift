import FieldpackCore
public import FieldpackHTTP

/// What a client asks of the server.
public struct ServerRequest: Sendable {
  /// One name and value of the query, without its escapes.
  public struct Parameter: Hashable, Sendable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// As it came, in upper case: "GET".
  public var method: String
  /// The parts of the path between its slashes, without their escapes.
  public var path: [String]
  public var query: [Parameter]
  public var fields: HTTPFields
  /// Empty where it was handed on while it came.
  public var body: [UInt8]
  /// What has taken the body; `nil` for a body in memory.
  var receiver: (any BodyReceiving)?
  /// Who asks, as far as the server has found out.
  var caller = Caller()

  struct Caller: Sendable {
    /// Of the client's machine, where it counts.
    var address = ""
    /// `nil` where nobody needs a token.
    var rights: [AccessRight]?
    var token: AccessToken?
    /// Whether the token counts as it did; for what goes on for long.
    var isStillAllowed: (@Sendable () -> Bool)?
  }

  public init(
    _ method: String, _ path: [String], query: [Parameter] = [], fields: HTTPFields = [:],
    body: [UInt8] = []
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.fields = fields
    self.body = body
  }
}

extension ServerRequest {
  /// The last value of a parameter.
  func last(_ parameter: QueryParameter) -> String? {
    query.last { $0.name == parameter.rawValue }?.value
  }
}

extension [ServerRequest.Parameter] {
  /// The query of an address, without the question mark.
  var text: String {
    map { "\(PercentText.encode($0.name))=\(PercentText.encode($0.value))" }.joined(separator: "&")
  }

  func leavingOut(_ parameters: QueryParameter...) -> Self {
    filter { given in !parameters.contains { $0.rawValue == given.name } }
  }
}
