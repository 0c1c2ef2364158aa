/// Whether somebody is signed in to a backend. The numbers are those that bridges exchange.
public enum AuthenticationStatus: Int, Hashable, Sendable, CaseIterable {
  case notAuthenticated = 0
  case authenticated = 1
  /// The backend refused who tried to sign in last.
  case failed = 2
}
