import FieldpackCore
package import FieldpackHTTP

/// What a client asks of the server.
package struct ServerRequest: Sendable {
  /// One name and value of the query, without its escapes.
  package struct Parameter: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// As it came, in upper case: "GET".
  package var method: String
  /// The parts of the path between its slashes, without their escapes.
  package var path: [String]
  package var query: [Parameter]
  package var fields: HTTPFields
  /// Empty where ``receiver`` took the body while it came.
  package var body: [UInt8]
  /// Takes the body while it comes; `nil` for a body in memory.
  var receiver: (any BodyReceiving)?
  /// Who sends the request, as far as the server has found out.
  var caller = Caller()

  struct Caller: Sendable {
    /// The address of the client's machine; empty where the server has no need of it.
    var address = ""
    /// `nil` where nobody needs a token.
    var rights: [AccessRight]?
    var token: AccessToken?
    /// Whether the token still has the same rights, for answers that take long.
    var isStillAllowed: (@Sendable () -> Bool)?

    /// What tells callers apart: the name of the token, else the address; `nil` where neither is known.
    var name: String? { token?.name ?? (address.isEmpty ? nil : address) }
  }

  package init(
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
  func last(_ parameter: QueryParameter) -> String? { text(parameter.rawValue) }

  /// The last value of a parameter of that name.
  func text(_ name: String) -> String? { query.last { $0.name == name }?.value }

  /// The names and values of a body that is a form; `nil` where it has a broken escape.
  var form: [(name: String, value: String)]? {
    PercentText.decodePairs(String(decoding: body, as: UTF8.self)[...])
  }
}

extension [ServerRequest.Parameter] {
  /// The query of an address, without the question mark.
  var text: String {
    if isEmpty { return "" }
    return map { "\(PercentText.encode($0.name))=\(PercentText.encode($0.value))" }.joined(
      separator: "&")
  }

  func leavingOut(_ parameters: QueryParameter...) -> Self {
    if isEmpty { return self }
    return filter { given in !parameters.contains { $0.rawValue == given.name } }
  }
}
