package import FieldpackCore

/// What went wrong, for clients (RFC 9457).
///
///     {"type":"about:blank","title":"Not Found","status":404,"detail":"…","code":"notFound"}
///
/// It tells nothing of the machine: neither paths nor SQL.
package struct ProblemDocument: Hashable, Sendable {
  /// What the server was doing when an error came.
  package enum Activity: Hashable, Sendable, CaseIterable {
    /// Reading the parameters of a request, or answering what they ask for.
    case parameters
    /// Finding what a path names, and reading it.
    case resource
    /// Reading the body of a request, or storing it.
    case body
  }

  package var status: Int
  package var detail: String
  /// The name of the error's code, where there was one.
  package var code: String?

  package init(_ status: Int, _ detail: String) {
    self.status = status
    self.detail = detail
  }

  package init(_ error: FieldpackError, while activity: Activity) {
    status = Self.status(of: error.code, while: activity)
    code = error.code.name
    detail = Self.detail(of: error, status: status)
  }

  /// The HTTP status of an error.
  package static func status(
    of code: FieldpackError.Code, while activity: Activity
  ) -> Int {
    switch code {
    case .invalidArgument, .unsupported: 400
    // An unknown name in a condition or an order is a mistake of the request.
    case .notFound: activity == .resource ? 404 : 400
    // Stored data that cannot be read is no fault of who asks.
    case .invalidData: activity == .resource ? 500 : activity == .body ? 422 : 400
    case .constraint, .cannotCreate: 409
    case .permission, .readOnly: 403
    case .busy, .unavailable, .interrupted: 503
    case .full: 507
    default: 500
    }
  }

  package var json: JSONValue {
    .members([
      // The title is that of the status, which this type says.
      "type": "about:blank", "title": .text(Self.title(of: status)), "status": JSONValue(status),
      "detail": .text(detail), "code": code.map { .text($0) },
    ])
  }

  package var document: ServerDocuments.Document {
    var bytes: [UInt8] = []
    json.append(to: &bytes)
    return .init(contentType: MediaType.problem, bytes: bytes)
  }

  /// The same as a page.
  package func page(base: LinkBase) -> ServerDocuments.Document {
    let page = DocumentPage([], title: Self.title(of: status), json, base: base)
    return .init(contentType: MediaType.html, bytes: page.bytes)
  }

  // MARK: Texts

  /// Only mistakes of a request are told in the words of the error. Others are about this machine.
  private static func detail(of error: FieldpackError, status: Int) -> String {
    switch error.code {
    case .busy: return "The data are in use by another program. Ask again later."
    case .unavailable: return "What answers this is not to be reached now. Ask again later."
    case .interrupted: return "The request was stopped before its end."
    case .full: return "There is no room for what was sent."
    case .permission, .readOnly: return "This cannot be changed here."
    default: break
    }
    guard status < 500 else { return "The server could not answer this. Its log says why." }
    guard !mentionsMachine(error.message) else {
      return status == 404
        ? "There is no such thing here." : "The request cannot be answered as it is."
    }
    let message = DisplayText.cut(error.message, to: 2000)
    guard let position = error.position, position.file == nil else { return message }
    return "\(position): \(message)"
  }

  private static let statements = [
    "SELECT ", "INSERT ", "UPDATE ", "DELETE FROM", "CREATE ", "PRAGMA ", "ATTACH ", "SQL",
    "sqlite", "gpkg_", "rtree_",
  ]

  /// Whether a text may have a path of the machine or SQL in it.
  private static func mentionsMachine(_ text: String) -> Bool {
    if statements.contains(where: text.contains) || text.contains("file:") { return true }
    return text.split(whereSeparator: \.isWhitespace).contains { word in
      guard word.utf8.contains(UInt8(ascii: "/")) || word.utf8.contains(UInt8(ascii: "\\")) else {
        return false
      }
      // A place in CQL2 JSON, and the name of a reference system.
      return !word.hasPrefix("/args") && !word.contains("://www.opengis.net/")
    }
  }

  /// The phrase of RFC 9110.
  package static func title(of status: Int) -> String { titles[status] ?? "Error \(status)" }

  private static let titles = [
    400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found",
    405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict",
    411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large",
    414: "URI Too Long", 415: "Unsupported Media Type", 416: "Range Not Satisfiable",
    421: "Misdirected Request", 422: "Unprocessable Content", 428: "Precondition Required",
    429: "Too Many Requests", 431: "Request Header Fields Too Large",
    500: "Internal Server Error", 501: "Not Implemented", 503: "Service Unavailable",
    505: "HTTP Version Not Supported", 507: "Insufficient Storage",
  ]
}
