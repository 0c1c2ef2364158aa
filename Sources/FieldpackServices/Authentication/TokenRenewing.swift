package import FieldpackCore

/// Renews a token that still holds by its time, but that a server has refused.
package protocol TokenRenewing: SignedIn {
  /// Another token than the one that was refused; `nil` where the backend needs none.
  ///
  /// - Throws: `.permission` where there is no other, `.unavailable` where the backend cannot be asked.
  func token(after refused: String) async throws(FieldpackError) -> String?
}
