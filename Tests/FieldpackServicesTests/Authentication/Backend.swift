import Fieldpack
import FieldpackCore
import FieldpackField
import FieldpackFieldTestSupport
import FieldpackTestSupport
import Foundation

@testable import FieldpackServices

/// A backend on this machine, a folder for tokens, and a clock, for tests of signing in.
final class Backend: Sendable {
  static let user = "me+you@example.org"
  /// Has what needs an escape in JSON, forms and addresses.
  static let password = "p\"&=+ %\u{e4}\\w"
  static let start = Instant("2026-06-01T12:00:00Z")!

  let folder: TemporaryFolder
  let time = TestClock(at: start)
  let server: LoopbackServer
  private let answers: Locked<[LoopbackServer.Reply]>

  /// - Parameter answers: to requests, in turn; the last one goes on.
  init(_ answers: LoopbackServer.Reply...) throws {
    folder = try TemporaryFolder()
    let left = Locked(answers)
    self.answers = left
    server = try LoopbackServer { _ in
      left.withLock { $0.count > 1 ? $0.removeFirst() : $0.first ?? .text(500, "") }
    }
  }

  /// What it answers from now on.
  func answer(_ replies: LoopbackServer.Reply...) { answers.withLock { $0 = replies } }

  func remote(_ method: RemoteConfig.Authentication = .server) -> RemoteConfig {
    RemoteConfig(uri: server.address, authentication: method)
  }

  var tokens: URL { folder.file("tokens") }

  func service(_ method: RemoteConfig.Authentication = .server) -> AuthenticationService {
    AuthenticationService(remote(method), clock: time.clock, folder: tokens.path)
  }

  func signedIn(
    _ method: RemoteConfig.Authentication = .server
  ) async throws -> AuthenticationService {
    let service = service(method)
    try await service.signIn(user: Self.user, password: Self.password)
    return service
  }

  /// The names of what is kept, hidden files as well.
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: tokens.path)) ?? []).sorted()
  }

  /// The one file that is kept.
  var file: URL { tokens.appendingPathComponent(names.first ?? "none") }

  static func token(_ token: String) -> LoopbackServer.Reply {
    .text(200, #"{"result":{"token":"\#(token)"},"error":null}"#)
  }

  /// An answer of an Exchange.
  static func oauth(
    _ token: String, refresh: String? = nil, seconds: Int? = nil
  ) -> LoopbackServer.Reply {
    var text = #"{"access_token":"\#(token)","token_type":"Bearer""#
    if let refresh { text += #","refresh_token":"\#(refresh)""# }
    if let seconds { text += #","expires_in":\#(seconds)"# }
    return .text(200, text + "}")
  }
}
