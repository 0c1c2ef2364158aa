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
  /// Whether the path ends with a slash behind its last part.
  public var endsWithSlash = false
  public var query: [Parameter]
  public var fields: HTTPFields
  public var body: [UInt8]

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
