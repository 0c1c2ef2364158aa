import FieldpackCore

@testable import FieldpackServices

/// Somebody who is signed in with a token; each that is refused is followed by the next one.
final class SignedInFake: TokenRenewing {
  private let tokens: Locked<[String?]>
  private let failure: FieldpackError?

  init(_ tokens: String?..., failure: FieldpackError? = nil) {
    self.tokens = Locked(tokens)
    self.failure = failure
  }

  var user: String? { "me" }

  func token() async throws(FieldpackError) -> String? {
    if let failure { throw failure }
    return tokens.withLock { $0.first ?? nil }
  }

  func token(after refused: String) async throws(FieldpackError) -> String? {
    let next = tokens.withLock { tokens -> String?? in
      guard tokens.count > 1 else { return nil }
      tokens.removeFirst()
      return tokens[0]
    }
    guard let next else { throw FieldpackError(.permission, "there is no other token") }
    return next
  }
}

extension EditAnswer {
  /// The answer in a line, without where the feature is.
  var line: String {
    switch self {
    case .accepted(let id): "accepted \(id ?? "-")"
    case .refused(let error): "refused \(error.code): \(error.message)"
    case .later(let error): "later \(error.code): \(error.message)"
    }
  }

  var error: FieldpackError? {
    switch self {
    case .accepted: nil
    case .refused(let error), .later(let error): error
    }
  }
}
