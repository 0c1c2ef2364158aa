import Fieldpack
import FieldpackCore
import FieldpackServices

extension FieldpackTool {
  static let signInFamily = "Sign in to backends, and out."

  static var loginCommand: Command {
    Command(
      "login", abstract: "Sign in to the backend of a config.",
      discussion: """
        The password is asked for at the terminal, which does not show it, or is the first line of \
        the descriptor that --password-fd names. It is no argument, because other users see those. \
        What is kept is not the password, but the token that the backend gives for it: in a file \
        below $XDG_STATE_HOME/fieldpack/tokens that nobody else can read.
        """,
      examples: [
        "fieldpack login survey.scfg --user me@example.org",
        "fieldpack login survey.scfg --user me@example.org --password-fd 3 3<secret",
      ],
      family: signInFamily, body: LoginCommand.self)
  }

  static var logoutCommand: Command {
    Command(
      "logout", abstract: "Sign out of the backend of a config.",
      discussion: "Forgets the token, and removes its file. The backend is not asked.",
      examples: ["fieldpack logout survey.scfg"], family: signInFamily,
      body: LogoutCommand.self)
  }

  static var whoamiCommand: Command {
    Command(
      "whoami", abstract: "Show who is signed in to the backend of a config.",
      discussion: """
        The backend is not asked. The status is 1 where nobody is signed in, or the time of the \
        sign-in is over. A token of an Exchange is renewed when it is used, before its end.
        """,
      examples: ["fieldpack whoami survey.scfg", "fieldpack whoami survey.scfg --json"],
      family: signInFamily, body: WhoamiCommand.self)
  }
}

/// A config with a backend.
private struct BackendArguments: OptionGroup {
  @Required var config: String

  init(_ reader: inout OptionReader) {
    _config = reader.argument(
      .whole("config", completion: .source(["scfg"])),
      help: "A .scfg with a backend, or a folder of them.")
  }

  func service(allowsUnencrypted: Bool = false) throws(FieldpackError) -> AuthenticationService {
    let read = try WorkspaceConfig([config])
    if let remote = read.remote {
      return AuthenticationService(remote, allowsUnencrypted: allowsUnencrypted)
    }
    let hasErrors = read.diagnostics.contains { $0.severity == .error }
    throw FieldpackError(
      .configuration,
      "\(config) names no backend"
        + (hasErrors ? ". It has errors. Try: fieldpack info \(config)" : ""))
  }
}

extension OptionReader {
  /// Whether a backend on another machine may be asked without encryption.
  mutating func insecure() -> Bool {
    flag(
      "insecure",
      help: "Ask a backend on another machine by http, too, where others can read passwords.")
  }
}

/// `fieldpack login`.
private struct LoginCommand: CommandBody {
  struct Options: OptionGroup {
    let backend: BackendArguments
    let user: String?
    let descriptor: Int?
    let allowsUnencrypted: Bool

    init(_ reader: inout OptionReader) {
      backend = reader.group()
      user = reader.value("user", .text("name"), help: "The user; by default asked for.")
      descriptor = reader.value(
        "password-fd", .integer("n", in: 0...65_535),
        help: "Read the password from this open descriptor, in place of the terminal.")
      allowsUnencrypted = reader.insecure()
    }
  }

  let invocation: Invocation
  let options: Options

  func run() async throws(FieldpackError) -> Int32 {
    let service = try options.backend.service(allowsUnencrypted: options.allowsUnencrypted)
    let place = service.remote.uri
    if service.remote.authentication != .none {
      try service.checkEncryption()
      let user =
        if let user = options.user { user } else { try ask("User for \(place): ", for: "user") }
      try await service.signIn(user: user, password: try password(of: user, place))
    }
    try await invocation.print(service, of: options.backend) { user in
      user.map { "signed in to \(place) as \($0)" }
    }
    return ExitStatus.success
  }

  private func password(of user: String, _ place: String) throws(FieldpackError) -> String {
    if let descriptor = options.descriptor {
      return try TypedLine.readHidden(Int32(descriptor), "descriptor \(descriptor)")
    }
    return try ask("Password of \(user) for \(place): ", for: "password", isHidden: true)
  }

  private func ask(
    _ question: String, for what: String, isHidden: Bool = false
  ) throws(FieldpackError) -> String {
    if let answer = try TypedLine.ask(question, isHidden: isHidden) { return answer }
    let instead = isHidden ? "--password-fd 0 <FILE" : "--user NAME"
    throw FieldpackError(
      .invalidArgument, "there is no terminal to ask for the \(what) at. Try: \(instead)")
  }
}

/// `fieldpack logout`.
private struct LogoutCommand: CommandBody {
  let invocation: Invocation
  let options: BackendArguments

  func run() async throws(FieldpackError) -> Int32 {
    let service = try options.service()
    try await service.signOut()
    try await invocation.print(service, of: options) { _ in
      "signed out of \(service.remote.uri)"
    }
    return ExitStatus.success
  }
}

/// `fieldpack whoami`.
private struct WhoamiCommand: CommandBody {
  let invocation: Invocation
  let options: BackendArguments

  func run() async throws(FieldpackError) -> Int32 {
    let service = try options.service()
    try await service.start()
    let isSignedIn = await service.status == .authenticated
    try await invocation.print(service, of: options) { user in
      guard let user else { return nil }
      let place = service.remote.uri
      return isSignedIn
        ? "\(user) is signed in to \(place)" : "the sign-in of \(user) to \(place) is over"
    }
    return isSignedIn ? ExitStatus.success : ExitStatus.failure
  }
}

extension Invocation {
  /// Tells who is signed in.
  ///
  /// - Parameter line: the line for people; `nil` where there is no user.
  fileprivate func print(
    _ service: AuthenticationService, of backend: BackendArguments,
    line: (_ user: String?) -> String?
  ) async throws(FieldpackError) {
    let (remote, user) = (service.remote, await service.user)
    let (status, expiry) = (await service.status, await service.expiry)
    if isJSON {
      return try print([
        "source": .text(backend.config), "backend": .text(remote.uri),
        "method": .text(remote.authentication.word), "status": .text(status.word),
        "user": JSONValue(user), "expires_at": JSONValue(expiry?.description),
      ])
    }
    guard remote.authentication != .none else {
      return try print("nobody needs to sign in to \(DisplayText.visible(remote.uri))\n")
    }
    var text = line(user) ?? "nobody is signed in to \(remote.uri)"
    if let expiry {
      let isOver = expiry <= .now
      text +=
        isOver && status == .authenticated
        ? "; the token is renewed when it is used"
        : "; the token \(isOver ? "held" : "holds") until \(expiry)"
    }
    try print(DisplayText.visible(text) + "\n")
  }
}

extension RemoteConfig.Authentication {
  fileprivate var word: String {
    switch self {
    case .server: "server"
    case .exchange: "exchange"
    case .none: "none"
    }
  }
}

extension AuthenticationStatus {
  fileprivate var word: String {
    switch self {
    case .notAuthenticated: "not_authenticated"
    case .authenticated: "authenticated"
    case .failed: "failed"
    }
  }
}
