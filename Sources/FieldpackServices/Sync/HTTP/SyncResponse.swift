import FieldpackCore

/// What a receiver answers to a request by HTTP.
public struct SyncResponse: Hashable, Sendable {
  public var status: Int
  public var contentType = "application/json"
  public var body: [UInt8]

  /// The sizes that both sides keep to, in bytes and edits.
  enum Limit {
    /// The largest body of a request.
    static let request = 16 << 20
    /// The largest answer that is read: one large edit, in a page that was not full before it.
    static let answer = 32 << 20
    /// A page or a batch ends with the edit that reaches this.
    static let page = 1 << 20
    static let edits = 10_000
    /// The longest UUID or identity.
    static let name = 255
  }
}

/// The status that an error is answered with, as its `underlying`, where its code does not tell.
struct SyncStatus: Error {
  let number: Int
}

extension SyncResponse {
  /// `{"error":{"code":…,"message":…}}`. What is wrong with the receiver itself is not told to others.
  init(_ error: FieldpackError) {
    status = (error.underlying as? SyncStatus)?.number ?? Self.status(of: error.code)
    let message = status < 500 ? error.message : "the receiver cannot do this now"
    let document: JSONValue = .object([
      .init(
        name: "error",
        value: .object([
          .init(name: "code", value: .text(error.code.name)),
          .init(name: "message", value: .text(message)),
        ]))
    ])
    body = SyncJSON.bytes(document)
  }

  private static func status(of code: FieldpackError.Code) -> Int {
    switch code {
    case .invalidArgument: 400
    case .notFound: 404
    case .constraint: 409
    case .invalidData, .unsupported: 422
    case .busy, .unavailable: 503
    default: 500
    }
  }

  /// The error that a receiver told, with its code; `nil` for a body that tells none.
  ///
  /// Codes of the receiver's own troubles count for nothing here.
  static func error(in body: [UInt8], of name: String) -> FieldpackError? {
    let codes: [FieldpackError.Code] = [
      .invalidArgument, .invalidData, .notFound, .constraint, .unsupported,
    ]
    guard let error = (try? SyncJSON.read(body))?["error"],
      let code = codes.first(where: { $0.name == error["code"]?.string }),
      let message = error["message"]?.string
    else { return nil }
    return FieldpackError(code, "\(name): \(message.prefix(1000))")
  }
}
