public import FieldpackCore

/// Who is signed in to a backend, for those who ask it.
public protocol SignedIn: Sendable {
  /// The name that the user signed in with; `nil` where nobody is signed in, or needs to be.
  var user: String? { get async }

  /// The token for the next request, renewed where it ends soon; `nil` where the backend needs none.
  ///
  /// - Throws: `.permission` where nobody is signed in, `.unavailable` where the token cannot be renewed
  ///   now.
  func token() async throws(FieldpackError) -> String?
}
